"""Translation of records in TSV, JSON lines and TMX: their text in chunks, and the records with the translations."""

from collections import deque
from collections.abc import Iterable, Iterator
from gzip import GzipFile
from typing import BinaryIO, Final

import click

from pocketmt.cli.streams import receive, warn
from pocketmt.text.formats.format import FormatName, Languages, Unit

COLUMN: Final = "1"
FIELD: Final = "text"
TRANSLATION_FIELD: Final = "translation"


class Document:
    """A stream of records, which is read ahead of its translations by the chunks that the translator reads ahead."""

    def __init__(self, units: Iterator[Unit | None]) -> None:
        """Take units, and None if the next one has not arrived yet."""
        self._units = units
        self._waiting: deque[Unit] = deque()  # Units that have been read but not written.

    def chunks(self, size: int) -> Iterator[list[str]]:
        """Yield the lines of all units in order, in chunks of at least `size`, as `read_chunks` does."""
        chunk: list[str] = []
        for unit in self._units:
            if unit is not None:
                self._waiting.append(unit)
                chunk += unit.lines
            if chunk and (unit is None or len(chunk) >= size):
                yield chunk
                chunk = []
            if unit is None:
                yield []
        if chunk:
            yield chunk

    def render(self, translations: Iterable[list[str]]) -> Iterator[tuple[bytes, int]]:
        """Yield the output of all units whose lines are translated, and the number of lines, for each chunk."""
        lines: deque[str] = deque()
        for chunk in translations:
            lines += chunk
            rendered = []
            while self._waiting and len(lines) >= len(self._waiting[0].lines):
                unit = self._waiting.popleft()
                text = "\n".join([lines.popleft() for _ in unit.lines])
                rendered += [unit.before, unit.encode(text), unit.after]
            yield b"".join(rendered), len(chunk)


def open_document(
    stream: BinaryIO | GzipFile,
    name: str,
    format: FormatName,
    languages: Languages,
    column: str | None,
    field: str | None,
    translation_field: str | None,
) -> Document:
    """Return the records of a stream in a format other than plain text; see `read_units` of the formats.

    Args:
        stream: the bytes to read.
        name: name of the stream in messages.
        format: of the stream.
        languages: of the model.
        column: of a TSV file; None: `COLUMN`.
        field: of a JSON object; None: `FIELD`.
        translation_field: name of the new field or column; None: `TRANSLATION_FIELD`.
    """
    blocks = receive(stream)
    added = translation_field or TRANSLATION_FIELD
    if format == "tmx":
        from pocketmt.text.formats.tmx import read_units

        return Document(read_units(blocks, name, languages, warn))
    from pocketmt.text.formats import jsonl, tsv

    if format == "tsv":
        return Document(tsv.read_units(blocks, name, column or COLUMN, added))
    return Document(jsonl.read_units(blocks, name, field or FIELD, added))


def check_options(
    format: FormatName, column: str | None, field: str | None, translation_field: str | None, formatted: bool
) -> None:
    """Raise UsageError for options that the format does not have; `formatted`: more than the translation is written."""
    for value, option, formats in (
        (column, "--column", ("tsv",)),
        (field, "--field", ("jsonl",)),
        (translation_field, "--translation-field", ("tsv", "jsonl")),
        (formatted or None, "--n-best, --scores and --json", ("text",)),
    ):
        if value is not None and format not in formats:
            raise click.UsageError(f"{option}: not with --format {format}, only with {' or '.join(formats)}.")
    if column is not None and column.isdecimal() and int(column) < 1:
        raise click.UsageError("--column counts from 1.")
