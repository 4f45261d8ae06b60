"""Text in and out of a command: bytes are read and written, a line ends at a line feed and nowhere else."""

import os
import secrets
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

PROGRESS_SECONDS = 0.5


@contextmanager
def open_input(path: Path | None) -> Iterator[BinaryIO]:
    """Open a file for reading, or stdin where there is none."""
    if path is None:
        yield sys.stdin.buffer
    else:
        with path.open("rb") as stream:
            yield stream


@contextmanager
def open_output(path: Path | None) -> Iterator[BinaryIO]:
    """Open a file for writing, or stdout where there is none; all is flushed at the end.

    A file appears whole, under its name, when the block ends well; otherwise what stood there is untouched.
    """
    if path is None:
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


def read_lines(stream: BinaryIO, name: str) -> Iterator[str]:
    r"""Yield the lines of UTF-8 bytes without their line ends: \n, and one \r before it.

    What is not UTF-8 is replaced by U+FFFD; the first such line is named on stderr, and at the end how many there were.
    """
    broken = 0
    for number, raw in enumerate(stream, start=1):
        line = raw.removesuffix(b"\n").removesuffix(b"\r")
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


def write_lines(lines: Iterable[str], stream: BinaryIO, flush_each: bool = False) -> None:
    """Write lines as UTF-8, and on stderr, where that is a terminal, how many there are so far."""
    shown = sys.stderr.isatty() and not flush_each
    start = last = time.monotonic()
    for number, line in enumerate(lines, start=1):
        stream.write(line.encode("utf-8") + b"\n")
        if flush_each:
            stream.flush()
        now = time.monotonic()
        if shown and now - last >= PROGRESS_SECONDS:
            last = now
            print(f"\r{number:,} lines, {number / (now - start):,.0f} a second ", end="", file=sys.stderr, flush=True)
    if shown and last > start:
        print(file=sys.stderr)


def warn(message: str) -> None:
    """Say something on stderr that is not an error."""
    print(f"warning: {message}", file=sys.stderr)
