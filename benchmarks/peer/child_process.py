"""Child processes, each with an engine."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pocketmt.errors import EngineError

ROOT = Path(__file__).resolve().parents[2]
# One thread for each library that uses threads.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


class Child:
    """A child process that runs an engine; it ends when closed."""

    def __init__(self, module: str, environment: Mapping[str, str], python: str = sys.executable) -> None:
        """Start `python -m module` on the cores of this process, with changes to its environment variables."""
        self.module = module
        self.loaded: dict[str, Any] = {}
        self._process = subprocess.Popen(
            [python, "-m", module],
            cwd=ROOT,
            env=child_environment(environment, python),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def load(self, model: str, options: Mapping[str, Any]) -> None:
        """Load a model; `loaded` is the answer of the child."""
        self.loaded = self.ask("load", model=model, options=dict(options))

    def ask(self, order: str, **details: Any) -> dict[str, Any]:
        """Send an order and return the answer; EngineError if the child process has ended."""
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            print(json.dumps({"order": order, **details}), file=self._process.stdin, flush=True)
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise EngineError(f"{self.module} ended while asked to {order}: see its messages above")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """End the child process and wait for it."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdout.close()
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is not None:
            self._process.kill()
        self.close()


def child_environment(changes: Mapping[str, str], python: str) -> dict[str, str]:
    """Return the environment of this process with the checkout importable, one thread for libraries, and the changes.

    Another Python than this one does not have PocketMT installed: it imports the pure Python parts from `src`.
    """
    folders = [str(ROOT)] if python == sys.executable else [str(ROOT), str(ROOT / "src")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(folders), **ONE_THREAD, **changes}
