"""TMX, the exchange format of translation memories: units of text in several languages."""

import codecs
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

from pocketmt import __version__
from pocketmt.errors import DataError
from pocketmt.text.formats.format import Languages, Side, Unit, Warn, unit_of_bytes
from pocketmt.text.formats.tmx_parser import TmxParser, TranslationUnit
from pocketmt.text.language_tags import primary_subtag, standard_tag

# Characters that XML 1.0 does not allow, even as references.
_FORBIDDEN: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_PASSED_ON: Final = 1 << 16  # Bytes without text to translate that are held back.
_END: Final = (b"",)  # The block that ends a file.


def read_units(blocks: Iterable[bytes | None], name: str, languages: Languages, warn: Warn) -> Iterator[Unit | None]:
    """Yield the text of each unit in the source language, to which a variant in the target language is added.

    It replaces a variant without text. All other bytes are passed on unchanged: also units that have no text in the
    source language, or text in the target language already. `warn` is told how many there are.

    Args:
        blocks: bytes of the file; None means that the next bytes have not arrived.
        name: name of the file in messages.
        languages: of the model. A variant of another region is taken if there is none of the same.
        warn: called with warnings, at the end of the file.

    Raises:
        DataError: as `TmxParser` does, or no unit has text in the source language.
    """
    parser, buffer = TmxParser(name), _Bytes()
    counts = dict.fromkeys(("translated", "kept", "missing", "codes"), 0)
    for block in chain(blocks, _END):
        if block is None:
            yield None
            continue
        buffer.add(block)
        for unit in parser.feed(block):
            source, target = unit.tags(languages)
            text = unit.variants.get(source or "")
            blank = unit.blank.get(target or "")
            if blank is not None and not (text or "").strip():
                text = None
            kept = target is not None and blank is None
            counts["kept" if kept else "missing" if text is None else "translated"] += 1
            if text is not None and not kept:
                counts["codes"] += unit.codes
                encoding = buffer.encoding(parser.encoding)
                before = buffer.take(unit.end if blank is None else blank[0])
                after = None if blank is None else _after_tag(buffer.take(unit.end), blank[1] - blank[0], encoding)
                yield _to_translate(text, unit.line, before, after, languages[1], encoding)
        if parser.parsed - buffer.begin > _PASSED_ON and not parser.in_unit:
            yield unit_of_bytes(buffer.take(parser.parsed))
    yield unit_of_bytes(buffer.take(buffer.end))
    _report(parser, name, languages, counts, warn)


def read_sides(
    blocks: Iterable[bytes], name: str, sides: Sequence[Side], languages: Languages | None
) -> Iterator[tuple[str, ...]]:
    """Yield the given sides of each unit that has text in both languages; line feeds become spaces.

    Without both languages, the source language is that of the header, and the target language the only other one.
    Raises DataError as `TmxParser` does, if the languages are not given and not clear, or if no unit has text in both.
    """
    if languages is not None and not all(languages):
        languages = None
    parser = TmxParser(name)
    found = False
    for block in chain(blocks, _END):
        for unit in parser.feed(block):
            pair = _pair(unit, languages or _only_languages(parser, unit, name))
            if pair is not None:
                found = True
                yield tuple(" ".join(pair[side != "source"].split("\n")) for side in sides)
    if not found and parser.languages:
        wanted = " and ".join(languages) if languages else "two languages"
        raise DataError(f"{name}: no unit has text in {wanted} (languages: {', '.join(sorted(parser.languages))})")


class _Bytes:
    """Bytes of a file that have been read but not yet passed on; `begin` is their position in the file."""

    def __init__(self) -> None:
        self.begin = 0
        self._data = bytearray()
        self._mark = b""

    def add(self, block: bytes) -> None:
        if len(self._mark) < 2:
            self._mark = (self._mark + block)[:2]
        self._data += block

    @property
    def end(self) -> int:
        return self.begin + len(self._data)

    def take(self, end: int) -> bytes:
        """Remove and return the bytes before a position in the file."""
        count = end - self.begin
        taken = bytes(self._data[:count])
        del self._data[:count]
        self.begin = end
        return taken

    def encoding(self, declared: str) -> str:
        """Return the encoding of the file for Python."""
        if self._mark in (codecs.BOM_UTF16_LE, b"<\x00"):
            return "utf-16-le"
        return "utf-16-be" if self._mark in (codecs.BOM_UTF16_BE, b"\x00<") else declared


def _after_tag(data: bytes, place: int, encoding: str) -> bytes:
    """Return what follows the tag at a place; it has no attributes."""
    end = ">".encode(encoding)
    return data[data.index(end, place) + len(end) :]


def _to_translate(text: str, line: int, before: bytes, after: bytes | None, language: str, encoding: str) -> Unit:
    """Return the unit of a text, whose variant is written between `before` and `after`.

    Without `after`, the variant is written on a line like that of `</tu>`, which follows `before`.
    """
    tag = _escape(standard_tag(language))
    head = f'<tuv xml:lang="{tag}" creationtool="PocketMT" creationtoolversion="{__version__}"><seg>'
    decoded = before[-256:].decode(encoding, "replace")
    indentation = decoded[len(decoded.rstrip(" \t\r\n")) :]

    def encode(content: str) -> bytes:
        return content.encode(encoding, "xmlcharrefreplace")

    return Unit(
        lines=tuple(text.split("\n")),
        before=before + encode(head),
        encode=lambda translation: encode(_escape(translation)),
        after=encode("</seg></tuv>") + (encode(indentation) if after is None else after),
        line=line,
    )


def _escape(text: str) -> str:
    """Return text as XML; characters that XML does not allow become U+FFFD."""
    allowed = _FORBIDDEN.sub("\ufffd", text)
    return allowed.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def _pair(unit: TranslationUnit, languages: Languages | None) -> tuple[str, str] | None:
    if languages is None:
        return None
    source, target = unit.tags(languages)
    return None if source is None or target is None else (unit.variants[source], unit.variants[target])


def _only_languages(parser: TmxParser, unit: TranslationUnit, name: str) -> Languages | None:
    """Return the language of the header and the only other one of a unit; None if there is no other."""
    source = parser.source_language
    others = [tag for tag in unit.variants if primary_subtag(tag) != primary_subtag(source)]
    if not source or len({primary_subtag(tag) for tag in others}) > 1:
        tags = ", ".join(sorted(unit.variants))
        raise DataError(f"{name}: a unit has text in {tags}: name the two languages to read")
    return (source, others[0]) if others else None


def _report(parser: TmxParser, name: str, languages: Languages, counts: dict[str, int], warn: Warn) -> None:
    source, target = languages
    if counts["missing"] and not counts["translated"] and not counts["kept"]:
        tags = ", ".join(sorted(parser.languages)) or "none"
        raise DataError(f"{name}: no unit has text in {source}, which the model translates (languages: {tags})")
    if counts["missing"]:
        warn(f"{name}: left unchanged: {_units(counts['missing'])} without text in {source}")
    if counts["kept"]:
        warn(f"{name}: left unchanged: {_units(counts['kept'])} with text in {target}")
    if counts["codes"]:
        warn(f"{name}: the translations lack the inline elements of {_units(counts['codes'])}")


def _units(count: int) -> str:
    return "1 unit" if count == 1 else f"{count:,} units"
