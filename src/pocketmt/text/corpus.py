"""Parallel corpora: two files with one sentence per line, or one file of a parallel format; UTF-8, plain or gzip.

Parallel formats are TSV, JSON lines and TMX, by the suffix of the file. A file of such a format holds both sides.
"""

import codecs
import gzip
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import BinaryIO, Final, cast

from pocketmt.atomic_file import resolved, write_together
from pocketmt.errors import ConfigurationError, DataError, unreadable
from pocketmt.text.formats.format import Languages, Side, format_of

_BLOCK_BYTES: Final = 1 << 16


def read_lines(path: Path, side: Side = "source", languages: Languages | None = None) -> Iterator[str]:
    r"""Yield the lines of a UTF-8 file without line ends, or one side of a parallel format.

    A line ends at \n alone; one \r before it and a byte order mark at the start of the file are dropped.

    Args:
        path: the file; gzip-compressed if its name ends in .gz.
        side: the side to read, see `Side`; plain text has only one.
        languages: of the two sides; see `read_sides` of the formats.

    Raises:
        DataError: with file and line, if the file cannot be read.
    """
    if format_of(path) == "text":
        return read_plain_lines(path)
    return (line for (line,) in _read_sides(path, (side,), languages))


def read_plain_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a file, of whatever suffix; see `read_lines`."""
    with _reading(path) as stream:
        for number, raw in enumerate(stream, start=1):
            if number == 1:
                raw = raw.removeprefix(codecs.BOM_UTF8)
            try:
                line = raw.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8")
            except UnicodeDecodeError as error:
                raise DataError(f"{path}, line {number}: not UTF-8 ({error.reason}): convert the file first") from error
            yield line


def _read_sides(path: Path, sides: Sequence[Side], languages: Languages | None) -> Iterator[tuple[str, ...]]:
    # Only what is needed: the command line must start quickly.
    from pocketmt.text.formats import jsonl, tmx, tsv

    format = format_of(path)
    with _reading(path) as stream:
        if format == "tmx":
            yield from tmx.read_sides(iter(partial(stream.read, _BLOCK_BYTES), b""), str(path), sides, languages)
        else:
            read = tsv.read_sides if format == "tsv" else jsonl.read_sides
            yield from read((line.removesuffix(b"\n") for line in stream), str(path), sides, languages)


def check_rereadable(path: Path) -> None:
    """Raise DataError if the text comes from a pipe or device, which cannot be read more than once."""
    if path.exists() and not path.is_file():
        raise DataError(f"{path} is not a regular file, but its text is read more than once: write it to a file first")


def is_plain(file: Path) -> bool:
    """Return whether a file holds lines of text, not the two sides of a parallel format."""
    return format_of(file) == "text"


def both_sides(source: Path, target: Path | None) -> tuple[Path, Path]:
    """Return the files of the two sides, which for a parallel format are the same.

    Raises ConfigurationError if the target file is missing, or is the source file and not of a parallel format.
    """
    if target is None and not is_plain(source):
        return source, source
    if target is None:
        raise ConfigurationError(
            f"{source} is plain text: name the file of its target side too, or give a TSV, JSONL or TMX file"
        )
    if is_plain(source) and _same_file(source, target):
        raise ConfigurationError(f"{source} is given for both sides: name the file of its translations as the target")
    return source, target


def read_pairs(source: Path, target: Path, languages: Languages | None = None) -> Iterator[tuple[str, str]]:
    """Yield (source line, target line) of two parallel files, or of one of a parallel format.

    Args:
        source, target: see `both_sides`.
        languages: of the two sides; see `read_sides` of the formats.

    Raises:
        DataError: a file cannot be read, or their numbers of lines differ.
        ConfigurationError: as `both_sides` does.
    """
    source, target = both_sides(source, target)
    if format_of(source) != "text" and _same_file(source, target):
        for pair in _read_sides(source, ("source", "target"), languages):
            yield pair[0], pair[1]
        return
    source_lines = read_lines(source, "source", languages)
    target_lines = read_lines(target, "target", languages)
    count = 0
    for source_line in source_lines:
        target_line = next(target_lines, None)
        if target_line is None:
            total = count + 1 + sum(1 for _ in source_lines)
            raise _unequal(source, total, target, count)
        count += 1
        yield source_line, target_line
    rest = sum(1 for _ in target_lines)
    if rest:
        raise _unequal(source, count, target, count + rest)


@contextmanager
def write_pairs(source: Path, target: Path) -> Iterator[Callable[[str, str], None]]:
    """Write two parallel files, gzip-compressed if their name ends in .gz; yields a function that writes one pair.

    Both files appear, complete, when the block ends without an error; otherwise existing files stay untouched. Raises
    ConfigurationError if both are the same file, and see `check_output`.
    """
    if _same_file(source, target):
        raise ConfigurationError(f"{source} cannot hold both the source and the target: name two files")
    for path in (source, target):
        if format_of(path) != "text":
            raise ConfigurationError(f"{path}: plain text is written, one line for each: choose another suffix")
    with write_together(source, target) as files, ExitStack() as opened:
        streams = [
            opened.enter_context(packing(file, path)) for path, file in zip((source, target), files, strict=True)
        ]

        def write(*pair: str) -> None:
            for line, stream in zip(pair, streams, strict=True):
                stream.write(line.encode() + b"\n")

        yield write


def packing(stream: BinaryIO, path: Path) -> AbstractContextManager[BinaryIO]:
    """Return a stream that writes to `stream`, by gzip if the path ends in .gz; equal input gives equal bytes."""
    if path.suffix != ".gz":
        return nullcontext(stream)
    return cast(AbstractContextManager[BinaryIO], gzip.GzipFile("", "wb", fileobj=stream, mtime=0))


@contextmanager
def _reading(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading; DataError if it cannot be read or its gzip data is damaged."""
    try:
        if path.suffix == ".gz" and path.is_file() and not path.stat().st_size:
            raise EOFError("0 bytes")  # Python reads it as an empty text.
        with cast(BinaryIO, gzip.open(path, "rb")) if path.suffix == ".gz" else path.open("rb") as stream:
            yield stream
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"{path}: broken gzip ({error}): download or compress it again") from error
    except OSError as error:
        raise DataError(unreadable(path, error)) from error


def _same_file(first: Path, second: Path) -> bool:
    return resolved(first) == resolved(second)


def _unequal(source: Path, source_lines: int, target: Path, target_lines: int) -> DataError:
    return DataError(
        f"{source} has {source_lines} lines but {target} has {target_lines}: the two files of a corpus must be "
        "parallel, line by line; check that both come from the same corpus and that neither is truncated"
    )
