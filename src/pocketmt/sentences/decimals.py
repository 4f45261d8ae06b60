"""Decimals that a translation has as its source writes them, such as those of "2.5 Euro"."""

import re
from typing import Final

from pocketmt.lazy_pattern import lazy_pattern
from pocketmt.sentences.numbers import NumberFormats, follows_name, is_pair, read_number, rewritten_in
from pocketmt.sentences.protected import AMOUNT_SIGN, is_time, protected_pattern, stands_apart, text_before
from pocketmt.sentences.stand_ins import StandIn

_DECIMALS: Final = lazy_pattern(r"\d[.,]\d")
_MAY_BE_DATE: Final = lazy_pattern(r"(?:0?[1-9]|[12]\d|3[01])\.(?:0?[1-9]|1[0-2])")
_BEFORE_DATE: Final = lazy_pattern(r"(?i)\b(?:on|until|till|since)\s$")
_BEFORE_GERMAN_DATE: Final = lazy_pattern(r"(?i)\b(?:am|vom|zum|bis|seit)\s$")
_AFTER_DATE: Final = lazy_pattern(r"\.\s")
_MAY_BE_VERSION: Final = lazy_pattern(r"\d+\.\d{1,2}")
_NAME: Final = lazy_pattern(r"\b[A-Z]\w\w+\s$")
_NAME_WITHIN_SENTENCE: Final = lazy_pattern(r"\w[^\w.!?]+[A-Z]\w*\s$")
# What shows that a number is a quantity: a sign or a word after it, perhaps after more numbers, or a sign before it.
_QUANTITY: Final = lazy_pattern(
    r"(?:[ ,–-]{0,2}(?:to|and|or|by|bis|und|oder|mal|x)?[ ]?\d{1,9}(?:[.,]\d{1,9})?){0,4}"
    r"[ \u00a0\u202f-]?(?:[%‰°$]|(?P<word>[^\W\d_]+))"
)
_SIGN_BEFORE: Final = lazy_pattern(r"\$\s?$")
_NO_UNITS: Final = """
to and or but is was are were has had have says said in on at for of the a an with by from as than that which bis und
oder ist war sind waren hat haben sagt im am an auf für von vom zum mit als dass
"""
_LONGEST_SYMBOL: Final = 3  # letters, such as "GHz"


def kept_decimals(source: str, translation: str, formats: NumberFormats | None) -> list[StandIn]:
    """Return the quantities of a translation whose decimals are as in the source, and how the target writes them.

    None of a text with a number that may be a time, a date or a version. Numbers that either text has twice, or that
    touch letters, are left out.

    Args:
        source: the text.
        translation: of the text.
        formats: of the numbers of both; None: they are not known.
    """
    if formats is None or formats.source.decimal == formats.target.decimal:
        return []
    if not _DECIMALS.search(source) or not _DECIMALS.search(translation):
        return []
    in_translation = _pairs(translation)
    kept = []
    for number, match in _pairs(source).items():
        other = in_translation.get(number)
        read = read_number(number, formats.source)
        if match is None or other is None or read is None or not read.decimals:
            continue
        if _stays(number, match, other):
            return []
        if stands_apart(match) and stands_apart(other) and _is_quantity(match, formats.source.decimal):
            kept.append(StandIn(number, rewritten_in(number, formats), source=number))
    return kept


def _pairs(text: str) -> dict[str, re.Match[str] | None]:
    """Return the numbers with one sign of a text, each with its match; None: there are several."""
    found: dict[str, re.Match[str] | None] = {}
    for match in protected_pattern().finditer(text):
        number = AMOUNT_SIGN.sub("", match[0]).strip()
        if (match["number"] is not None or match["amount"] is not None) and is_pair(number):
            found[number] = None if number in found else match
    return found


def _is_quantity(match: re.Match[str], decimal: str) -> bool:
    if match["amount"] is not None or _SIGN_BEFORE.search(text_before(match)):
        return True
    after = _QUANTITY.match(match.string, match.end())
    if after is None or after["word"] is None:
        return after is not None
    word = after["word"]
    if word in _NO_UNITS.split():
        return False
    # Where numbers of sections have the same sign, a title may follow.
    return decimal != "." or word.islower() or len(word) <= _LONGEST_SYMBOL


def _stays(number: str, match: re.Match[str], other: re.Match[str]) -> bool:
    """Whether a number may be a time, a date or a version; `match` is in the source, `other` in the translation."""
    before, before_other = text_before(match), text_before(other)
    if is_time(match) or is_time(other):
        return True
    if _MAY_BE_DATE.fullmatch(number) and (
        _BEFORE_DATE.search(before)
        or _BEFORE_GERMAN_DATE.search(before_other)
        or _AFTER_DATE.match(match.string, match.end())
    ):
        return True
    if not _MAY_BE_VERSION.fullmatch(number):
        return False
    name, name_of_other = _NAME.search(before), _NAME.search(before_other)
    has_name = name is not None and name_of_other is not None and name[0] == name_of_other[0]
    return has_name or follows_name(number, before) or _NAME_WITHIN_SENTENCE.search(before) is not None
