"""Clients of mixed load: proper ones, whose answers are judged, and those that vanish, stop, stall or attack."""

import asyncio
import json
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from benchmarks.serve.clients import read_answer, request_bytes
from benchmarks.serve.mixed_texts import Judge, Text
from benchmarks.serve.model_changes import ModelChanges
from benchmarks.serve.supervised import Clock, SupervisedServer

CONNECTIONS_OF_BURST: Final = 8
SECONDS_TO_CUT_OFF: Final = 20.0  # after which the server ends a request that stalls
_PATIENCE: Final = 90.0  # seconds; the server's own deadline is 60
_PAGE_FILES: Final = ("/", "/page.js", "/languages", "/frontend/settings", "/health")
_BOUNDARY: Final = "boundary-of-form"


@dataclass
class Seen:
    """What clients of one kind saw.

    Attributes:
        counts: of requests, by their end.
        seconds: of each answered request.
        unexpected: the first few statuses and ends that should not be, for the reader of the record.
    """

    counts: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    unexpected: list[str] = field(default_factory=list)

    def note(self, what: str) -> None:
        """Remember something that should not be."""
        self.counts["unexpected"] += 1
        if len(self.unexpected) < 5:
            self.unexpected.append(what[:200])


class Ended(Exception):
    """A request without an answer, whose end was counted already."""


@dataclass
class Client:
    """One client with its key, that sends again and again after random pauses.

    Attributes:
        pause: mean seconds between requests.
        may_be_refused: whether it sends more than the queue takes of one client.
    """

    server: SupervisedServer
    clock: Clock
    judge: Judge
    changes: ModelChanges
    seen: Seen
    key: str
    texts: Sequence[Text]
    pause: float
    generator: random.Random
    may_be_refused: bool = False

    async def run(self, send: Callable[["Client"], Awaitable[None]]) -> None:
        """Send requests until this is cancelled."""
        while True:
            await asyncio.sleep(self.generator.expovariate(1 / self.pause))
            while not self.server.ready:
                await asyncio.sleep(0.1)
            life, stops = len(self.server.lives), self.clock.stops
            self.seen.counts["sent"] += 1
            try:
                await send(self)
            except Ended:
                pass
            except (OSError, EOFError, ValueError, TimeoutError) as error:
                self.clock.now()
                if self.clock.stops != stops:
                    self.seen.counts["stopped"] += 1
                elif not self.server.ready or len(self.server.lives) != life:
                    self.seen.counts["killed"] += 1
                else:
                    self.seen.note(f"{type(error).__name__}: {error}")

    def fields(self, text: Text, **others: object) -> dict[str, object]:
        """Return the fields of a request."""
        return {"q": text.q, "source": "en", "target": "de", "api_key": self.key} | others

    async def ask(self, request: bytes, delay: float = 0.0) -> tuple[int, str, bytes]:
        """Send a request on a new connection; returns status, head and body of the answer.

        Args:
            request: to send.
            delay: seconds until the answer is read.

        Raises Ended if this process was stopped meanwhile.
        """
        stops, sent = self.clock.stops, self.clock.now()
        reader, writer = await asyncio.open_connection(*self.server.place, limit=1 << 24)
        try:
            async with asyncio.timeout(_PATIENCE + delay):
                writer.write(request)
                await writer.drain()
                await asyncio.sleep(delay)
                answer = await read_answer(reader)
        finally:
            writer.close()
        seconds = self.clock.now() - sent
        if self.clock.stops != stops:
            self.seen.counts["stopped"] += 1
            raise Ended
        self.seen.seconds.append(seconds - delay)
        return answer

    async def translate(self, text: Text, delay: float = 0.0, **others: object) -> None:
        """Send a text, and judge the answer."""
        sent = self.clock.now()
        markup = str(text.q).startswith("<script>")
        fields = self.fields(text, format="html" if markup else "text", **others)
        status, head, body = await self.ask(request_bytes("/translate", fields), delay)
        if status == 200:
            self.count_answer(text, json.loads(body)["translatedText"], sent)
        else:
            self.refused(status, head, body, sent)

    def count_answer(self, text: Text, answer: object, sent: float) -> None:
        """Count an answer by whether it is right, and by a model whose file was there."""
        verdict, models = self.judge.judge(text, answer)
        possible = self.changes.possible(sent, self.clock.now())
        if verdict == "right" and not models & possible:
            verdict = "late"  # by the model before a replacement that was long ago
        if verdict == "mixed" and len(possible) < 2:
            verdict = "wrong"
        self.seen.counts[verdict] += 1
        if verdict not in ("right", "mixed"):
            self.seen.note(f"{verdict}: {str(answer)[:80]}")

    def refused(self, status: int, head: str, body: bytes, sent: float) -> None:
        """Count a refusal; only some are right."""
        if status == 429 and "retry-after:" in head and self.may_be_refused:
            self.seen.counts["refused"] += 1
        elif status == 503 and self.changes.was_half(sent, self.clock.now()):
            self.seen.counts["no_model"] += 1
        else:
            self.seen.note(f"status {status}: {body[:100].decode('utf-8', 'replace')}")


async def proper(client: Client) -> None:
    """Send a text, and wait for its translation."""
    await client.translate(client.generator.choice(client.texts))


async def slow_reader(client: Client) -> None:
    """Read an answer only after some seconds."""
    await client.translate(client.generator.choice(client.texts), delay=5.0)


