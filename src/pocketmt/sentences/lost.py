"""Protected parts of a source text that its translation lacks."""

import re
from collections.abc import Iterable
from typing import Final, Literal, NamedTuple

from pocketmt.sentences.numbers import NumberFormat, NumberFormats, read_number, time_of_day
from pocketmt.sentences.protected import (
    AMOUNT_SIGN,
    Exactness,
    exactness,
    may_be_number,
    may_have_parts,
    protected_pattern,
)

Numbers = Literal["all", "exact", "none"]
_CURRENCY_NAME: Final = re.compile(
    r"(?i:eur|pound|pfund|libra|livre|sterlin|yen|jen|rupee|rupi)|евро|фунт|иен|рупи|руб|ευρώ|円|元|유로|ユーロ"
)
_ZEROS: Final = re.compile(r"[.,]00$")  # of cents
# Numbers up to this one are often written as words, so they are not asked for.
_SPELLED_OUT: Final = 12


class _Needed(NamedTuple):
    """A part that a translation needs, the forms of which one has to be there, and what it is."""

    text: str
    forms: tuple[str, ...]
    may_be_number: bool
    exactness: Exactness


class _Found:
    """The parts of a translation; each can be taken once."""

    def __init__(self, parts: Iterable[tuple[tuple[str, ...], bool]]) -> None:
        self._by_form: dict[str, list[int]] = {}
        self._numbers: set[int] = set()
        for index, (forms, is_number) in enumerate(parts):
            for form in forms:
                self._by_form.setdefault(form, []).append(index)
            if is_number:
                self._numbers.add(index)
        self._taken: set[int] = set()

    def take(self, forms: Iterable[str]) -> bool:
        """Whether there is a part with one of the forms, which is then taken."""
        for form in forms:
            remaining = self._by_form.get(form, [])
            while remaining:
                index = remaining.pop()
                if index not in self._taken:
                    self._taken.add(index)
                    return True
        return False

    def has_numbers_left(self) -> bool:
        """Whether there are numbers that were not taken."""
        return not self._numbers <= self._taken


def lost_parts(
    source: str, translation: str, *, numbers: Numbers = "all", formats: NumberFormats | None = None
) -> list[str]:
    """Return the protected parts of a source text that its translation lacks, in their order.

    A number needs its value, in the format of the target language: 1,000.5 is kept by 1.000,5 in German. Without
    `formats`, or where a number is not in the format of its language, its digits are enough. Whole numbers up to 12
    are left out, because many languages write them as words. A part that occurs twice is needed twice.

    Args:
        source: the text.
        translation: of the text.
        numbers: which are looked at. All numbers include what may be an amount of dollars or a placeholder, such as
            "$1". Exact ones are rarely written as words: they have three digits or more without zeros at the end,
            decimals, or are versions such as 2.13.0. Round numbers in groups of three digits, such as 10,000, count
            only if the translation has a number that the source lacks. Amounts such as "5 €" are exact, too, and need
            their sign, or the name of a currency in the translation.
        formats: of the numbers of the source and the translation.
    """
    if source == translation or not may_have_parts(source):
        return []
    signs = numbers == "exact" and not _CURRENCY_NAME.search(translation)
    written, expected = formats or (None, None)
    found = _Found(
        (_forms_found(match, expected, signs=signs), match["number"] is not None)
        for match in protected_pattern().finditer(translation)
    )
    missing = [each for each in _needed_parts(source, written, signs=signs) if not found.take(each.forms)]
    kept = {"exact", "round"} if found.has_numbers_left() else {"exact"}
    return [
        each.text
        for each in missing
        if not each.may_be_number
        or (numbers == "all" and not _is_often_spelled_out(each.text))
        or (numbers == "exact" and each.exactness in kept and (signs or not _is_often_spelled_out(each.text)))
    ]


def _needed_parts(text: str, written: NumberFormat | None, *, signs: bool) -> list[_Needed]:
    return [
        _Needed(match[0], _forms_needed(match, written, signs=signs), may_be_number(match), exactness(match, written))
        for match in protected_pattern().finditer(text)
    ]


def _forms_needed(match: re.Match[str], written: NumberFormat | None, *, signs: bool) -> tuple[str, ...]:
    if match["amount"] is None and match["number"] is None:
        return (match[0],)
    sign, number = _sign_and_number(match, signs=signs)
    read = read_number(number, written) if written is not None else None
    if read is None:
        return (sign + _digits(number),)
    time = time_of_day(number)
    return (f"{sign}={read.value}", *([f"{sign}time {time}"] if time else []))


def _forms_found(match: re.Match[str], written: NumberFormat | None, *, signs: bool) -> tuple[str, ...]:
    if match["amount"] is None and match["number"] is None:
        return (match[0],)
    sign, number = _sign_and_number(match, signs=signs)
    read = read_number(number, written) if written is not None else None
    forms = (f"{sign}={read.value}",) if read is not None else ()
    time = time_of_day(number)
    return (*forms, sign + _digits(number), *([f"{sign}time {time}"] if time else []))


def _sign_and_number(match: re.Match[str], *, signs: bool) -> tuple[str, str]:
    """Return the sign of an amount if it is compared, and the number; then cents of 00 are left out."""
    if match["amount"] is None:
        return "", match[0]
    number = AMOUNT_SIGN.sub("", match[0]).strip()
    return ("".join(AMOUNT_SIGN.findall(match[0])), _ZEROS.sub("", number)) if signs else ("", number)


def _digits(number: str) -> str:
    return "".join(filter(str.isdecimal, number))


def _is_often_spelled_out(part: str) -> bool:
    number = AMOUNT_SIGN.sub("", part).strip()
    return len(number) <= 2 and number.isdecimal() and int(number) <= _SPELLED_OUT
