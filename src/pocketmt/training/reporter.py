"""Reports on a run: a progress bar or plain lines on stderr, and a JSON line for each event in the log."""

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from pocketmt.atomic_file import atomic_write, naming
from pocketmt.progress import LogClock, duration

LOG_EVERY = 50  # Updates between two lines of the log.


class Reporter:
    """Reports the events of one run. Only the reporter of the first process is enabled."""

    def __init__(
        self, log: Path, maximum_updates: int, update: int, keep: Callable[[dict[str, Any]], bool], enabled: bool
    ) -> None:
        """Continue a log at an update.

        Args:
            log: file of the log, created if it is missing.
            maximum_updates: number of updates of the whole run, for the progress bar.
            update: number of updates that are done.
            keep: returns whether an event of the log is kept. A killed run may have logged updates after its last
                checkpoint, which are done again.
            enabled: whether anything is reported.
        """
        self.enabled = enabled
        self.offset = 0  # Number of updates before the first one that events count.
        self.labels: dict[str, Any] = {}  # Added to every event, such as the stage.
        if not enabled:
            return
        kept = [line for line, event in _events(log) if keep(event)]
        with atomic_write(log) as stream:
            stream.write("".join(kept).encode())
        self._path = log
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
        self._clock = LogClock()
        self._first, self._maximum = update, maximum_updates
        self._task = self._bar.add_task("training", total=maximum_updates, completed=update)
        self._bar.start()

    def event(self, kind: str, update: int, **values: Any) -> None:
        """Log an event, and print it on stderr unless it is an ordinary update."""
        if not self.enabled:
            return
        seconds = round(time.monotonic() - self._started, 2)
        with naming(self._path):
            self._log.write(
                json.dumps({"event": kind, "update": update, "seconds": seconds, **self.labels, **values}) + "\n"
            )
            self._log.flush()
        if kind != "train":
            shown = " ".join(f"{name}={_format(value)}" for name, value in (self.labels | values).items())
            self._bar.console.print(f"{kind} update={update} {shown}", highlight=False, soft_wrap=True)

    def advance(self, update: int, loss: float) -> None:
        """Advance the progress bar to an update, or print a line every few seconds if stderr is no terminal."""
        if self.enabled:
            if self._bar.disable and self._clock.due():
                self._print_progress(self.offset + update, loss)
            self._bar.update(self._task, completed=self.offset + update, description=f"training, loss {loss:.3f}")

    def _print_progress(self, update: int, loss: float) -> None:
        seconds = (time.monotonic() - self._started) / max(update - self._first, 1) * (self._maximum - update)
        left = f"at most {duration(seconds)} left"  # Training may stop earlier.
        print(f"training: update {update:,} of {self._maximum:,}, loss {loss:.3f}, {left}", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Stop the progress bar and close the log."""
        if self.enabled:
            self._bar.stop()
            self._log.close()


def _format(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _events(log: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the lines of a log that hold an event, with it; a killed run or a full disk may have damaged others."""
    if not log.exists():
        return
    for line in log.read_bytes().splitlines(keepends=True):
        with suppress(ValueError):
            event = json.loads(line)
            if line.endswith(b"\n") and isinstance(event, dict) and "update" in event:
                yield line.decode(), event
