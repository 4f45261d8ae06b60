"""Numbers as languages write them: 1,250.5 in English is 1.250,5 in German."""

import re
from functools import cache
from typing import Final, NamedTuple

from pocketmt.lazy_pattern import lazy_pattern

_NO_BREAK_SPACE: Final = "\u00a0"
_NARROW_SPACE: Final = "\u202f"
# By the signs between groups of three digits and before the decimals, mostly as in the Unicode CLDR. Languages with
# other large numbers, such as Chinese and Hindi, are left out.
_LANGUAGES: Final = {
    (",", "."): "en he th ms ga cy mt sw fil tl",
    (".", ","): "de es it pt nl da id tr el hr sl sr sh bs ro vi ca gl eu is mk az",
    (_NO_BREAK_SPACE, ","): "ru uk be pl cs sk sv nb nn no fi et lv lt hu bg kk hy ka sq uz ky af",
    (_NARROW_SPACE, ","): "fr eo",
}
_FOUR_WITHOUT_SIGN: Final = frozenset(  # which write 1234 so
    ("be", "bg", "es", "et", "hu", "hy", "it", "ka", "lv", "pl", "sl", "sq")
)
_OTHER_GROUPS: Final = "\u00a0\u202f'’"  # which any language may have
_LEAST_EXACT: Final = 3  # digits, without zeros at the end, of a large number that is rarely written as words
_DATE: Final = lazy_pattern(r"\d{1,2}\.\d{1,2}\.(?:\d\d|\d{4})|\d{4}\.\d{1,2}\.\d{1,2}")
_VERSION: Final = lazy_pattern(r"\d+(?:\.\d+){2,}")
_ADDRESS: Final = lazy_pattern(r"(?!0)\d{1,3}(?:\.(?:0|[1-9]\d{0,2})){3}")
_GROUPS: Final = lazy_pattern(r"[1-9]\d{0,2}(?:\.\d{3})+")
_BOTH_SIGNS: Final = lazy_pattern(
    r"(?P<whole>[1-9]\d{0,2}(?P<group>[.,'’])\d{3}(?:(?P=group)\d{3})*)(?!(?P=group))[.,](?P<decimals>\d+)"
)
_PAIR: Final = lazy_pattern(r"(?![1-9]\d{0,2}[.,]\d{3}$)\d+[.,:]\d+")
_NUMBER: Final = lazy_pattern(rf"\d(?:[\d.,{_OTHER_GROUPS} ]*\d)?")
_TIME: Final = lazy_pattern(r"(?:[01]?\d|2[0-4])(?:[.:][0-5]\d)?")
_TIME_OF_HALF_DAY: Final = lazy_pattern(r"(0?[1-9]|1[0-2])[.:]([0-5][0-9])")
_AFTERNOON: Final = lazy_pattern(r"\s?[pP]\.?[mM](?!\w)")
_BEFORE_TIME: Final = lazy_pattern(
    r"(?i)\b(?:at|by|until|till|before|after|since|from|between|um|bis|vor|nach|seit|gegen)\s$"
)
# Or it is the first of two, as in "13 bis 15 Uhr".
_AFTER_TIME: Final = lazy_pattern(
    r"(?i)(?:\s?(?:and|bis|to|und|[-–])\s?[\d:.]{1,5})?\s?(?:[ap]\.?m\b|o['’]clock|uhr\b|h\b)"
)
# A name, such as that of a program, or another word that has numbers of versions or sections after it.
_BEFORE_VERSION: Final = lazy_pattern(
    r"(?:\b(?:\w+[A-Z]\w*|Python|Windows|Android|Java|Linux|Ubuntu|Bluetooth)"
    r"|\b(?i:(?:version|release|section|chapter|part|figure|fig|table|update|v|room|page|p|lesson|exercise|rule|model|level"
    r"|unit|gate|scene|step|question|article|paragraph|season|episode|volume|no|nr|abschnitt|kapitel|seite|abbildung|abb"
    r"|tabelle|nummer)s?\.?)|§)\s?$"
)
_MINOR: Final = lazy_pattern(r"\d+\.\d{1,2}")


class NumberFormat(NamedTuple):
    """How a language writes numbers.

    Attributes:
        group: the sign between groups of three digits.
        decimal: the sign before the decimals.
        least_grouped: digits of a number that has groups.
    """

    group: str
    decimal: str
    least_grouped: int = 4


class NumberFormats(NamedTuple):
    """The formats of a translation's two languages."""

    source: NumberFormat
    target: NumberFormat


