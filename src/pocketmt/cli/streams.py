"""Text input and output of commands: UTF-8 in files, pipes and gzip files, with lines that end at line feeds only."""

import codecs
import gzip
import os
import select
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from pocketmt.atomic_file import atomic_write
from pocketmt.distributed.storage import open_address, without_query
from pocketmt.errors import DataError
from pocketmt.progress import ProgressLine
from pocketmt.text.corpus import packing
from pocketmt.text.formats.format import split_lines

READ_BYTES = 1 << 16
# The first bytes of files that are not text in UTF-8, and what to do.
_NOT_PLAIN: Final = (
    ((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE), "UTF-16: convert it to UTF-8"),
    ((b"\x1f\x8b",), "compressed by gzip: decompress it, or give its file a name that ends in .gz"),
    (
        (b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd", *(b"BZh%d1AY&SY" % level for level in range(1, 10))),
        "compressed: decompress it",
    ),
    ((b"PK\x03\x04",), "a ZIP archive or an office document: extract its text, or save it as text in UTF-8"),
    ((b"%PDF-", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), "a document that is not text: save it as text in UTF-8"),
)
_MOST_NULS: Final = 5  # One byte in five. UTF-16 has one in two, if its letters are Latin.


@contextmanager
def open_input(path: Path | str | None) -> Iterator[BinaryIO | gzip.GzipFile]:
    """Open a file or an address for reading, decompressed if its name ends in .gz, or stdin if the path is None.

    If stdin is a terminal, a line on stderr says so. Raises DataError if stdin is closed or gzip data is damaged, and
    as `open_address` does.
    """
    if path is None:
        if sys.stdin is None:
            raise DataError("stdin is closed: pipe text to it, or name a file with --input FILE")
        if sys.stdin.isatty():
            print("reading lines from the keyboard; Ctrl-D ends", file=sys.stderr)
        yield sys.stdin.buffer
        return
    with open_address(path) if isinstance(path, str) else path.open("rb") as stream:
        if not without_query(path).endswith(".gz"):
            yield stream
            return
        try:
            if isinstance(path, Path) and path.is_file() and not path.stat().st_size:
                raise EOFError("0 bytes")  # Python reads it as an empty text.
            with gzip.open(stream, "rb") as packed:
                yield packed
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise DataError(f"{path}: broken gzip ({error}): fetch or compress it again") from error


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

    Raises DataError if the stream begins as UTF-16, compressed data or a binary document do.
    """
    chunk: list[str] = []
    for line in _decode(split_lines(_check_plain(receive(stream), name)), name):
        if line is not None:
            chunk.append(line)
        if chunk and (line is None or len(chunk) == size):
            yield chunk
            chunk = []
        if line is None:
            yield []
    if chunk:
        yield chunk


def receive(stream: BinaryIO | gzip.GzipFile) -> Iterator[bytes | None]:
    """Yield the bytes of a stream as they arrive, and None before a read that waits for more."""
    descriptor = _descriptor(stream)
    if descriptor is None:  # A gzip file or an address, which never wait for a program that writes.
        while data := stream.read(READ_BYTES):
            yield data
        return
    while True:
        if not select.select([descriptor], [], [], 0)[0]:
            yield None
            select.select([descriptor], [], [])
        data = os.read(descriptor, READ_BYTES)
        if not data:
            return
        yield data


def _check_plain(blocks: Iterable[bytes | None], name: str) -> Iterator[bytes | None]:
    """Pass blocks on; DataError if the first one is not plain text in UTF-8."""
    checked = False
    for block in blocks:
        if block is not None and not checked:
            checked = True
            for starts, what in _NOT_PLAIN:
                if block.startswith(starts):
                    raise DataError(f"{name} is {what}")
            if len(block) > _MOST_NULS and block.count(0) * _MOST_NULS > len(block):
                raise DataError(f"{name} has NUL bytes, as UTF-16 and binary files have: convert it to UTF-8 text")
        yield block


def _descriptor(stream: BinaryIO | gzip.GzipFile) -> int | None:
    if isinstance(stream, gzip.GzipFile):
        return None
    try:
        return stream.fileno()
    except OSError:
        return None


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


def encode_chunks(chunks: Iterable[list[str]]) -> Iterator[tuple[bytes, int]]:
    """Yield each chunk of lines as UTF-8, and their number."""
    for chunk in chunks:
        yield "".join(f"{line}\n" for line in chunk).encode("utf-8"), len(chunk)


def write_blocks(blocks: Iterable[tuple[bytes, int]], stream: BinaryIO, show_progress: bool) -> None:
    """Write blocks of bytes, flushing after each; optionally show the sum of their numbers of lines on stderr."""
    progress = ProgressLine("translated", "lines")
    count = 0
    for content, lines in blocks:
        stream.write(content)
        stream.flush()
        count += lines
        if show_progress:
            progress.update(count)
    progress.close()


def warn(message: str) -> None:
    """Print a warning on stderr, on a new line if a terminal shows progress."""
    ProgressLine.end_line()
    print(f"warning: {message}", file=sys.stderr)
