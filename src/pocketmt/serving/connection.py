"""Connections that are closed if their client has too many, or is slow to send a request or to take its answer."""

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any, Final

import httptools
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from pocketmt.serving.clients import network_of
from pocketmt.serving.joined_writes import JoinedWrites
from pocketmt.serving.proxies import TrustedProxies
from pocketmt.serving.settings import ServerSettings

MOST_HEAD_BYTES: Final = 16 << 10  # of the head of a request
SECONDS_TO_RETRY: Final = 5  # after a refusal
# What a connection says of its requests, in the state of their scope.
CROWDED: Final = "crowded"  # whether there are too many connections
FROM_PROXY: Final = "from_proxy"  # whether a trusted proxy sent it
_PARSED_BYTES: Final = 4 << 10  # at once
_LOOKS: Final = 8  # at a connection, in the shortest time that a client is given


class AddressLimit:
    """Counts the open connections of each address.

    Args:
        most: connections of one address.
        unlimited: may have any number.
    """

    def __init__(self, most: int, unlimited: TrustedProxies) -> None:
        self._most = most
        self._unlimited = unlimited
        self._open: Counter[str] = Counter()

    def enter(self, address: str) -> bool:
        """Count a connection; returns whether its address may have it."""
        name = network_of(address)
        self._open[name] += 1
        return self._open[name] <= self._most or address in self._unlimited

    def leave(self, address: str) -> None:
        """Take back what `enter` counted."""
        name = network_of(address)
        self._open[name] -= 1
        if not self._open[name]:
            del self._open[name]


def _refusal(status: HTTPStatus, message: str, headers: Sequence[tuple[bytes, bytes]]) -> bytes:
    """Return the last answer of a connection, to what is no request."""
    body = json.dumps({"error": message}).encode()
    own = (
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    )
    first = f"HTTP/1.1 {status.value} {status.phrase}".encode()
    return b"\r\n".join([first, *(b"%s: %s" % header for header in (*headers, *own)), b"", body])