class Number(NamedTuple):
    """A number: the digits of its whole part and its decimals, and whether it is written in groups of three digits."""

    whole: str
    decimals: str = ""
    in_groups: bool = False

    @property
    def value(self) -> str:
        """The number in a form of which each value has one; a whole number without signs keeps its zeros: 007."""
        decimals = self.decimals.rstrip("0")
        whole = (self.whole.lstrip("0") or "0") if self.decimals or self.in_groups else self.whole
        return f"{whole}.{decimals}" if decimals else whole

    @property
    def is_exact(self) -> bool:
        """Whether it is rarely written as words, unlike 16, 300 and 5,000: it has decimals, or is 110 or 1,250."""
        if self.decimals:
            return True
        if self.in_groups:
            return len(self.whole.rstrip("0")) >= _LEAST_EXACT
        return len(self.whole) >= _LEAST_EXACT and not self.whole.endswith("00")


@cache
def number_formats(source: str, target: str) -> NumberFormats | None:
    """Return the formats of two languages, given by their codes without script and region; None if one is not known."""
    written, expected = _format(source), _format(target)
    return None if written is None or expected is None else NumberFormats(written, expected)


def _format(language: str) -> NumberFormat | None:
    least = 5 if language in _FOUR_WITHOUT_SIGN else 4
    return next((NumberFormat(*signs, least) for signs, codes in _LANGUAGES.items() if language in codes.split()), None)


def read_number(text: str, written: NumberFormat) -> Number | None:
    """Return the number that a text is in a format; None: it is none.

    Any language may have apostrophes or no-break spaces between groups, and numbers with two kinds of signs, of which
    the last is before the decimals, are those of any format. Groups with plain spaces are read in the languages that
    write spaces; elsewhere, "12 345" may be two numbers.
    """
    if _ADDRESS.fullmatch(text) and _is_address(text):
        return None
    match = _pattern(written).fullmatch(text) or _BOTH_SIGNS.fullmatch(text)
    if match is None:
        return None
    whole = "".join(filter(str.isdecimal, match["whole"]))
    return Number(whole, match["decimals"] or "", whole != match["whole"])


@cache
def _pattern(written: NumberFormat) -> re.Pattern[str]:
    space = " " if written.group.isspace() else ""
    group = re.escape("".join(sorted({*_OTHER_GROUPS, written.group, *space})))
    return re.compile(
        rf"(?P<whole>[1-9]\d{{0,2}}(?P<sign>[{group}])\d{{3}}(?:(?P=sign)\d{{3}})*|\d+)"
        rf"(?:{re.escape(written.decimal)}(?P<decimals>\d+))?"
    )


def rewritten_in(text: str, formats: NumberFormats) -> str:
    """Return a text, such as an amount, with its number as the target language writes it.

    What is no number in the source's format stays as it is.
    """
    return _NUMBER.sub(lambda match: _rewritten(match[0], formats), text)


def _rewritten(text: str, formats: NumberFormats) -> str:
    number = read_number(text, formats.source)
    if number is None or not (number.in_groups or number.decimals):
        return text
    target, whole, groups = formats.target, number.whole, []
    while number.in_groups and len(number.whole) >= target.least_grouped and len(whole) > 3:
        whole, group = whole[:-3], whole[-3:]
        groups.append(group)
    whole = target.group.join([whole, *reversed(groups)])
    return f"{whole}{target.decimal}{number.decimals}" if number.decimals else whole


def is_version(text: str) -> bool:
    """Whether a text is a number of a version or an address, such as 2.13.0, and neither a date nor a large number."""
    if _ADDRESS.fullmatch(text) and _is_address(text):
        return True
    return _VERSION.fullmatch(text) is not None and _DATE.fullmatch(text) is None and _GROUPS.fullmatch(text) is None


def _is_address(text: str) -> bool:
    return all(int(part) < 256 for part in text.split("."))


def is_pair(text: str) -> bool:
    """Whether a text is two numbers with a sign between them, such as 3,14, 3.14 or 3:14, and surely not 3,140."""
    return _PAIR.fullmatch(text) is not None


def is_surely_time(text: str, before: str, after: str) -> bool:
    """Whether a number is a time of day in an English or German text, with the text before and after it."""
    is_beside = _BEFORE_TIME.search(before) is not None or _AFTER_TIME.match(after) is not None
    return is_beside and _TIME.fullmatch(text) is not None


def digits_in_24_hours(text: str, after: str) -> str:
    """Return the digits of a time as it is counted to 24: "1930" for "7:30" before " p.m."; "" for another number."""
    time = _TIME_OF_HALF_DAY.fullmatch(text)
    return f"{int(time[1]) % 12 + 12}{time[2]}" if time is not None and _AFTERNOON.match(after) else ""


def follows_name(text: str, before: str) -> bool:
    """Whether a number with a full stop follows a name, as in "Python 3.8", or a word such as "section"."""
    return _MINOR.fullmatch(text) is not None and _BEFORE_VERSION.search(before) is not None
