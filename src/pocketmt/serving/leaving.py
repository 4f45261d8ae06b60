"""Clients that close their connection before the answer."""

import asyncio
from types import TracebackType
from typing import Final, Self

from starlette.requests import Request

SECONDS_BEFORE: Final = 0.02  # Most requests are answered within this time, and need not be watched.


class LeavingClient:
    """Cancels the task that enters this context once the client of a request has closed the connection.

    Attributes:
        left: whether that happened.
    """

    def __init__(self, request: Request) -> None:
        self.left = False
        self._request = request
        self._task: asyncio.Task[object] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def __enter__(self) -> Self:
        """Begin to watch the connection soon."""
        self._task = asyncio.current_task()
        self._timer = asyncio.get_running_loop().call_later(SECONDS_BEFORE, self._watch)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Watch no longer."""
        task, self._task = self._task, None
        if self._timer is not None:
            self._timer.cancel()
        if self._watching is not None:
            self._watching.cancel()
        if self.left and task is not None:
            task.uncancel()

    def _watch(self) -> None:
        self._watching = asyncio.get_running_loop().create_task(self._wait_until_left())

    async def _wait_until_left(self) -> None:
        while (await self._request.receive())["type"] != "http.disconnect":
            pass
        if self._task is not None:
            self.left = True
            self._task.cancel()
