"""Translation of records, cues and messages (TSV, JSON, TMX, subtitles): their text in chunks, the translated file."""

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from gzip import GzipFile
from itertools import accumulate
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal, NamedTuple

import click

from pocketmt.cli.options import EncodableText
from pocketmt.cli.streams import receive, warn
from pocketmt.distributed.storage import without_query
from pocketmt.errors import DataError
from pocketmt.markup.encoding import HTML_SUFFIXES
from pocketmt.text.formats.format import FORMATS, FormatName, Languages, Unit, format_of

TextFormat = FormatName | Literal["html", "subtitles", "json"]
TEXT_FORMATS: Final[tuple[TextFormat, ...]] = (*FORMATS, "html", "subtitles", "json")
_SUFFIXES: Final[dict[str, TextFormat]] = {
    **dict.fromkeys(HTML_SUFFIXES, "html"),
    **dict.fromkeys((".srt", ".vtt"), "subtitles"),
    **dict.fromkeys((".json", ".arb"), "json"),
}
_NO_TEXT: Final = frozenset(
    ".docx .docm .doc .odt .rtf .pptx .pptm .ppt .odp .xlsx .xlsm .xls .ods .epub .pdf".split()  # noqa: SIM905
)
_ARCHIVES: Final = frozenset((".zip", ".bz2", ".xz", ".zst", ".7z", ".rar", ".tar", ".tgz"))
_OTHER_SUBTITLES: Final = frozenset((".ass", ".ssa", ".sub", ".ttml", ".dfxp"))
# What is not prose in these files would be translated, too. Values: what to do instead.
_STRUCTURED: Final = {
    ".csv": "save it as TSV or JSON",
    ".ipynb": "translate the text of its cells",
    **dict.fromkeys((".po", ".pot", ".xlf", ".xliff"), "convert it to TMX or JSON"),
    **dict.fromkeys(
        (".properties", ".strings", ".yml", ".yaml", ".xml", ".resx", ".ini", ".toml", ".ts", ".php"),
        "convert it to JSON",
    ),
}
_WITH_MARKUP: Final = {
    **dict.fromkeys((".md", ".markdown"), "Markdown"),
    ".rst": "reStructuredText",
    ".tex": "LaTeX",
}
COLUMN: Final = "1"
FIELD: Final = "text"
TRANSLATION_FIELD: Final = "translation"
_ENDS_COLUMN: Final = re.compile(r"[\t\n\r]")


class Document:
    """A stream of records, which is read ahead of its translations by the chunks that the translator reads ahead."""

    def __init__(self, units: Iterator[Unit | None]) -> None:
        """Take units, and None if the next one has not arrived yet."""
        self._units = units
        self._waiting: deque[Unit] = deque()  # Units that have been read but not written.
        self._written = 0  # Lines of the units before them.

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
                self._written += len(unit.lines)
                rendered += [unit.before, unit.encode(text), unit.after]
            yield b"".join(rendered), len(chunk)

    def line_in_file(self, number: int) -> int:
        """Return where the unit of a line begins: the number of a line of the file, from 1.

        Args:
            number: of the line among those of all chunks, from 1; its unit has not been written yet.
        """
        ends = accumulate((len(unit.lines) for unit in self._waiting), initial=self._written)
        next(ends)
        return next(unit.line for unit, end in zip(self._waiting, ends, strict=True) if number <= end)


def _format_of(path: Path | str | None) -> TextFormat:
    if path is None:
        return "text"
    suffix = _suffix(path)
    if suffix in _NO_TEXT:
        raise DataError(f"{path} is not a text file: save it as HTML, or as text or TSV in UTF-8")
    if suffix in _OTHER_SUBTITLES:
        raise DataError(f"{path}: subtitles of this kind are not supported: convert them to .srt or .vtt")
    if suffix in _STRUCTURED:
        raise DataError(
            f"{path}: {suffix} files are not supported: {_STRUCTURED[suffix]}, or translate it line by line with "
            "--format text"
        )
    if suffix in _WITH_MARKUP:
        warn(f"{path} is translated line by line as plain text, which may damage its {_WITH_MARKUP[suffix]} markup")
    return _SUFFIXES.get(suffix) or format_of(Path(without_query(path)))


def check_output_suffix(path: Path | str | None) -> None:
    """Raise DataError if the suffix of a file to write is that of an archive or of an office program."""
    if path is not None and _suffix(path) in _NO_TEXT | _ARCHIVES:
        raise DataError(f"{path}: {_suffix(path)} files cannot be written: choose another suffix")


