"""Answers are sent in one piece, and completely before a connection is closed."""

import asyncio
import socket
import time
from collections.abc import Callable

import pytest

from pocketmt.serving.joined_writes import JoinedWrites

from .conftest import RunningServer


class Recorder(asyncio.Transport):
    """Keeps what happens to it."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[object] = []

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.events.append(bytes(data))

    def close(self) -> None:
        self.events.append("close")

    def write_eof(self) -> None:
        self.events.append("end")

    def resume_reading(self) -> None:
        self.events.append("read")

    def abort(self) -> None:
        self.events.append("abort")

    def get_write_buffer_size(self) -> int:
        return 0


def close(writes: JoinedWrites) -> None:
    writes.close()


def abort(writes: JoinedWrites) -> None:
    writes.abort()


def nothing(writes: JoinedWrites) -> None:
    assert writes.get_write_buffer_size() == 8


@pytest.mark.parametrize(
    ("end", "events"), [(nothing, [b"headbody", b"next"]), (close, [b"headbody", "close"]), (abort, ["abort"])]
)
def test_what_is_written_at_once_is_sent_at_once(end: Callable[[JoinedWrites], None], events: list[object]) -> None:
    async def work() -> list[object]:
        recorder = Recorder()
        writes = JoinedWrites(recorder, asyncio.get_running_loop(), lambda: False)
        writes.write(b"head")
        writes.write(b"body")
        assert recorder.events == []
        end(writes)
        await asyncio.sleep(0)
        if end is nothing:
            writes.write(b"next")
        await asyncio.sleep(0)
        return recorder.events

    assert asyncio.run(work()) == events


def test_a_connection_whose_client_sends_is_closed_in_two_steps() -> None:
    async def work() -> list[object]:
        recorder = Recorder()
        writes = JoinedWrites(recorder, asyncio.get_running_loop(), lambda: True)
        writes.write(b"answer")
        writes.close()
        assert writes.is_closing()
        writes.write(b"late")
        await asyncio.sleep(0)
        writes.close()
        return recorder.events

    assert asyncio.run(work()) == [b"answer", "end", "read", "close"]


@pytest.mark.parametrize(
    "head",
    [
        b"POST /translate HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 3000000\r\n\r\n",
        b"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n" + b"A: b\r\n" * 5000 + b"\r\n",
        b"nonsense\r\n\r\n",
    ],
)
def test_a_client_that_still_sends_gets_its_answer(server: RunningServer, head: bytes) -> None:
    with socket.create_connection(server.place, timeout=10) as connection:
        connection.sendall(head)
        time.sleep(0.3)  # The answer is there.
        connection.sendall(b"x" * 3_000_000)
        assert b'{"error":' in connection.makefile("rb").read()