class TimedConnection(HttpToolsProtocol):
    """A connection that is looked at now and then: as long as one request is in one phase, time counts.

    Phases are the head of a request, its body, an answer that waits for the client to read, and the end of a connection
    whose client still sends. Of a head that is too long no more is kept than what shows it. Requests before a wrong one
    are answered first.
    """

    receive_seconds: float
    send_seconds: float
    most_connections: int
    address_limit: AddressLimit
    proxies: TrustedProxies

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
        self._address = ""
        self._from_proxy = False
        self._refused = False
        self._refusal = ""  # to be sent when the requests before are answered
        self._in_head = True
        self._url_bytes = 0
        self._head_bytes = 0  # of names and values
        self._received = 0  # since the head began, without the bytes that were parsed together with its first

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to look at the connection, or refuse it."""
        super().connection_made(JoinedWrites(transport, self.loop, self._client_sends))
        self._address = str((transport.get_extra_info("peername") or ("",))[0])
        self._from_proxy = self._address in self.proxies
        if not self.address_limit.enter(self._address):
            self._refused = True
            message = "too many connections from your address: close some"
            headers = [*self.server_state.default_headers, (b"retry-after", str(SECONDS_TO_RETRY).encode())]
            transport.write(_refusal(HTTPStatus.TOO_MANY_REQUESTS, message, headers))
            transport.close()
            return
        self._since = self.loop.time()
        self._look()

    def data_received(self, data: bytes) -> None:
        """Take bytes of requests."""
        # The parser does not say where in the bytes a head begins.
        for start in range(0, len(data), _PARSED_BYTES):
            if self._refused or self.transport.is_closing():
                return
            part = data[start : start + _PARSED_BYTES]
            self._received += len(part)
            self._parse(part)
        # The parser keeps a name or value that does not end.
        if self._in_head and self._received > MOST_HEAD_BYTES and not self._refused:
            self.send_400_response("the head of the request is too long")

    def _parse(self, data: bytes) -> None:
        """Parse bytes of requests; the header Upgrade is ignored, as RFC 9110 (section 7.8) lets a server do."""
        self._unset_keepalive_if_required()
        while data:
            try:
                self.parser.feed_data(data)
                return
            except httptools.HttpParserUpgrade as upgrade:
                # A parser takes a request with this header for one without a body, so another reads the head again.
                data = self._head_without_upgrade() + data[upgrade.args[0] :]
                self.parser = httptools.HttpRequestParser(self)
                self.parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn does
            except httptools.HttpParserError:
                self.send_400_response("this is no valid request of HTTP/1")
                return

    def _head_without_upgrade(self) -> bytes:
        first = b"%s %s HTTP/%s" % (self.parser.get_method(), self.url, self.parser.get_http_version().encode())
        headers = [b"%s: %s" % (name, value) for name, value in self.headers if name != b"upgrade"]
        return b"\r\n".join([first, *headers, b"", b""])

    def send_400_response(self, msg: str) -> None:
        """Refuse what has arrived; what is wrong with a head waits until the requests before are answered."""
        self._refused = True
        if self._in_head and self.cycle is not None and not self.cycle.response_complete:
            self._refusal = msg
        else:
            self.transport.write(_refusal(HTTPStatus.BAD_REQUEST, msg, self.server_state.default_headers))
            self.transport.close()

    def on_response_complete(self) -> None:
        """Begin with the next request, or refuse it."""
        super().on_response_complete()
        if self._refusal and self.cycle.response_complete and not self.transport.is_closing():
            self.send_400_response(self._refusal)

    def on_message_begin(self) -> None:
        """Begin a head."""
        self._in_head = True
        self._url_bytes = self._head_bytes = self._received = 0
        super().on_message_begin()
        self.scope["state"][CROWDED] = len(self.connections) > self.most_connections
        self.scope["state"][FROM_PROXY] = self._from_proxy

    def on_url(self, url: bytes) -> None:
        """Take a part of the address."""
        self._url_bytes += len(url)
        if self._url_bytes <= MOST_HEAD_BYTES:
            super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header, unless those before were too long: then the request is refused."""
        if self._head_bytes <= MOST_HEAD_BYTES:
            super().on_header(name, value)
        self._head_bytes += len(name) + len(value)

    def on_headers_complete(self) -> None:
        """End a head."""
        upgrade = self.parser.should_upgrade()  # The parser says so of each CONNECT, too.
        readable = not upgrade or (self._head_bytes <= MOST_HEAD_BYTES and self.parser.get_method() != b"CONNECT")
        if self._url_bytes > MOST_HEAD_BYTES or not readable:
            self.url = b""  # A part of an address could be another one; an empty one is refused.
        elif upgrade:
            return  # The head is read again.
        super().on_headers_complete()
        self._in_head = False

    def on_message_complete(self) -> None:
        """End a request, unless its head is read again."""
        if not self.parser.should_upgrade():
            super().on_message_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop looking."""
        self.address_limit.leave(self._address)
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def _client_sends(self) -> bool:
        """Whether the client may be sending what nobody will read."""
        return self._refused or (self.cycle is not None and self.cycle.more_body)

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
        if self.transport.is_closing():
            return ("end", self.cycle), self.receive_seconds
        if self.pipeline:
            return ("work", self.cycle), 0.0  # The next request waits for the answer to this one.
        if self.cycle is None or self.cycle.response_complete:
            return ("head", self.cycle), self.receive_seconds
        if self.cycle.more_body:
            return ("body", self.cycle), self.receive_seconds
        return ("work", self.cycle), 0.0


def connection_class(settings: ServerSettings, proxies: TrustedProxies) -> type[TimedConnection]:
    """Return a class of connections with the limits of a server; trusted proxies may have any number of them."""
    limits = {
        "receive_seconds": settings.receive_seconds,
        "send_seconds": settings.send_seconds,
        "most_connections": settings.connections,
        "address_limit": AddressLimit(settings.connections_per_address, proxies),
        "proxies": proxies,
    }
    return type("TimedConnection", (TimedConnection,), limits)
