"""The process of the command `pocketmt`: its signals are handled before anything else is imported, which takes time."""

import atexit
import gc
import os
import signal
import sys
import threading
from contextlib import suppress
from types import FrameType
from typing import Final, NoReturn

# Python's default of 700 new objects makes it look for cycles dozens of times while modules are imported.
OBJECTS_BEFORE_COLLECTION: Final = 50_000
# These end their threads and processes when Python ends.
NEEDS_ORDERLY_END: Final = ("multiprocessing", "ray", "torch")


def _end_at_once(number: int, frame: FrameType | None) -> None:
    """End the process with the status that shells report for the signal; an exception would show a traceback."""
    if number == signal.SIGINT:
        with suppress(OSError):  # The caller may have closed stderr.
            os.write(2, b"interrupted\n")
    os._exit(128 + number)


# A signal that the caller has told this process to ignore stays ignored. SIGHUP: the terminal was closed.
_HANDLED = [
    number
    for number, default in (
        (signal.SIGINT, signal.default_int_handler),
        (signal.SIGTERM, signal.SIG_DFL),
        *([(signal.SIGHUP, signal.SIG_DFL)] if sys.platform != "win32" else []),
    )
    if signal.getsignal(number) == default
]
for _number in _HANDLED:
    signal.signal(_number, _end_at_once)


def main() -> None:
    """Run the command line of this process and exit.

    The exit status is 0 after success, 1 after an error, 2 after wrong usage, and 128 more than the number of a signal:
    130 after Ctrl-C, 143 after SIGTERM, 129 after SIGHUP. None of them leaves unfinished files behind.
    """
    if sys.stderr is None:  # The caller closed it: messages for it would be written to stdout.
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  # It stays open until the process ends.
    gc.set_threshold(OBJECTS_BEFORE_COLLECTION)
    from pocketmt.cli.main import run

    for number in _HANDLED:
        signal.signal(number, _raise)
    status = run(sys.argv[1:])
    for number in _HANDLED:  # There is nothing left to undo.
        signal.signal(number, _end_at_once)
    _end(status)


def _end(status: int) -> NoReturn:
    """End the process with a status.

    Python frees every module and object first, which a user of a short translation notices. The system does that faster
    where nothing else needs to be ended.
    """
    if threading.active_count() == 1 and sys.modules.keys().isdisjoint(NEEDS_ORDERLY_END):
        atexit._run_exitfuncs()
        with suppress(OSError, ValueError):  # A closed or full output: Python reports it below.
            for stream in (sys.stdout, sys.stderr):
                if stream is not None:
                    stream.flush()
            os._exit(status)
    sys.exit(status)


def _raise(number: int, frame: FrameType | None) -> None:
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    sys.exit(128 + number)
