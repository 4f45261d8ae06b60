"""Requests that ask for another protocol, which the server ignores."""

import json

import pytest

from .conftest import RunningServer
from .test_connections import post_bytes, send

UPGRADES = [
    b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQBAAAAAAUAAEAA\r\n",  # as Java's
    b"Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n",
    b"Upgrade: TLS/1.0\r\nConnection: close, upgrade\r\n",
]


@pytest.mark.parametrize("upgrade", UPGRADES)
@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("apart", [False, True])
def test_an_upgrade_is_ignored(server: RunningServer, upgrade: bytes, chunked: bool, apart: bool) -> None:
    head, _, body = post_bytes({"q": "Two dogs.", "source": "en", "target": "de"}, upgrade).partition(b"\r\n\r\n")
    if chunked:
        head = head.replace(b"Content-Length: %d" % len(body), b"Transfer-Encoding: chunked")
        body = b"5\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n" % (body[:5], len(body) - 5, body[5:])
    head += b"\r\n\r\n"
    following = b"" if b"close" in upgrade else b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    answers = send(server, *([head, body + following] if apart else [head + body + following]), pause=0.2 * apart)
    statuses, (first, *_) = answers.count(b"HTTP/1.1 200"), answers.split(b"HTTP/1.1 ")[1:]
    assert json.loads(first.partition(b"\r\n\r\n")[2]) == {"translatedText": "Zwei Hunde."}
    assert statuses == 1 + bool(following)


@pytest.mark.parametrize("apart", [False, True])
def test_a_body_of_a_request_with_an_upgrade_is_no_other_request(server: RunningServer, apart: bool) -> None:
    body = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"
    head = b"POST /translate HTTP/1.1\r\nHost: x\r\n" + UPGRADES[0] + b"Content-Length: %d\r\n\r\n" % len(body)
    last = b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    answers = send(server, *([head, body, last] if apart else [head + body + last]), pause=0.2 * apart)
    assert answers.count(b"HTTP/1.1 ") == 2 and b"is not JSON" in answers and b'{"status":"ok"}' in answers


def test_requests_with_upgrades_may_come_at_once(server: RunningServer) -> None:
    request = b"GET /health HTTP/1.1\r\nHost: x\r\n" + UPGRADES[0] + b"\r\n"
    last = b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    assert send(server, request * 100 + last).count(b'{"status":"ok"}') == 101


def test_a_long_head_with_an_upgrade_is_refused(server: RunningServer) -> None:
    body = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"
    head = b"POST /translate HTTP/1.1\r\nHost: x\r\n" + UPGRADES[0] + b"X: y\r\n" * 3_500
    answer = send(server, head + b"X: " + b"y" * 12_000 + b"\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    assert answer.startswith(b"HTTP/1.1 400") and answer.count(b"HTTP/1.1 ") == 1
