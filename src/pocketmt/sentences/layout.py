"""Marks around sentences that are copied: of lists, headings, quotations, brackets, emphasis, and cells of tables."""

from collections.abc import Iterator
from typing import Final

from pocketmt.lazy_pattern import lazy_pattern
from pocketmt.sentences.abbreviations import ORDINAL_LANGUAGES
from pocketmt.sentences.protected import protected_spans

_MARKER: Final = lazy_pattern(
    r"(?:[-–—*•‣◦▪·●○]|#{1,6}|>{1,3}|\[[ xX]?\]|\(?(?P<ordinal>\d{1,3})\.|\(?(?:\d{1,3}|[A-Za-z])\))(?:[ \u00a0]+|$)"
)
_MOST_MARKERS: Final = 4  # such as "> - [ ] text"
# What follows an ordinal number more often than the first word of an item of a list: months, and some German nouns.
_AFTER_ORDINAL: Final = lazy_pattern(
    r"(?:Jan(?:uar)?|Jänner|Feb(?:ruar)?|März|Apr(?:il)?|Mai|Juni?|Juli?|Aug(?:ust)?|Sept?(?:ember)?|Okt(?:ober)?"
    r"|Nov(?:ember)?|Dez(?:ember)?|Ocak|Şubat|Mart|Nisan|Mayıs|Haziran|Temmuz|Ağustos|Eylül|Ekim|Kasım|Aralık|Dünya"
    r"|Jahrhunderts?|Jahrestag|Geburtstag|Weltkriegs?|Klasse|Stock|Etage|Platz|Liga|Bundesliga|Advent|Kapitel|Teil|Akt"
    r"|Tag)\b|\d"
)
_SIGNS: Final = "\t|·•"
_SEPARATOR: Final = lazy_pattern(r"\t|(?<!\S)[|·•](?!\S)")
_ROW: Final = lazy_pattern(r"[\t|]|(?<!\S)[·•](?!\S)")
_BRACKETS: Final = {"(": ")", "[": "]"}
_EMPHASIS: Final = lazy_pattern(r"(?P<mark>(?P<sign>[*~])(?P=sign){0,2})(?=[^\s*~])")
_CODE: Final = lazy_pattern(r"`[^`]+`")
_SMILEY_AT_END: Final = lazy_pattern(r"[:;=]['’]?-?$")
_LABEL: Final = lazy_pattern(r"\[[^\W\d_A-Z][^\[\]]{1,59}\](?=\s)")  # such as "[laughs]" at the beginning
_ELLIPSIS: Final = lazy_pattern(r"(?:\.{2,}|…)(?=[^\W_])")  # at the beginning


def cells(line: str) -> Iterator[tuple[int, int, bool]]:
    """Yield start and end of the parts of a line between tabs and bars, and of the bars, and which are bars.

    Bars are those of a table's row, and signs between spaces, as in "Home | Contact", not within placeholders and code.
    """
    if not any(sign in line for sign in _SIGNS):
        yield 0, len(line), False
        return
    text = line.strip()
    is_row = len(text) > 1 and text.startswith("|") and text.endswith("|")
    within = _places_within(line)
    start = 0
    for match in (_ROW if is_row else _SEPARATOR).finditer(line):
        if match.start() in within:
            continue
        yield start, match.start(), False
        if match[0] != "\t":
            yield match.start(), match.end(), True
        start = match.end()
    yield start, len(line), False


def _places_within(line: str) -> set[int]:
    """Return the places of the characters within placeholders, tags and code."""
    spans = [*protected_spans(line), *(match.span() for match in _CODE.finditer(line))] if "|" in line else []
    return {place for first, last in spans for place in range(first, last)}


def marker_end(line: str, start: int, end: int, language: str) -> int:
    """Return the end of the markers that a part of a line begins with, such as "- " and "1. "; `start` if it has none.

    In languages whose ordinal numbers have a full stop, "3. Mai" and "1. deutsche" begin with one.
    """
    part = line[start:end]
    position = len(part) - len(part.lstrip())
    found = 0
    for _ in range(_MOST_MARKERS):
        match = _MARKER.match(part, position)
        if match is None or (match["ordinal"] and language in ORDINAL_LANGUAGES and _is_ordinal(part, match.end())):
            break
        position = found = match.end()
    return start + found


def _is_ordinal(part: str, following: int) -> bool:
    return part[following : following + 1].islower() or _AFTER_ORDINAL.match(part, following) is not None


def marks_around(text: str) -> list[tuple[int, int]]:
    """Return start and end of the marks of a sentence that are copied, in their order.

    These are brackets and signs of emphasis around all of it, square brackets around its first words in lower case,
    code between backquotes that is all of it, and an ellipsis that touches its first word.
    """
    length = _length_around(text)
    if length:
        inner = marks_around(text[length:-length])
        moved = [(start + length, end + length) for start, end in inner]
        return [(0, length), *moved, (len(text) - length, len(text))]
    if _CODE.fullmatch(text):
        return [(0, len(text))]
    match = _ELLIPSIS.match(text)
    if match is not None:
        return [match.span()]
    match = _LABEL.match(text)
    return [(0, 1), (match.end() - 1, match.end())] if match is not None else []


def _length_around(text: str) -> int:
    """Return the length of the mark that a sentence begins with, and ends with the other of; 0: there is none."""
    closing = _BRACKETS.get(text[:1])
    if closing is not None and text.endswith(closing) and len(text) > len("()"):
        is_single = not {text[0], closing} & {*text[1:-1]}
        return 1 if is_single and _SMILEY_AT_END.search(text[-5:-1]) is None else 0
    match = _EMPHASIS.match(text)
    if match is None or not text.endswith(match["mark"]):
        return 0
    inner = text[match.end() : -len(match["mark"])]
    return match.end() if inner and match["sign"] not in inner and not inner[-1].isspace() else 0
