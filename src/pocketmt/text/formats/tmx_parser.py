"""Reads the translation units of a TMX file (Translation Memory eXchange 1.4b) while its bytes arrive.

The parser is Python's expat. Entities that the file declares are refused, so that neither small files can expand to
large ones nor other files be read. A document type declaration that names the DTD is allowed; the DTD is not read.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final
from xml.parsers import expat

from pocketmt.errors import DataError
from pocketmt.text.formats.format import Languages
from pocketmt.text.language_tags import primary_subtag, standard_tag

MOST_UNIT_BYTES: Final = 16 << 20  # Bytes between the ends of two units.
_DEEPEST: Final = 100
# Elements that hold native codes of the document, which are not text.
_CODES: Final = frozenset({"bpt", "ept", "it", "ph", "ut", "sub"})


@dataclass
class TranslationUnit:
    """A `<tu>` element.

    Attributes:
        variants: text by the language tag of each `<tuv>`, in order; of equal tags the first counts.
        line: number of the line on which it begins, from 1.
        codes: whether inline elements were left out of a text.
        end: position of `</tu>` in the file, in bytes.
        blank: positions of `<tuv>` and `</tuv>`, by tag, of the variants without any text or inline elements.
    """

    line: int
    variants: dict[str, str] = field(default_factory=dict)
    codes: bool = False
    end: int = 0
    blank: dict[str, tuple[int, int]] = field(default_factory=dict)

    def tags(self, languages: Languages) -> tuple[str | None, str | None]:
        """Return the tags of the variants in two languages, each preferably of the same region; None if there is none.

        One variant is not both sides: for en-US and en-GB, en is the source, but en-GB is the target.
        """
        return _tags_of_sides(tuple(self.variants), languages)


@lru_cache(64)  # The units of a file have the same tags.
def _tags_of_sides(tags: tuple[str, ...], languages: Languages) -> tuple[str | None, str | None]:
    source, target = (_tags_in(language, tags) for language in languages)
    if not _is_same(*languages):
        # A variant in exactly the language of the other side is left to that side.
        source = [tag for tag in source if not _is_same(tag, languages[1])]
        target = [tag for tag in target if not _is_same(tag, languages[0]) and tag not in source[:1]]
    return next(iter(source), None), next(iter(target), None)


def _tags_in(language: str, tags: Iterable[str]) -> list[str]:
    """Return the tags of a language, first those of its region."""
    same = [tag for tag in tags if primary_subtag(tag) == primary_subtag(language)]
    return sorted(same, key=lambda tag: not _is_same(tag, language))


def _is_same(tag: str, other: str) -> bool:
    return standard_tag(tag).lower() == standard_tag(other).lower()


class TmxParser:
    """Reads translation units.

    Attributes:
        source_language: `srclang` of the header; empty before it, or if it names none.
        encoding: as the XML declaration names it; UTF-8 without one.
        languages: tags of all variants so far.
    """

    def __init__(self, name: str) -> None:
        """Read a file whose name is `name` in messages."""
        self.source_language = ""
        self.encoding = "UTF-8"
        self.languages: set[str] = set()
        self._name = name
        self._read = 0
        self._last_end = 0
        self._path: list[str] = []
        self._units: list[TranslationUnit] = []
        self._unit: TranslationUnit | None = None
        self._language = ""
        self._text: list[str] | None = None
        self._variant = 0  # Its position, in bytes.
        self._is_blank = False
        parser = expat.ParserCreate()
        # Otherwise expat 2.6 waits, after an unfinished tag, for as many bytes again, and reports units late.
        if hasattr(parser, "SetReparseDeferralEnabled"):
            parser.SetReparseDeferralEnabled(False)
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.XmlDeclHandler = self._declaration
        parser.EntityDeclHandler = self._refuse_entity
        parser.ExternalEntityRefHandler = self._refuse_reference
        parser.SkippedEntityHandler = self._refuse_reference
        self._parser = parser

    @property
    def in_unit(self) -> bool:
        """Whether a unit has begun and not ended."""
        return self._unit is not None

    @property
    def parsed(self) -> int:
        """Position in the file, in bytes, before which nothing is left to parse; it may lag behind what was fed."""
        return max(self._last_end, self._parser.CurrentByteIndex)  # The index is -1 after a feed that parsed nothing.

    def feed(self, data: bytes) -> list[TranslationUnit]:
        """Return the units that end in the next bytes of the file; no bytes are the end of the file.

        Raises DataError, with the line, if the file is not well-formed XML, has an encoding that expat cannot read, is
        not TMX, declares entities, or has more than `MOST_UNIT_BYTES` without the end of a unit.
        """
        try:
            self._parser.Parse(data, not data)
        except expat.ExpatError as error:
            reason = expat.errors.messages[error.code]
            raise DataError(
                f"{self._name}, line {error.lineno}: not well-formed XML ({reason}): export the file again"
            ) from error
        except (LookupError, ValueError) as error:  # Python has no such encoding of text, or expat cannot use it.
            raise self._error(f"cannot read the encoding {self.encoding[:40]!r}: convert it to UTF-8") from error
        self._read += len(data)
        units, self._units = self._units, []
        if units:
            self._last_end = units[-1].end
        if self._read - self._last_end > MOST_UNIT_BYTES:
            raise self._error(f"more than {MOST_UNIT_BYTES:,} bytes without a complete translation unit")
        return units

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if not self._path and name != "tmx":
            raise self._error(f"the first element is <{name[:40]}>, expected <tmx>")
        self._path.append(name)
        if len(self._path) > _DEEPEST:
            raise self._error(f"elements within more than {_DEEPEST} others")
        if name == "header":
            self.source_language = attributes.get("srclang", "").replace("*all*", "")
        elif name == "tu":
            if self._unit is not None:
                raise self._error("a <tu> within another")
            self._unit = TranslationUnit(self._parser.CurrentLineNumber)
        elif name == "tuv":
            self._variant, self._is_blank = self._parser.CurrentByteIndex, False
            self._language = attributes.get("xml:lang") or attributes.get("lang") or ""
            if not self._language:
                raise self._error("a <tuv> without xml:lang, the language of its text")
        elif name == "seg" and self._path[-2:-1] == ["tuv"]:
            self._text, self._is_blank = [], True
        elif self._text is not None and self._unit is not None:
            self._unit.codes, self._is_blank = True, False

    def _end(self, name: str) -> None:
        self._path.pop()
        if self._unit is None:
            return
        if name == "seg" and self._text is not None:
            text = "".join(self._text)
            self._is_blank &= not text.strip() and self._language not in self._unit.variants
            self.languages.add(self._language)
            self._unit.variants.setdefault(self._language, text)
            self._text = None
        elif name == "tuv" and self._is_blank:
            self._unit.blank[self._language] = self._variant, self._parser.CurrentByteIndex
            self._is_blank = False
        elif name == "tu":
            self._unit.end = self._parser.CurrentByteIndex
            self._units.append(self._unit)
            self._unit = None

    def _characters(self, text: str) -> None:
        if self._text is not None and _CODES.isdisjoint(self._path):
            self._text.append(text)

    def _declaration(self, version: str, encoding: str | None, standalone: int) -> None:
        self.encoding = encoding or self.encoding

    def _refuse_entity(self, name: str, *_: object) -> None:
        raise self._error(f"declares the entity {name[:40]!r}: entities are refused, write their text instead")

    def _refuse_reference(self, name: str, *_: object) -> int:
        raise self._error(f"refers to the external entity {name[:40]!r}, which is not read: write its text instead")

    def _error(self, message: str) -> DataError:
        return DataError(f"{self._name}, line {self._parser.CurrentLineNumber}: {message}")
