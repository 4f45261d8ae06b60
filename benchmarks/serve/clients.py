"""Clients of a server: each sends a request, waits for the answer and sends the next, on one connection."""

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class Measured:
    """What clients saw.

    Attributes:
        seconds: of each answered request.
        refused: number of answers that were no translations.
        elapsed: seconds from the first request to the last answer.
        answers: (text, translation) of answered requests, if they are kept.
    """

    seconds: list[float] = field(default_factory=list)
    refused: int = 0
    elapsed: float = 0.0
    answers: list[tuple[str, str]] = field(default_factory=list)


def request_bytes(path: str, body: dict[str, object] | bytes, kind: str = "application/json") -> bytes:
    """Return the bytes of a request.

    Args:
        path: of the address.
        body: fields, which are sent as JSON, or bytes of another type.
        kind: type of the body.
    """
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: {kind}\r\nContent-Length: {len(content)}\r\n\r\n"
    return head.encode() + content


async def read_answer(reader: asyncio.StreamReader) -> tuple[int, str, bytes]:
    """Return the status, the head in lower case, and the body of the next answer; raises OSError and EOFError."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    lines = head.split("\r\n")
    length = next(int(line.partition(":")[2]) for line in lines if line.startswith("content-length:"))
    return int(lines[0].split()[1]), head, await reader.readexactly(length)


async def post(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, fields: dict[str, object]
) -> tuple[int, dict[str, object]]:
    """Send a request to translate, and return the status and the answer; raises OSError and EOFError."""
    writer.write(request_bytes("/translate", fields))
    await writer.drain()
    status, _, body = await read_answer(reader)
    return status, json.loads(body)


async def measure_clients(
    place: tuple[str, int], texts: Sequence[str], clients: int, seconds: float, keep: bool = False
) -> Measured:
    """Return what clients saw within a time; each sends other texts in turn.

    Args:
        place: host and port of the server.
        texts: to translate, one in each request.
        clients: how many there are at the same time.
        seconds: after which no further requests are sent.
        keep: whether answers are kept.
    """
    measured = Measured()
    start = time.perf_counter()

    async def run(number: int) -> None:
        reader, writer = await asyncio.open_connection(*place, limit=1 << 24)
        position = number
        while time.perf_counter() - start < seconds:
            text = texts[position % len(texts)]
            position += clients
            sent = time.perf_counter()
            status, answer = await post(reader, writer, {"q": text, "source": "en", "target": "de", "format": "text"})
            if status == 200:
                measured.seconds.append(time.perf_counter() - sent)
                if keep:
                    measured.answers.append((text, str(answer["translatedText"])))
            else:
                measured.refused += 1
                await asyncio.sleep(0.1)
        writer.close()

    await asyncio.gather(*map(run, range(clients)))
    measured.elapsed = time.perf_counter() - start
    return measured
