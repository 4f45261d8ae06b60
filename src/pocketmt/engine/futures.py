"""Translations in the background: futures that cancel queued and running work."""

from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TypeVar

from pocketmt.engine.checks import warning_here

Result = TypeVar("Result")


class TranslationFuture(Future[Result]):
    """A translation in the background.

    It is a `concurrent.futures.Future` that can be cancelled until it is done, also while it is running: the engine
    then stops within some milliseconds. It is never `running()`.
    """

    def __init__(self, cancel: Callable[[], None]) -> None:
        super().__init__()
        # The first callback: work ends before the callbacks of others run. They may cancel any future: no lock is held.
        self.add_done_callback(partial(_end_cancelled, cancel))


class BackgroundTranslations:
    """Runs translations in the order in which they are given, at most `threads` at once."""

    def __init__(self, threads: int) -> None:
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="pocketmt")

    def submit(self, work: Callable[[], Result], cancel: Callable[[], None]) -> TranslationFuture[Result]:
        """Queue work that `cancel`, called from any thread, makes end soon with an exception."""
        future = TranslationFuture[Result](cancel)
        self._executor.submit(_run, future, warning_here(work))
        return future


def _end_cancelled(cancel: Callable[[], None], future: Future[Result]) -> None:
    if future.cancelled():
        future.set_running_or_notify_cancel()
        cancel()


def _run(future: TranslationFuture[Result], work: Callable[[], Result]) -> None:
    if future.cancelled():
        return
    # A future that is cancelled meanwhile takes no result.
    try:
        result = work()
    except BaseException as error:  # It is raised where the result is taken.
        with suppress(InvalidStateError):
            future.set_exception(error)
    else:
        with suppress(InvalidStateError):
            future.set_result(result)
