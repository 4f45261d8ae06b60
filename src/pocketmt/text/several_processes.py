"""The results of a function on items, computed by several processes, in the order of the items."""

import multiprocessing
import signal
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable
from contextlib import suppress
from itertools import chain, islice
from typing import Any, Final, Generic, TypeVar

from pocketmt.cores import available_cores
from pocketmt.errors import DataError

T = TypeVar("T")
R = TypeVar("R")
# Elsewhere a fork is missing, or is not safe in a process with threads.
_CAN_FORK: Final = sys.platform == "linux"
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if _CAN_FORK else []))


def apply_in_processes(
    function: Callable[[T], R], items: Iterable[T], processes: int | None = None
) -> Generator[tuple[T, R], None, None]:
    """Yield each item with the result of a function on it, in the order of the items.

    The processes are forks of this one, so they share the memory that the function reads, such as a model. At most one
    item for each process is read ahead. A single item, or all items on systems other than Linux, are handled here.

    Args:
        function: need not be pickled, but its results are.
        items: are pickled.
        processes: how many at once; None: one for each core of this process.

    Raises what the function raises, and DataError if a process has been killed, e.g. because memory ran out.
    """
    remaining = iter(items)
    first = list(islice(remaining, 2))
    count = processes or available_cores()
    if count == 1 or len(first) < 2 or not _CAN_FORK:
        for item in chain(first, remaining):
            yield item, function(item)
        return
    waiting: deque[tuple[T, _Process[T, R]]] = deque()
    try:
        for item in chain(first, remaining):
            if len(waiting) < count:
                process = _Process(function)
                waiting.append((item, process))
                process.send(item)
                continue
            done, process = waiting[0]
            result = process.receive()
            process.send(item)  # It works while the result is used.
            waiting.popleft()
            waiting.append((item, process))
            yield done, result
        for done, process in waiting:
            yield done, process.receive()
    finally:
        for _, process in waiting:
            process.end()


class _Process(Generic[T, R]):
    """A fork of this process that applies a function to one item after the other."""

    def __init__(self, function: Callable[[T], R]) -> None:
        context = multiprocessing.get_context("fork")
        self._connection, theirs = context.Pipe()
        # It is a daemon, so that it ends with this process, whatever ends that.
        self._process = context.Process(target=_work, args=(function, theirs, self._connection), daemon=True)
        # A signal waits until the new process has handlers for it.
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        try:
            self._process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        theirs.close()

    def send(self, item: T) -> None:
        """Give it the next item."""
        with suppress(BrokenPipeError, ConnectionResetError):  # `receive` says that it has ended.
            self._connection.send(item)

    def receive(self) -> R:
        """Wait for the result of the item; raises what the function has raised."""
        try:
            result, error = self._connection.recv()
        except (EOFError, ConnectionResetError) as ended:
            self._process.join()
            raise DataError(
                f"a process of this command has ended with status {self._process.exitcode}: if memory ran out, run it "
                "again on fewer cores, for example after `taskset -c 0-3`"
            ) from ended
        if error is not None:
            raise error
        received: R = result
        return received

    def end(self) -> None:
        """End it, whatever it does."""
        self._connection.close()
        self._process.terminate()
        self._process.join()


def _work(function: Callable[[Any], Any], connection: Any, other_end: Any) -> None:
    """Answer items until there is no process that sends any."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all; the first process ends the others.
    for number in _SIGNALS[1:]:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    other_end.close()  # A read fails when the first process has ended only if no other one holds this end.
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            item = connection.recv()
            answer: tuple[Any, Exception | None]
            try:
                answer = function(item), None
            except Exception as error:
                answer = None, error
            connection.send(answer)
