"""Marks around sentences that are copied: of lists, headings, quotations, brackets, emphasis, and cells of tables."""

import re
from collections.abc import Iterator
from typing import Final

from pocketmt.sentences.abbreviations import ORDINAL_LANGUAGES

_MARKER: Final = re.compile(
    r"(?:[-–—*•‣◦▪·●○]|#{1,6}|>{1,3}|\[[ xX]?\]|\(?(?P<ordinal>\d{1,3})\.|\(?(?:\d{1,3}|[A-Za-z])\))[ \u00a0\t]+(?=\S)"
)
_MOST_MARKERS: Final = 4  # such as "> - [ ] text"
_MONTH: Final = re.compile(
    r"(?:Januar|Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember)\b"
)
_BRACKETS: Final = {"(": ")", "[": "]"}
_EMPHASIS: Final = re.compile(r"(?P<mark>(?P<sign>[*_~`])(?P=sign){0,2})(?=[^\s*_~`])")
_LABEL: Final = re.compile(r"\[(?=\S)[^\[\]]{1,60}\](?=\s)")  # such as "[laughs]" at the beginning


def cells(line: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of the parts of a line between tabs, and between the bars of a table's row."""
    if "\t" not in line and "|" not in line:
        yield 0, len(line)
        return
    text = line.strip()
    is_row = len(text) > 1 and text.startswith("|") and text.endswith("|")
    start = 0
    for match in re.finditer(r"[\t|]" if is_row else r"\t", line):
        yield start, match.start()
        if match[0] == "|":
            yield match.span()
        start = match.end()
    yield start, len(line)


def marker_end(line: str, start: int, end: int, language: str) -> int:
    """Return the end of the markers that a part of a line begins with, such as "- " and "1. "; `start` if it has none.

    In languages whose ordinal numbers have a full stop, "3. Mai" and "1. deutsche" begin with one.
    """
    position = start + len(line[start:end]) - len(line[start:end].lstrip())
    found = start
    for _ in range(_MOST_MARKERS):
        match = _MARKER.match(line, position, end)
        if match is None or (match["ordinal"] and language in ORDINAL_LANGUAGES and _is_ordinal(line, match.end())):
            break
        position = found = match.end()
    return found


def _is_ordinal(line: str, following: int) -> bool:
    return line[following].islower() or _MONTH.match(line, following) is not None


def marks_around(text: str) -> list[tuple[int, int]]:
    """Return start and end of the marks of a sentence that are copied.

    These are a pair of brackets or of signs of emphasis around all of it, and square brackets around its first words.
    """
    closing = _BRACKETS.get(text[:1])
    if closing is not None and text.endswith(closing) and not {text[0], closing} & {*text[1:-1]}:
        return [(0, 1), (len(text) - 1, len(text))]
    match = _EMPHASIS.match(text)
    if match is not None:
        mark = match["mark"]
        inner = text[len(mark) : -len(mark)]
        if text.endswith(mark) and inner and match["sign"] not in inner and not inner[-1].isspace():
            return [match.span(), (len(text) - len(mark), len(text))]
    match = _LABEL.match(text)
    return [(0, 1), (match.end() - 1, match.end())] if match is not None else []
