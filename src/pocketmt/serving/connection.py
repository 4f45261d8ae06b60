"""Connections that are closed if a client is slow to send a request, or to take its answer."""

import asyncio
from typing import Any, Final

from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

MOST_HEAD_BYTES: Final = 16 << 10  # of the head of a request
_LOOKS: Final = 8  # at a connection, in the shortest time that a client is given


class TimedConnection(H11Protocol):
    """A connection that is looked at now and then: as long as one request is in one phase, time counts.

    Phases are the head of a request, its body, and an answer that waits for the client to read.
    """

    receive_seconds: float
    send_seconds: float

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._phase: tuple[str, object] | None = None
        self._since = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to look at the connection."""
        super().connection_made(transport)
        self._since = self.loop.time()
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop looking."""
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def _look(self) -> None:
        phase, limit = self._current_phase()
        now = self.loop.time()
        if self._phase is None or phase[0] != self._phase[0] or phase[1] is not self._phase[1]:
            self._phase, self._since = phase, now
        elif limit and now - self._since > limit:
            self.transport.abort()
            return
        pause = min(self.receive_seconds, self.send_seconds) / _LOOKS
        self._timer = self.loop.call_later(pause, self._look)

    def _current_phase(self) -> tuple[tuple[str, object], float]:
        """Return the phase of a request, and how long it may last; 0: as long as it wants."""
        if self.transport.get_write_buffer_size():
            return ("answer", self.cycle), self.send_seconds
        if self.cycle is None or self.cycle.response_complete:
            return ("head", self.cycle), self.receive_seconds
        if self.cycle.more_body:
            return ("body", self.cycle), self.receive_seconds
        return ("work", self.cycle), 0.0


def connection_class(receive_seconds: float, send_seconds: float) -> type[TimedConnection]:
    """Return a class of connections with these times."""
    times = {"receive_seconds": receive_seconds, "send_seconds": send_seconds}
    return type("TimedConnection", (TimedConnection,), times)
