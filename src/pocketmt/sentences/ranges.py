"""Ranges of whole numbers, such as 3-5, that a translation changed into another number, such as 35."""

from collections.abc import Iterator
from typing import Final

from pocketmt.lazy_pattern import lazy_pattern
from pocketmt.sentences.protected import Part, may_have_parts

_RANGE: Final = lazy_pattern(r"(?<![\w.,:/'’–—-])(\d{1,4})[ \u00a0]?[-–—][ \u00a0]?(\d{1,4})(?![\w/–—-]|[.,:'’]\d)")
_DIGITS: Final = lazy_pattern(r"\d+")


def changed_ranges(source: str, translation: str) -> list[Part]:
    """Return the ranges of a source text of which a translation lacks a number, if it has one that the source lacks.

    A range may have become words. Its first number is the smaller one, unlike in many results of games.
    """
    ranges = list(_ranges(source)) if may_have_parts(source) else []
    if not ranges:
        return []
    found = set(_DIGITS.findall(translation))
    if found <= set(_DIGITS.findall(source)):
        return []
    return [part for numbers, part in ranges if not found.issuperset(numbers)]


def _ranges(text: str) -> Iterator[tuple[tuple[str, str], Part]]:
    for match in _RANGE.finditer(text):
        if int(match[1]) < int(match[2]):
            yield (match[1], match[2]), Part(match.start(), match[0], is_of_number=True)
