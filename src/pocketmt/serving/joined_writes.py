"""A transport that sends what is written at once in one call of the system, and closes when the client has read it."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any


class JoinedWrites(asyncio.Transport):
    """Sends what is written within one step of the event loop together.

    uvicorn writes the head and the body of an answer apart. Each call of the system would wake the client and the other
    threads, which costs more than the rest of a short request.

    Bytes of the client that arrive after a connection is closed make the system reset it, and the client may lose the
    answer. So a connection whose client still sends is closed in one direction until the client has closed the other.

    Args:
        transport: sends the bytes.
        loop: the event loop.
        client_sends: says whether the client may still be sending.
    """

    def __init__(
        self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop, client_sends: Callable[[], bool]
    ) -> None:
        super().__init__()
        self._transport = transport
        self._loop = loop
        self._client_sends = client_sends
        self._waiting: list[bytes] = []
        self._half_closed = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send bytes at the end of this step of the event loop."""
        if self._half_closed:
            return
        if not self._waiting:
            self._loop.call_soon(self._send)
        self._waiting.append(bytes(data))

    def _send(self) -> None:
        data, self._waiting = b"".join(self._waiting), []
        if data:
            self._transport.write(data)

    def close(self) -> None:
        """Close the connection after the bytes are sent; the caller drops what the client still sends."""
        self._send()
        if self._half_closed or not self._client_sends():
            self._transport.close()
            return
        self._half_closed = True
        with suppress(OSError):  # The client has gone.
            self._transport.write_eof()
        self._transport.resume_reading()

    def abort(self) -> None:
        """Close the connection now."""
        self._waiting = []
        self._transport.abort()

    def is_closing(self) -> bool:
        """Return whether the connection is closed, or will be."""
        return self._half_closed or self._transport.is_closing()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """Return what is known of the connection, such as its "peername"."""
        return self._transport.get_extra_info(name, default)

    def get_write_buffer_size(self) -> int:
        """Return the number of bytes that wait."""
        return self._transport.get_write_buffer_size() + sum(map(len, self._waiting))

    def pause_reading(self) -> None:
        """Take no more bytes."""
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Take bytes again."""
        self._transport.resume_reading()
