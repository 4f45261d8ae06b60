"""Text input and output of commands: UTF-8 in files, pipes and gzip files, with lines that end at line feeds only."""

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

from pocketmt.atomic_file import atomic_write
from pocketmt.errors import DataError
from pocketmt.text.corpus import packing

READ_BYTES = 1 << 16
PROGRESS_SECONDS = 0.5  # Least time between two updates of the progress line.


@contextmanager
def open_input(path: Path | None) -> Iterator[BinaryIO | gzip.GzipFile]:
    """Open a file for reading, decompressed if its name ends in .gz, or stdin if the path is None.

    Raises DataError if stdin is closed or gzip data is damaged.
    """
    if path is None:
        if sys.stdin is None:
            raise DataError("stdin is closed: pipe text to it, or name a file with --input FILE")
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
    """Open a file for writing, compressed if its name ends in .gz, or stdout if the path is None.

    Files are written by `atomic_write`; stdout is flushed at the end. Raises DataError if stdout is closed, and as
    `atomic_write` does.
    """
    if path is None:
        if sys.stdout is None:
            raise DataError("stdout is closed: name a file with --output FILE")
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    else:
        with atomic_write(path) as stream, packing(stream, path) as packed:
            yield packed


def read_chunks(stream: BinaryIO | gzip.GzipFile, name: str, size: int) -> Iterator[list[str]]:
    r"""Yield the lines of a UTF-8 stream, without their line ends, in chunks of up to `size` lines.

    A line ends at \n; one \r before it is removed, and so is a byte order mark at the beginning of the stream.

    If a pipe or a terminal has no more data at the moment, the lines that have arrived are yielded as a smaller chunk,
    followed by an empty one, before the next read blocks. So a program that writes one line and waits for its
    translation gets it, while files are read in full chunks.

    Invalid UTF-8 is replaced by U+FFFD. Warnings on stderr name the stream by `name`: the first one gives the number of
    the first invalid line, another one at the end the number of invalid lines.
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


# The next three generators yield None if the next item has not arrived yet.


def _receive(stream: BinaryIO | gzip.GzipFile) -> Iterator[bytes | None]:
    if isinstance(stream, gzip.GzipFile):  # It reads a file, which never blocks.
        while data := stream.read(READ_BYTES):
            yield data
        return
    descriptor = stream.fileno()
    while True:
        if not select.select([descriptor], [], [], 0)[0]:
            yield None
            select.select([descriptor], [], [])
        data = os.read(descriptor, READ_BYTES)
        if not data:
            return
        yield data


def _split(blocks: Iterable[bytes | None]) -> Iterator[bytes | None]:
    unfinished: list[bytes] = []  # Parts of a line whose end has not arrived; joined once, even if the line is long.
    for block in blocks:
        if block is None:
            yield None
            continue
        *complete, rest = block.split(b"\n")
        for line in complete:
            yield b"".join([*unfinished, line])
            unfinished.clear()
        if rest:
            unfinished.append(rest)
    if unfinished:
        yield b"".join(unfinished)


def _decode(lines: Iterable[bytes | None], name: str) -> Iterator[str | None]:
    number = invalid = 0
    for raw in lines:
        if raw is None:
            yield None
            continue
        number += 1
        line = (raw.removeprefix(codecs.BOM_UTF8) if number == 1 else raw).removesuffix(b"\r")
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError as error:
            invalid += 1
            if invalid == 1:
                warn(f"{name}, line {number}: not UTF-8 ({error.reason}); invalid bytes are replaced by U+FFFD")
            text = line.decode("utf-8", errors="replace")
        yield text
    if invalid > 1:
        warn(f"{name}: {invalid} lines were not UTF-8")


def write_chunks(chunks: Iterable[list[str]], stream: BinaryIO, show_progress: bool) -> None:
    """Write chunks of lines as UTF-8, flushing after each; optionally show the number of lines so far on stderr."""
    start = last = time.monotonic()
    count = 0
    for chunk in chunks:
        stream.write("".join(f"{line}\n" for line in chunk).encode("utf-8"))
        stream.flush()
        count += len(chunk)
        now = time.monotonic()
        if show_progress and now - last >= PROGRESS_SECONDS:
            last = now
            print(f"\r{count:,} lines, {count / (now - start):,.0f} per second ", end="", file=sys.stderr, flush=True)
    if show_progress and last > start:
        print(file=sys.stderr)


def warn(message: str) -> None:
    """Print a warning on stderr."""
    print(f"warning: {message}", file=sys.stderr)
