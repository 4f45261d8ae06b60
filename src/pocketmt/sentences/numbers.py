"""Numbers as languages write them: 1,250.5 in English is 1.250,5 in German."""

import re
from functools import cache
from typing import Final, NamedTuple

_NO_BREAK_SPACE: Final = "\u00a0"
# By the signs between groups of three digits and before the decimals, as in the Unicode CLDR.
_LANGUAGES: Final = {
    (",", "."): "en zh ja ko th he ms ga cy mt sw fil tl",
    (".", ","): "de es it pt nl da id tr el hr sl sr bs ro vi ca gl eu is mk az",
    (_NO_BREAK_SPACE, ","): "fr ru uk be pl cs sk sv nb nn no fi et lv lt hu bg kk hy ka sq uz ky af eo",
}
_OTHER_GROUPS: Final = " \u00a0\u202f'’"  # which any language may have
_LEAST_EXACT: Final = 3  # digits, without zeros at the end, of a number that is rarely written as words
_NUMBER: Final = re.compile(rf"\d(?:[\d.,{_OTHER_GROUPS}]*\d)?")
_DATE: Final = re.compile(r"\d{1,2}\.\d{1,2}\.(?:\d\d|\d{4})")
_VERSION: Final = re.compile(r"\d+(?:\.\d+){2,}")
_GROUPS: Final = re.compile(r"\d{1,3}(?:\.\d{3})+")
_TIME: Final = re.compile(r"(?:[01]?\d|2[0-4])[.:][0-5]\d")
_BEFORE_TIME: Final = re.compile(r"(?i)\b(?:at|until|till|before|after|since|from)\s$")
_AFTER_TIME: Final = re.compile(r"(?i)\s?(?:[ap]\.?m\b|o['’]clock|h\b)")


class NumberFormat(NamedTuple):
    """How a language writes numbers: the sign between groups of three digits, and that before the decimals."""

    group: str
    decimal: str


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
    def is_round(self) -> bool:
        """Whether it is a whole number that is often written as words, such as 5,000, but not 12 or 1,250."""
        return not self.decimals and len(self.whole.rstrip("0")) < _LEAST_EXACT


@cache
def number_formats(source: str, target: str) -> NumberFormats | None:
    """Return the formats of two languages, given by their codes without script and region; None if one is not known."""
    written, expected = _format(source), _format(target)
    return None if written is None or expected is None else NumberFormats(written, expected)


def _format(language: str) -> NumberFormat | None:
    return next((NumberFormat(*signs) for signs, codes in _LANGUAGES.items() if language in codes.split()), None)


def read_number(text: str, written: NumberFormat) -> Number | None:
    """Return the number that a text is in a format; None: it is none. Spaces and apostrophes may group digits, too."""
    match = _pattern(written).fullmatch(text)
    if match is None:
        return None
    whole = "".join(filter(str.isdecimal, match["whole"]))
    return Number(whole, match["decimals"] or "", whole != match["whole"])


@cache
def _pattern(written: NumberFormat) -> re.Pattern[str]:
    group = re.escape("".join({*_OTHER_GROUPS, written.group}))
    return re.compile(
        rf"(?P<whole>\d{{1,3}}(?P<sign>[{group}])\d{{3}}(?:(?P=sign)\d{{3}})*|\d+)"
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
    whole, groups = number.whole, []
    while number.in_groups and len(whole) > 3:
        whole, group = whole[:-3], whole[-3:]
        groups.append(group)
    whole = formats.target.group.join([whole, *reversed(groups)])
    return f"{whole}{formats.target.decimal}{number.decimals}" if number.decimals else whole


def is_version(text: str) -> bool:
    """Whether a text is a number of a version or an address, such as 2.13.0, and neither a date nor a large number."""
    return _VERSION.fullmatch(text) is not None and _DATE.fullmatch(text) is None and _GROUPS.fullmatch(text) is None


def time_of_day(text: str) -> str:
    """Return the digits of a text that may be a time of day, such as 8.30; empty: it is none."""
    return "".join(filter(str.isdecimal, text)) if _TIME.fullmatch(text) else ""


def is_surely_time(text: str, before: str, after: str) -> bool:
    """Whether a number is a time of day in an English text, with the text before and after it."""
    is_beside = _BEFORE_TIME.search(before) is not None or _AFTER_TIME.match(after) is not None
    return is_beside and time_of_day(text) != ""
