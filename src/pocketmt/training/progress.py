"""What a run says while it goes on: a bar or plain lines on stderr, and a JSON line an event in its log file."""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from pocketmt.whole_file import write_whole

LOG_EVERY = 50  # updates


class Reporter:
    """Events of one run. Silent where `enabled` is false (all processes but the first)."""

    def __init__(
        self, log: Path, maximum_updates: int, update: int, keep: Callable[[dict[str, Any]], bool], enabled: bool
    ) -> None:
        """Go on at `update` with the log's events that `keep` keeps; a killed run has logged what is not done yet."""
        self.enabled = enabled
        self.offset = 0  # updates that were done before those that events count
        if not enabled:
            return
        kept = [line for line in _lines(log) if keep(json.loads(line))]
        with write_whole(log) as stream:
            stream.write("".join(kept).encode())
        self._log = log.open("a", encoding="utf-8")
        self._started = time.monotonic()
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            disable=not sys.stderr.isatty(),
        )
        self._task = self._bar.add_task("training", total=maximum_updates, completed=update)
        self._bar.start()

    def event(self, kind: str, update: int, **values: Any) -> None:
        """Log an event; a validation is also shown where there is no bar."""
        if not self.enabled:
            return
        seconds = round(time.monotonic() - self._started, 2)
        self._log.write(json.dumps({"event": kind, "update": update, "seconds": seconds, **values}) + "\n")
        self._log.flush()
        if kind != "train":
            shown = " ".join(f"{name}={_shown(value)}" for name, value in values.items())
            self._bar.console.print(f"{kind} update={update} {shown}", highlight=False, soft_wrap=True)

    def advance(self, update: int, loss: float) -> None:
        """Move the bar."""
        if self.enabled:
            self._bar.update(self._task, completed=self.offset + update, description=f"training, loss {loss:.3f}")

    def close(self) -> None:
        """Stop the bar and close the log."""
        if self.enabled:
            self._bar.stop()
            self._log.close()


def _shown(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _lines(log: Path) -> list[str]:
    """Whole lines of a log: a killed run may have left half a line."""
    if not log.exists():
        return []
    return [line for line in log.read_text(encoding="utf-8").splitlines(keepends=True) if line.endswith("\n")]
