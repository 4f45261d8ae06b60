"""Names of the formats, the bytes of their lines, and the units that are translated."""

import codecs
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final, Literal, NamedTuple

from pocketmt.errors import DataError

FormatName = Literal["text", "tsv", "jsonl", "tmx"]
# "translation" is what `pocketmt translate` has added to a file, or the target of a file without such.
Side = Literal["source", "target", "translation"]
Languages = tuple[str, str]  # Source and target.
Warn = Callable[[str], None]

FORMATS: Final[tuple[FormatName, ...]] = ("text", "tsv", "jsonl", "tmx")
_SUFFIXES: Final[dict[str, FormatName]] = {
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".tmx": "tmx",
}


class Unit(NamedTuple):
    """Text to translate, and the bytes of the output around its translation.

    Attributes:
        lines: the text; at least one line. Each is translated separately.
        before: output before the translation.
        encode: returns the translation, with line feeds between its lines, as the format writes it.
        after: output after the translation.
        line: number, from 1, of the line of the file on which the unit begins; 0 without text.
    """

    lines: tuple[str, ...]
    before: bytes
    encode: Callable[[str], bytes]
    after: bytes
    line: int


def unit_of_bytes(content: bytes) -> Unit:
    """Return a unit without text, whose output is `content`."""
    return Unit(("",), content, lambda translation: b"", b"", 0)


def format_of(path: Path | None) -> FormatName:
    """Return the format that the suffix of a file names, ignoring .gz; plain text for others and for None."""
    if path is None:
        return "text"
    return _SUFFIXES.get((path.with_suffix("") if path.suffix == ".gz" else path).suffix.lower(), "text")


def split_lines(blocks: Iterable[bytes | None]) -> Iterator[bytes | None]:
    r"""Yield the lines of a stream of bytes without their \n; None, for data that has not arrived, is passed on."""
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


def number_lines(lines: Iterable[bytes | None]) -> Iterator[tuple[int, bytes, bytes] | None]:
    r"""Yield the number, from 1, of each line, its bytes, and its end: \n or \r\n; passes None on."""
    number = 0
    for line in lines:
        if line is None:
            yield None
            continue
        number += 1
        yield (number, line[:-1], b"\r\n") if line.endswith(b"\r") else (number, line, b"\n")


def decode(line: bytes, name: str, number: int) -> str:
    """Return the text of a UTF-8 line, without a byte order mark in the first; DataError if it is not UTF-8."""
    try:
        return (line.removeprefix(codecs.BOM_UTF8) if number == 1 else line).decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"{name}, line {number}: not UTF-8 ({error.reason}): convert the file first") from error
