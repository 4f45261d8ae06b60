"""Answers are sent in one piece, and completely before a connection is closed."""

import asyncio
from collections.abc import Callable

import pytest

from pocketmt.serving.joined_writes import JoinedWrites


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
