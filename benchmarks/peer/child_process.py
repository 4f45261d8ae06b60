"""The driver's end of a child process."""

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
# One thread of every library that counts its own.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


class Child:
    """A child process in an environment of its own; ends when closed."""

    def __init__(self, module: str, environment: Mapping[str, str], python: str = sys.executable) -> None:
        """Start `python -m module` on this process's own cores, with changes to its environment."""
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
        """Load a model; what the child says of it stands in `loaded`."""
        self.loaded = self.ask("load", model=model, options=dict(options))

    def ask(self, order: str, **details: Any) -> dict[str, Any]:
        """Send an order and return its answer; EngineError where the child has died of it."""
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            print(json.dumps({"order": order, **details}), file=self._process.stdin, flush=True)
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise EngineError(f"{self.module} ended while asked to {order}: what it wrote above says why")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """Let the child end, and wait for it."""
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
    """Return this process's environment with one thread a library, the checkout importable, and the changes.

    Another Python than this one has no PocketMT of its own: it takes the pure Python parts from `src`.
    """
    folders = [str(ROOT)] if python == sys.executable else [str(ROOT), str(ROOT / "src")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(folders), **ONE_THREAD, **changes}
