"""Text in and out of a command: bytes are read and written, a line ends at a line feed and nowhere else."""

import os
import secrets
import select
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from pocketmt.errors import DataError

BYTES_AT_ONCE = 1 << 16
PROGRESS_SECONDS = 0.5


@contextmanager
def open_input(path: Path | None) -> Iterator[BinaryIO]:
    """Open a file for reading, or stdin where there is none; raises DataError where stdin is closed."""
    if path is None:
        if sys.stdin is None:
            raise DataError("stdin is closed. Give it something to read, or name a file: --input FILE")
        yield sys.stdin.buffer
    else:
        with path.open("rb") as stream:
            yield stream


@contextmanager
def open_output(path: Path | None) -> Iterator[BinaryIO]:
    """Open a file for writing, or stdout where there is none; all is flushed at the end.

    A file appears whole, under its name, when the block ends well; otherwise what stood there is untouched. Raises
    DataError where stdout is closed.
    """
    if path is None:
        if sys.stdout is None:
            raise DataError("stdout is closed. Name a file to write: --output FILE")
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    elif path.exists() and not path.is_file():  # a device or a named pipe is written to, not replaced
        with path.open("wb") as stream:
            yield stream
    else:
        unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}.unfinished")
        try:
            with unfinished.open("xb") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)


def read_chunks(stream: BinaryIO, name: str, size: int) -> Iterator[list[str]]:
    r"""Yield the lines of UTF-8 bytes, `size` at once, without their line ends: \n, and one \r before it.

    Where a pipe or a terminal has nothing more to give right now, what there is comes in a smaller chunk, then an empty
    one, before more is waited for. So who writes a line and waits for the answer gets it, and files go in full chunks.

    What is not UTF-8 is replaced by U+FFFD; the first such line is named on stderr, and at the end how many there were.
    """
    chunk: list[str] = []
    for line in _decode(_split(_receive(stream)), name):
        if line is not None:
            chunk.append(line)
        if chunk and (line is None or len(chunk) == size):
            yield chunk
            chunk = []
        if line is None:
            yield []
    if chunk:
        yield chunk


# In these three, None says that the next item will have to be waited for.


def _receive(stream: BinaryIO) -> Iterator[bytes | None]:
    descriptor = stream.fileno()
    while True:
        if not select.select([descriptor], [], [], 0)[0]:
            yield None
            select.select([descriptor], [], [])
        data = os.read(descriptor, BYTES_AT_ONCE)
        if not data:
            return
        yield data


def _split(pieces: Iterable[bytes | None]) -> Iterator[bytes | None]:
    begun: list[bytes] = []  # a line without its end so far; joined once, however long it gets
    for piece in pieces:
        if piece is None:
            yield None
            continue
        *ended, rest = piece.split(b"\n")
        for line in ended:
            yield b"".join([*begun, line])
            begun.clear()
        if rest:
            begun.append(rest)
    if begun:
        yield b"".join(begun)


def _decode(lines: Iterable[bytes | None], name: str) -> Iterator[str | None]:
    number = broken = 0
    for raw in lines:
        if raw is None:
            yield None
            continue
        number += 1
        line = raw.removesuffix(b"\r")
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError as error:
            broken += 1
            if broken == 1:
                warn(f"{name}, line {number}: not UTF-8 ({error.reason}); such bytes are replaced by U+FFFD")
            text = line.decode("utf-8", errors="replace")
        yield text
    if broken > 1:
        warn(f"{name}: {broken} lines were not UTF-8")


def write_chunks(chunks: Iterable[list[str]], stream: BinaryIO, show_progress: bool) -> None:
    """Write lines as UTF-8, each chunk at once and flushed; on request say on stderr how many there are so far."""
    start = last = time.monotonic()
    number = 0
    for chunk in chunks:
        stream.write("".join(f"{line}\n" for line in chunk).encode("utf-8"))
        stream.flush()
        number += len(chunk)
        now = time.monotonic()
        if show_progress and now - last >= PROGRESS_SECONDS:
            last = now
            print(f"\r{number:,} lines, {number / (now - start):,.0f} a second ", end="", file=sys.stderr, flush=True)
    if show_progress and last > start:
        print(file=sys.stderr)


def warn(message: str) -> None:
    """Say something on stderr that is not an error."""
    print(f"warning: {message}", file=sys.stderr)
