"""The clients of the mixed load end when they are cancelled, whatever they wait for."""

import asyncio
import random
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks.serve import mixed_clients
from benchmarks.serve.mixed_clients import Client, Seen


class NoWriter:
    """Takes bytes and drops them."""

    def write(self, data: bytes) -> None: ...
    def close(self) -> None: ...
    async def drain(self) -> None: ...


@pytest.mark.parametrize("turns", range(6))
def test_a_hostile_client_ends_if_cancelled_as_its_answer_comes(turns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[asyncio.StreamReader] = []

    async def connect(*_: object) -> tuple[asyncio.StreamReader, Any]:
        reads.append(asyncio.StreamReader())
        return reads[-1], NoWriter()

    monkeypatch.setattr(asyncio, "open_connection", connect)
    server: Any = SimpleNamespace(ready=True, place=("nowhere", 0), lives=[])
    clock: Any = SimpleNamespace(stops=0)
    judge: Any = SimpleNamespace(leaks=lambda _: False)
    changes: Any = None
    client = Client(server, clock, judge, changes, Seen(), "key", (), 1e-9, random.Random(0))

    async def cancel() -> bool:
        task = asyncio.create_task(client.run(mixed_clients.hostile([b"GET"])))
        while not reads:
            await asyncio.sleep(0)
        await asyncio.sleep(0.01)
        reads[0].feed_data(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task}, timeout=1)
        ended = task.done()
        while not task.done():
            task.cancel()
            await asyncio.wait({task}, timeout=0.1)
        return ended

    assert asyncio.run(cancel())
