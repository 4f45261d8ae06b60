"""Translations in the background that coroutines wait for."""

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar

from pocketmt.engine.checks import warning_here
from pocketmt.engine.futures import TranslationFuture

Result = TypeVar("Result")


async def result_of(submit: Callable[[], TranslationFuture[Result]]) -> Result:
    """Return the result of the translation that `submit` starts.

    It is called in another thread, as the pieces of many lines take long to find. A task that is cancelled cancels the
    translation, also one that has not been started yet.
    """
    submission = _Submission(submit)
    try:
        future = await asyncio.get_running_loop().run_in_executor(None, warning_here(submission.run))
    except asyncio.CancelledError:
        submission.cancel()
        raise
    return await asyncio.wrap_future(future)


class _Submission(Generic[Result]):
    """A translation that one thread starts and another may cancel, also before it has been started."""

    def __init__(self, submit: Callable[[], TranslationFuture[Result]]) -> None:
        self._submit = submit
        self._future: TranslationFuture[Result] | None = None
        self._cancelled = False

    def run(self) -> TranslationFuture[Result]:
        self._future = future = self._submit()
        if self._cancelled:
            future.cancel()
        return future

    def cancel(self) -> None:
        self._cancelled = True  # Before the look at the future: so one of the threads cancels it.
        if self._future is not None:
            self._future.cancel()
