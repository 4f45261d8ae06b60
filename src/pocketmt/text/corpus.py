"""Parallel corpora: two files with a sentence a line, UTF-8, plain or gzip."""

import codecs
import gzip
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import BinaryIO, cast

from pocketmt.atomic_file import write_together
from pocketmt.errors import ConfigurationError, DataError


def read_lines(path: Path) -> Iterator[str]:
    r"""Yield the lines of a UTF-8 file, gzip-compressed if its name ends in .gz, without line ends.

    A line ends at \n alone; one \r before it and a byte order mark at the start of the file are dropped.
    Raises DataError with file and line if it cannot be read.
    """
    number = 0
    try:
        with _open(path) as stream:
            for raw in stream:
                number += 1
                if number == 1:
                    raw = raw.removeprefix(codecs.BOM_UTF8)
                yield raw.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"{path}, line {number}: not UTF-8 ({error.reason}): convert the file first") from error
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"{path}, after line {number}: broken gzip ({error}): download or compress it again") from error
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from error


def check_rereadable(path: Path) -> None:
    """Raise DataError if the text comes from a pipe or device, which cannot be read more than once."""
    if path.exists() and not path.is_file():
        raise DataError(f"{path} is not a regular file, but its text is read more than once: write it to a file first")


def read_pairs(source: Path, target: Path) -> Iterator[tuple[str, str]]:
    """Yield (source line, target line) of two parallel files; DataError if their numbers of lines differ."""
    source_lines, target_lines = read_lines(source), read_lines(target)
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
    if source.resolve() == target.resolve():
        raise ConfigurationError(f"{source} cannot hold both the source and the target: name two files")
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


def _open(path: Path) -> BinaryIO:
    return cast(BinaryIO, gzip.open(path, "rb")) if path.suffix == ".gz" else path.open("rb")


def _unequal(source: Path, source_lines: int, target: Path, target_lines: int) -> DataError:
    return DataError(
        f"{source} has {source_lines} lines but {target} has {target_lines}: the two files of a corpus must be "
        "parallel, line by line; check that both come from the same corpus and that neither is truncated"
    )
