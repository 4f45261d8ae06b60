"""Text in and out of a command: bytes are read and written, a line ends at a line feed and nowhere else."""

import codecs
import gzip
import os
import select
import sys
import time
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from pocketmt.errors import DataError
from pocketmt.text.corpus import packing
from pocketmt.whole_file import write_whole

BYTES_AT_ONCE = 1 << 16
PROGRESS_SECONDS = 0.5


@contextmanager
def open_input(path: Path | None) -> Iterator[BinaryIO | gzip.GzipFile]:
    """Open a file for reading (gzip where its name ends in .gz), or stdin where there is none.

    Raises DataError where stdin is closed, or gzip is broken.
    """
    if path is None:
        if sys.stdin is None:
            raise DataError("stdin is closed. Give it something to read, or name a file: --input FILE")
        yield sys.stdin.buffer
    elif path.suffix == ".gz":
        try:
            with gzip.open(path, "rb") as packed:
                yield packed
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise DataError(f"{path}: broken gzip ({error}): fetch or compress it again") from error
    else:
        with path.open("rb") as stream:
            yield stream


@contextmanager
def open_output(path: Path | None) -> Iterator[BinaryIO]:
    """Open a file for writing (gzip where its name ends in .gz), or stdout where there is none; flushed at the end.

    A file is written as `write_whole` does, which says what is raised; DataError where stdout is closed.
    """
    if path is None:
        if sys.stdout is None:
            raise DataError("stdout is closed. Name a file to write: --output FILE")
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    else:
        with write_whole(path) as stream, packing(stream, path) as packed:
            yield packed


def read_chunks(stream: BinaryIO | gzip.GzipFile, name: str, size: int) -> Iterator[list[str]]:
    r"""Yield the lines of UTF-8 bytes, `size` at once, without their line ends: \n, and one \r before it.

    A byte order mark at the beginning is no text.

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


def _receive(stream: BinaryIO | gzip.GzipFile) -> Iterator[bytes | None]:
    if isinstance(stream, gzip.GzipFile):  # of a file: nothing has to be waited for
        while data := stream.read(BYTES_AT_ONCE):
            yield data
        return
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
        line = (raw.removeprefix(codecs.BOM_UTF8) if number == 1 else raw).removesuffix(b"\r")
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
