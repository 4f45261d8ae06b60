"""Requests that are sent together on one connection: all that came before a cut or wrong one are answered."""

import socket
import time
from contextlib import suppress

import pytest

from .conftest import RunningServer
from .test_connections import post_bytes

GET = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"
LAST = GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
# Longer than the head of a request may be.
POST = post_bytes({"q": "Two dogs.", "source": "en", "target": "de", "padding": "x" * 20_000})


def statuses(server: RunningServer, *parts: bytes) -> list[bytes]:
    """Send parts one after the other, and return the statuses of the answers until the server closes."""
    with socket.create_connection(server.place, timeout=30) as connection:
        for number, part in enumerate(parts):
            if number:
                time.sleep(0.15)  # The parts are read one after the other.
            connection.sendall(part)
        answers = b""
        with suppress(ConnectionResetError):  # The server has closed before it read everything.
            while part := connection.recv(1 << 16):
                answers += part
    return [answer[:3] for answer in answers.split(b"HTTP/1.1 ")[1:]]


@pytest.mark.parametrize("cut", [1, 10, len(LAST) - 1])
def test_a_head_is_not_as_long_as_what_came_with_its_beginning(server: RunningServer, cut: int) -> None:
    assert statuses(server, POST + LAST[:cut], LAST[cut:]) == [b"200"] * 2
    assert statuses(server, GET * 600 + LAST[:cut], LAST[cut:]) == [b"200"] * 601


@pytest.mark.parametrize("wrong", [b"GET / HTTP/1.1\r\nX: " + b"x" * 40_000, b"nonsense\r\n\r\n"])
@pytest.mark.parametrize("together", [True, False])
def test_requests_before_a_wrong_one_are_answered_first(server: RunningServer, wrong: bytes, together: bool) -> None:
    parts = (GET, POST, wrong)
    assert statuses(server, *([b"".join(parts)] if together else parts)) == [b"200", b"200", b"400"]


def test_a_wrong_body_is_refused_at_once(server: RunningServer) -> None:
    head = b"POST /translate HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert statuses(server, head + b"zz\r\n") == [b"400"]
