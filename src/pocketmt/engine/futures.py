"""Translations in the background: futures that cancel queued and running work."""

from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError, ThreadPoolExecutor
from contextlib import suppress
from threading import Lock
from typing import TypeVar

Result = TypeVar("Result")


class TranslationFuture(Future[Result]):
    """A translation in the background.

    It is a `concurrent.futures.Future` that can be cancelled until it is done, also while it is running: the engine
    then stops within some milliseconds. It is never `running()`.
    """

    def __init__(self, cancel: Callable[[], None]) -> None:
        super().__init__()
        self._cancel_work = cancel
        self._cancelling = Lock()

    def cancel(self) -> bool:
        """Cancel the translation, queued or running; returns False if it is already done."""
        with self._cancelling:
            if self.cancelled():
                return True
            if not super().cancel():
                return False
            self.set_running_or_notify_cancel()
        self._cancel_work()
        return True


class BackgroundTranslations:
    """Runs translations in the order in which they are given, at most `threads` at once."""

    def __init__(self, threads: int) -> None:
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="pocketmt")

    def submit(self, work: Callable[[], Result], cancel: Callable[[], None]) -> TranslationFuture[Result]:
        """Queue work that `cancel`, called from any thread, makes end soon with an exception."""
        future = TranslationFuture[Result](cancel)
        self._executor.submit(_run, future, work)
        return future


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
