"""Parallel corpora: two files, line by line parallel, UTF-8, plain or gzip."""

import codecs
import gzip
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import BinaryIO, cast

from pocketmt.errors import ConfigurationError, DataError
from pocketmt.whole_file import write_together


def read_lines(path: Path) -> Iterator[str]:
    r"""Yield the lines of a UTF-8 file (gzip where its name ends in .gz) without their line ends.

    A line ends at \n alone, one \r before it is dropped; a byte order mark at the beginning is no text.
    Raises DataError naming file and line where it cannot be read.
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
        raise DataError(f"{path}, after line {number}: broken gzip ({error}): fetch or compress it again") from error
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from error


def check_rereadable(path: Path) -> None:
    """Raise DataError where a text is given by a pipe or a device, and would be read more than once."""
    if path.exists() and not path.is_file():
        raise DataError(f"{path} is no regular file, and its text is read more than once: write it to a file first")


def read_pairs(source: Path, target: Path) -> Iterator[tuple[str, str]]:
    """Yield (source line, target line) of two parallel files; DataError where they have unequal numbers of lines."""
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
    """Write two parallel files (gzip where a name ends in .gz): gives what writes one pair.

    Both appear, whole, under their names when the block ends well; otherwise what stood there is untouched. Raises
    ConfigurationError where the two are one file, and as `check_output` does.
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
    """Return what writes to a stream: by gzip where the path ends in .gz, to the same bytes whenever it is done."""
    if path.suffix != ".gz":
        return nullcontext(stream)
    return cast(AbstractContextManager[BinaryIO], gzip.GzipFile("", "wb", fileobj=stream, mtime=0))


def _open(path: Path) -> BinaryIO:
    return cast(BinaryIO, gzip.open(path, "rb")) if path.suffix == ".gz" else path.open("rb")


def _unequal(source: Path, source_lines: int, target: Path, target_lines: int) -> DataError:
    return DataError(
        f"{source} has {source_lines} lines but {target} has {target_lines}: the two files of a corpus must be "
        "parallel, line by line; check that both come from the same corpus and that none was cut short"
    )
