"""Hostile requests to a server: wrong bytes, fields and texts."""

import json
import random
import socket
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

PATHS: Final = (
    "/translate",
    "/detect",
    "/languages",
    "/",
    "/metrics",
    "/spec",
    "/suggest",
    "/%00",
    "/translate/../x",
    "*",
)
TEXTS: Final = (
    "A man rides a bike.", "", " ", "\x00", "\ud800", "\udfff\ud800", "e\u0301" * 500, "x" * 20_000,
    "\u202e\ufeff\u2028", "<b>" * 500, "<script>alert(1)</script>", "&lt;" * 300, "<b x='", "<!--", "]]>", "</" * 300,
    "<s></s><unk>", "▁a▁b", "{name} %s $(x) `rm`", "' OR 1=1 --", "../../etc/passwd", "😀" * 300, "א" * 200 + "a",
    "word " * 300, ". " * 500, "\r\n" * 300, "1" * 400, "http://" + "a" * 2000, ">>de<< a dog", "__proto__",
    "日本語。" * 100,
)  # fmt: skip
VALUES: Final[tuple[object, ...]] = (
    None, True, 0, -1, 1e308, 10**400, [], {}, [[]], ["a", 1], {"q": "a"}, "en", "de", "auto", "xx", "EN", "en-US",
    "text", "html", "HTML", "1", "\x00", "a" * 1000, [""], ["a"] * 50, float("nan"),
)  # fmt: skip
FIELDS: Final = ("q", "source", "target", "format", "alternatives", "alignment", "api_key", "__class__", "")
TYPES: Final = (
    "application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "multipart/form-data",
    "text/plain", "", "application/json; charset=utf-16", "application/xml",
    "multipart/form-data; boundary="     + "x" * 500,
)  # fmt: skip
HEADERS: Final = (
    b"Content-Length: 3", b"Content-Length: 0x10", b"Transfer-Encoding: chunked", b"Transfer-Encoding: gzip, chunked",
    b"Expect: 100-continue", b"Upgrade: websocket\r\nConnection: Upgrade", b"X-Forwarded-For: 1.2.3.4", b"Host:",
    b" folded", b"Content-Encoding: gzip", b"Range: bytes=0-", b"Cookie: " + b"a" * 5000, b"\x00: \x00",
    b"A" * 9000 + b": b",
)  # fmt: skip


def hostile_fields(seed: int, count: int) -> Iterator[dict[str, object]]:
    """Yield fields of requests to translate, most with something wrong."""
    generator = random.Random(seed)
    for _ in range(count):
        fields: dict[str, object] = {"q": generator.choice(TEXTS), "source": "en", "target": "de"}
        if generator.random() < 0.3:
            fields["q"] = [generator.choice(TEXTS) for _ in range(generator.randint(0, 5))]
        fields["format"] = generator.choice(("text", "html"))
        for _ in range(generator.choice((0, 0, 1, 2))):
            fields[generator.choice(FIELDS)] = generator.choice(VALUES)
        yield {name: value for name, value in fields.items() if value == value}


def hostile_requests(seed: int, count: int) -> Iterator[bytes]:
    """Yield the bytes of requests: wrong methods, heads, bodies and fields."""
    generator = random.Random(seed)
    for fields in hostile_fields(seed, count):
        body = json.dumps(fields).encode()
        if generator.random() < 0.3:
            body = _damaged(body, generator)
        method = generator.choice(("POST", "POST", "POST", "GET", "HEAD", "PUT", "OPTIONS", "x", "CONNECT"))
        path = generator.choice(PATHS) if generator.random() < 0.3 else "/translate"
        kind = generator.choice(TYPES) if generator.random() < 0.3 else TYPES[0]
        lines = [
            f"{method} {path} HTTP/1.1".encode(),
            b"Host: x",
            b"Connection: close",
            b"Content-Type: " + kind.encode(),
        ]
        if generator.random() < 0.3:
            lines.append(generator.choice(HEADERS))
        else:
            lines.append(b"Content-Length: %d" % len(body))
        request = b"\r\n".join(lines) + b"\r\n\r\n" + body
        yield _damaged(request, generator) if generator.random() < 0.2 else request


def _damaged(content: bytes, generator: random.Random) -> bytes:
    """Return bytes cut off, or with some changed, repeated or inserted."""
    place = generator.randrange(len(content) + 1)
    choice = generator.randrange(4)
    if choice == 0:
        return content[:place]
    if choice == 1:
        return content[:place] + generator.randbytes(8) + content[place + 8 :]
    if choice == 2:
        return content[:place] + content[place : place + 50] * 3 + content[place:]
    return content[:place] + b"[" * 5000 + content[place:]


def send_bytes(place: tuple[str, int], request: bytes, generator: random.Random) -> bytes:
    """Send a request in a few parts and end the connection's sending side now and then; returns the answer's start."""
    with suppress(OSError), socket.create_connection(place, timeout=0.3) as connection:
        cut = generator.randrange(len(request) + 1) if generator.random() < 0.2 else 0
        for part in (request[:cut], request[cut:]):
            connection.sendall(part)
        if generator.random() < 0.1:
            return b""  # The client leaves at once.
        return connection.recv(1 << 16)
    return b""