def _suffix(location: Path | str) -> str:
    path = Path(without_query(location))
    return (path.with_suffix("") if path.suffix == ".gz" else path).suffix.lower()


class RecordOptions(NamedTuple):
    """The options of `pocketmt translate` about the format of its input; None: the default."""

    format_name: TextFormat | None
    column: str | None
    field: str | None
    translation_field: str | None

    def format(self, path: Path | str | None, formatted: bool) -> TextFormat:
        """Return the format of a file, or of stdin.

        Args:
            path: the file or its address; None: stdin.
            formatted: whether more than the translation is written.

        Raises:
            click.UsageError: an option does not go with the format.
            DataError: the suffix is that of a file which cannot be translated.
        """
        format = self.format_name or _format_of(path)
        for value, option, formats in (
            (self.column, "--column", ("tsv",)),
            (self.field, "--field", ("jsonl", "json")),
            (self.translation_field, "--translation-field", ("tsv", "jsonl")),
            (formatted or None, "--n-best, --scores, --alignment and --json", ("text",)),
        ):
            if value is not None and format not in formats:
                verb = "need" if " and " in option else "needs"
                raise click.UsageError(f"{option} {verb} --format {' or '.join(formats)}, not {format}.")
            if value == "":
                raise click.UsageError(f"{option} is empty: give a name, or leave it out.")
        if format == "tsv":
            self._check_columns()
        return format

    def _check_columns(self) -> None:
        """Raise click.UsageError if an option does not fit to the columns of TSV."""
        from pocketmt.text.formats.tsv import column_number

        number = column_number(self.column or COLUMN)
        if number is not None and self.translation_field is not None:
            raise click.UsageError("For TSV, --translation-field needs --column and the name of a column.")
        if number == 0:
            raise click.UsageError("--column counts from 1.")
        if _ENDS_COLUMN.search(self.translation_field or ""):
            raise click.UsageError("For TSV, --translation-field is one column: leave out tabs and line breaks.")

    def open(self, stream: BinaryIO | GzipFile, name: str, format: TextFormat, languages: Languages) -> Document | None:
        """Return the records of a stream, see `read_units` of the formats; None for plain text and HTML.

        Args:
            stream: the bytes to read.
            name: name of the stream in messages.
            format: of the stream.
            languages: of the model.

        Raises DataError if the format needs languages that are empty.
        """
        if format in ("text", "html"):
            return None
        blocks = receive(stream)
        added = self.translation_field or TRANSLATION_FIELD
        if format == "tmx":
            from pocketmt.text.formats.tmx import read_units

            if not all(languages):
                raise DataError(
                    f"{name}: TMX names both languages, and the model file does not say which: give --source-language "
                    "and --target-language"
                )
            return Document(read_units(blocks, name, languages, warn))
        from pocketmt.text.formats import json_values, jsonl, subtitles, tsv

        if format == "json":
            return Document(json_values.read_units(blocks, name, self.field, warn))
        if format == "subtitles":
            return Document(subtitles.read_units(blocks, name))
        if format == "tsv":
            return Document(tsv.read_units(blocks, name, self.column or COLUMN, added))
        return Document(jsonl.read_units(blocks, name, self.field or FIELD, added))


def record_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of `RecordOptions` to a command, which takes them as `records`."""

    @click.option(
        "--format",
        "format_name",
        type=click.Choice(TEXT_FORMATS),
        default=None,
        help="Format of the text (default: by the suffix of the input file: .tsv, .jsonl, .tmx, .html, .srt, .vtt, "
        ".json, or plain text).",
    )
    @click.option(
        "--column",
        default=None,
        help=f"TSV: column to translate, by number, or by name if the first line has names (default: {COLUMN}).",
    )
    @click.option(
        "--field",
        default=None,
        help=f"JSONL: field to translate (default: {FIELD}). JSON: key of the strings to translate (default: all).",
    )
    @click.option(
        "--translation-field",
        type=EncodableText(),
        default=None,
        help=f"Name of the field, or of the column after a line of names, to add (default: {TRANSLATION_FIELD}).",
    )
    @wraps(command)
    def with_records(
        *,
        format_name: TextFormat | None,
        column: str | None,
        field: str | None,
        translation_field: str | None,
        **others: Any,
    ) -> None:
        command(records=RecordOptions(format_name, column, field, translation_field), **others)

    return with_records
