"""A call on another thread while a block runs."""

from collections.abc import Callable
from threading import Thread
from types import TracebackType
from typing import Generic, Self, TypeVar

Result = TypeVar("Result")


class BackgroundCall(Thread, Generic[Result]):
    """A call on another thread while the block of a `with` statement runs.

    The block ends when the call has. An error of the call is raised at the end of the block, and replaces any error of
    the block, which may be a consequence. A block that is interrupted does not wait.
    """

    def __init__(self, name: str, call: Callable[[], Result]) -> None:
        super().__init__(name=f"pocketmt-{name}", daemon=True)
        self._call = call
        self._outcome: tuple[Result] | Exception

    def run(self) -> None:
        """Make the call, on the thread."""
        try:
            self._outcome = (self._call(),)
        except Exception as error:  # The thread that waits raises it.
            self._outcome = error

    def result(self) -> Result:
        """Return the result of the call when it has ended; raises its error."""
        self.join()
        if isinstance(self._outcome, Exception):
            raise self._outcome
        return self._outcome[0]

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None or issubclass(kind, Exception):  # Not KeyboardInterrupt or SystemExit.
            self.result()