async def page(client: Client) -> None:
    """Do what the page does: open it, type, and leave a translation that is no longer wanted."""
    if client.generator.random() < 0.05:
        for path in _PAGE_FILES:
            status, _, body = await client.ask(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            if status != 200 or not body:
                client.seen.note(f"{path}: status {status}")
        text = client.generator.choice(client.texts)
        status, _, body = await client.ask(request_bytes("/detect", {"q": text.q, "api_key": client.key}))
        if status != 200 or b"confidence" not in body:
            client.seen.note(f"/detect: status {status}")
    start = client.generator.randrange(0, len(client.texts), 3)
    for text in client.texts[start : start + 3]:
        if client.generator.random() < 0.3:  # The next letter comes before the answer.
            await leave(client, request_bytes("/translate", client.fields(text, alternatives=3, alignment=True)), 0.01)
            client.seen.counts["left"] += 1
        else:
            await client.translate(text, alternatives=3, alignment=True)
        client.seen.counts["sent"] += 1
        await asyncio.sleep(client.generator.random())
    client.seen.counts["sent"] -= 1  # The first of them was counted before.


async def files(client: Client) -> None:
    """Have a file translated, and download it."""
    text, sent = client.generator.choice(client.texts), client.clock.now()
    fields = {"source": "en", "target": "de", "api_key": client.key}
    parts = {f'name="{name}"': value for name, value in fields.items()} | {'name="file"; filename="a.txt"': text.q}
    form = "".join(
        f"--{_BOUNDARY}\r\nContent-Disposition: form-data; {name}\r\n\r\n{value}\r\n" for name, value in parts.items()
    )
    body = f"{form}--{_BOUNDARY}--\r\n".encode()
    request = request_bytes("/translate_file", body, f"multipart/form-data; boundary={_BOUNDARY}")
    status, head, body = await client.ask(request)
    if status != 200:
        client.refused(status, head, body, sent)
        return
    path = "/download_file/" + json.loads(body)["translatedFileUrl"].rpartition("/")[2]
    status, head, body = await client.ask(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    if status == 200:
        client.count_answer(text, body.decode(), sent)
    else:
        client.refused(status, head, body, sent)


async def burst(client: Client) -> None:
    """Send several books at once, more than the queue takes of one client."""
    client.seen.counts["sent"] += CONNECTIONS_OF_BURST - 1
    text = client.texts[0]
    results = await asyncio.gather(
        *(client.translate(text) for _ in range(CONNECTIONS_OF_BURST)), return_exceptions=True
    )
    failures = [result for result in results if isinstance(result, Exception)]
    for failure in failures[1:]:
        client.seen.counts["stopped" if isinstance(failure, Ended) else "killed"] += 1
    if failures:
        raise failures[0]


async def vanishing(client: Client) -> None:
    """Send a text, and leave soon, before or after the answer has come."""
    request = request_bytes("/translate", client.fields(client.generator.choice(client.texts)))
    await leave(client, request, client.generator.random() / 20)
    client.seen.counts["left"] += 1


async def half_sent(client: Client) -> None:
    """Leave within a request."""
    request = request_bytes("/translate", client.fields(client.generator.choice(client.texts)))
    await leave(client, request[: client.generator.randrange(len(request))], client.generator.random() / 20)
    client.seen.counts["left"] += 1


async def leave(client: Client, request: bytes, seconds: float) -> None:
    """Send bytes, and close the connection after some seconds."""
    _, writer = await asyncio.open_connection(*client.server.place)
    try:
        writer.write(request)
        await writer.drain()
        await asyncio.sleep(seconds)
    finally:
        writer.close()


async def stalled(client: Client) -> None:
    """Stop within a request, and wait until the server ends it."""
    request = request_bytes("/translate", client.fields(client.generator.choice(client.texts)))
    reader, writer = await asyncio.open_connection(*client.server.place)
    stops, sent = client.clock.stops, client.clock.now()
    try:
        writer.write(request[: client.generator.randrange(len(request) - 1)])
        async with asyncio.timeout(2 * SECONDS_TO_CUT_OFF):
            with suppress(ConnectionResetError):
                await reader.read()
    finally:
        writer.close()
    if client.clock.now() - sent < SECONDS_TO_CUT_OFF - 1 and client.clock.stops == stops and client.server.ready:
        raise ValueError("a stalled request ended too early")
    client.seen.counts["cut_off"] += 1


def hostile(requests: Sequence[bytes]) -> Callable[[Client], Awaitable[None]]:
    """Return what sends one of some hostile requests; its answer is no failure and has no text of others."""

    async def send(client: Client) -> None:
        reader, writer = await asyncio.open_connection(*client.server.place)
        answer = b""
        try:
            writer.write(client.generator.choice(requests))
            await writer.drain()
            with suppress(TimeoutError):
                async with asyncio.timeout(0.5):  # wait_for of Python 3.11 can lose a cancellation.
                    answer = await reader.read(1 << 20)
        finally:
            writer.close()
        client.seen.counts[f"status_{answer[9:12].decode('latin-1') or 'none'}"] += 1
        head, _, body = answer.partition(b"\r\n\r\n")
        if b" 500 " in head.partition(b"\r\n")[0] or client.judge.leaks(body.decode("utf-8", "replace")):
            client.seen.note(f"an answer to a hostile request: {answer[:100]!r}")

    return send
