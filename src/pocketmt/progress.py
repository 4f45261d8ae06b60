"""Progress of long work: the function told of it, and a line on stderr.

A terminal shows a bar in a line that is rewritten, a log a new line every few seconds.
"""

import sys
import time
from collections.abc import Callable
from typing import ClassVar, Final

Progress = Callable[[int, int], None]  # Called with the number that is done, and of all: lines, networks or others.

TERMINAL_SECONDS: Final = 0.2  # Least time between two updates of the line on a terminal.
LOG_SECONDS: Final = 5.0  # Least time between two lines in a log.
_CLEAR: Final = "\r\x1b[K"  # To the beginning of the line, and clear it.
_BAR: Final = 20  # Characters.


def no_progress(done: int, total: int) -> None:
    """Show nothing: the default of a `Progress`."""


class LogClock:
    """Tells when the next line of a log is due: after the beginning, and then after the last line."""

    def __init__(self, seconds: float = LOG_SECONDS) -> None:
        self._seconds = seconds
        self._last = time.monotonic()

    def due(self) -> bool:
        """Return whether a line is due, and count from now on if so."""
        now = time.monotonic()
        if now - self._last < self._seconds:
            return False
        self._last = now
        return True


class ProgressLine:
    """Shows the progress of pieces of work, one after the other.

    Args:
        verb: what has been done, such as "translated".
        unit: of the numbers, such as "lines".
    """

    _unfinished: ClassVar[bool] = False  # Whether a terminal shows a line, of any object, without a line feed.

    def __init__(self, verb: str, unit: str) -> None:
        self._verb = verb
        self._unit = unit
        self._terminal = sys.stderr.isatty()
        self._clock = LogClock(TERMINAL_SECONDS if self._terminal else LOG_SECONDS)
        self._start = time.monotonic()
        self._done = 0
        self._was_shown = False

    def update(self, done: int, total: int | None = None) -> None:
        """Show the number that is done, of a total if it is known; most calls show nothing.

        A smaller number than before begins the next piece of work. The end of one is shown if a line was shown before.
        """
        if done < self._done:
            self.close()
            self._start = time.monotonic()
        self._done = done
        finished = done == total
        if not self._clock.due() and not (finished and self._was_shown):
            return
        text = self._text(done, total, time.monotonic() - self._start)
        print(f"{_CLEAR}{text}" if self._terminal else text, end="" if self._terminal else "\n", file=sys.stderr)
        sys.stderr.flush()
        self._was_shown = True
        ProgressLine._unfinished = self._terminal
        if finished:
            self.close()

    def close(self) -> None:
        """End a piece of work, and its line on a terminal."""
        self.end_line()
        self._was_shown = False

    @staticmethod
    def end_line() -> None:
        """End the line on a terminal, if any object shows one, so that a message begins on a new one."""
        if ProgressLine._unfinished:
            print(file=sys.stderr)
        ProgressLine._unfinished = False

    def _text(self, done: int, total: int | None, seconds: float) -> str:
        if total is None:
            return f"{self._verb} {done:,} {self._unit}, {done / max(seconds, 1e-9):,.0f} per second"
        text = f"{self._verb} {done:,} of {total:,} {self._unit}"
        if self._terminal:
            text = f"[{'#' * (_BAR * done // max(total, 1)):{_BAR}}] {text}"
        return text if not 0 < done < total else f"{text}, {duration(seconds * (total - done) / done)} left"


def duration(seconds: float) -> str:
    """Return a length of time in words: 40 s, 3 min or 2 h 5 min."""
    minutes = round(seconds / 60)
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
