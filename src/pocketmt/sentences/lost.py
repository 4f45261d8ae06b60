"""Protected parts of a source text that its translation lacks."""

import re
from collections.abc import Iterable, Sequence
from typing import Final, Literal, NamedTuple

from pocketmt.lazy_pattern import lazy_pattern
from pocketmt.sentences.numbers import NumberFormat, NumberFormats, digits_in_24_hours, is_pair, is_version, read_number
from pocketmt.sentences.protected import (
    AMOUNT_SIGN,
    Exactness,
    Part,
    exactness,
    is_often_spelled_out,
    may_be_number,
    may_have_parts,
    number_part,
    protected_pattern,
    stands_apart,
)
from pocketmt.sentences.ranges import changed_ranges

Numbers = Literal["all", "exact", "none"]
_CURRENCY_NAME: Final = lazy_pattern(
    r"(?i:eur|pound|pfund|libra|livre|sterlin|yen|jen|rupee|rupi)|евро|фунт|иен|рупи|руб|ευρώ|円|元|유로|ユーロ"
)
_LONGEST_AFTERNOON: Final = len(" p.m.")
_ZEROS: Final = lazy_pattern(r"[.,]00$")  # of cents
_DOLLAR_NAME: Final = lazy_pattern(r"(?i)d[oóòôö]l+[aáeéo]r|долл|δολ|ドル|美元|달러|\d[ \u00a0]?\$")


class _Needed(NamedTuple):
    """A part that a translation needs, the forms of which one has to be there, and what it is."""

    match: re.Match[str]
    forms: tuple[str, ...]
    may_be_number: bool
    exactness: Exactness

    @property
    def text(self) -> str:
        """The part."""
        return self.match[0]


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

    A number needs its value, in the format of the target language: 1,000.5 is kept by 1.000,5 in German. Decimals may
    be written as in the source, and a time in the afternoon counted to 24: 7:14 p.m. is kept by 19:14. Without
    `formats`, or where a number is not in the format of its language, its digits are enough. A part that occurs twice
    is needed twice.

    Args:
        source: the text.
        translation: of the text.
        numbers: which are looked at; of ranges, see `changed_ranges`. All numbers include what may be an amount of
            dollars or a placeholder, such as "$1", but not whole numbers up to 12, because many languages write them as
            words. Exact ones are rarely written as words: they have three digits or more without two zeros at the end,
            or decimals, or are versions such as 2.13.0. Amounts such as "5 €" are exact, too, and need their sign, or
            the name of a currency in the translation. With these, other numbers, such as 6 and 10,000, count only if
            the translation has a number that the source lacks, but no times of day.
        formats: of the numbers of the source and the translation.
    """
    ranges = changed_ranges(source, translation) if numbers != "none" else []
    lost = _outside(ranges, _lost(source, translation, numbers, formats))
    return [part.text for part in sorted([*(Part(each.match.start(), each.text) for each in lost), *ranges])]


def lost_numbers(source: str, translation: str, formats: NumberFormats | None) -> list[Part]:
    """Return the numbers that are no exact ones, are changed in a translation, and stand apart, and changed ranges."""
    ranges = changed_ranges(source, translation)
    lost = _outside(ranges, _lost(source, translation, "exact", formats))
    return [*(number_part(each.match) for each in lost if each.exactness == "round"), *ranges]


def _outside(ranges: Sequence[Part], lost: Iterable[_Needed]) -> list[_Needed]:
    """Return the lost parts that are in no range."""
    within = {place for part in ranges for place in range(part.start, part.end)}
    return [each for each in lost if each.match.start() not in within]


def _lost(source: str, translation: str, numbers: Numbers, formats: NumberFormats | None) -> list[_Needed]:
    if source == translation or not may_have_parts(source):
        return []
    signs = numbers != "none" and not _CURRENCY_NAME.search(translation)
    written, expected = formats or (None, None)
    found = _Found(
        (_forms_found(match, expected, signs=signs), match["number"] is not None)
        for match in protected_pattern().finditer(translation)
    )
    dollars = _DOLLAR_NAME.search(translation) is not None
    missing = [each for each in _needed_parts(source, written, signs, dollars) if not found.take(each.forms)]
    is_changed = found.has_numbers_left()
    return [
        each
        for each in missing
        if not each.may_be_number
        or (numbers == "all" and not (dollars and each.match["dollars"]) and _is_written(each, signs=signs))
        or (numbers == "exact" and _is_lost(each, signs=signs, is_changed=is_changed))
    ]


def _is_written(missing: _Needed, *, signs: bool) -> bool:
    """Whether a number is written in digits in all languages."""
    return (signs and missing.exactness == "exact") or not is_often_spelled_out(missing.text)


def _is_lost(missing: _Needed, *, signs: bool, is_changed: bool) -> bool:
    """Whether a number that a translation lacks is surely lost; `is_changed`: the translation has another one."""
    if missing.exactness == "exact" and _is_written(missing, signs=signs):
        return True
    return is_changed and missing.exactness != "none" and stands_apart(missing.match)


def _needed_parts(text: str, written: NumberFormat | None, signs: bool, dollars: bool) -> list[_Needed]:
    return [
        _Needed(match, _forms_needed(match, written, signs, dollars), may_be_number(match), exactness(match, written))
        for match in protected_pattern().finditer(text)
    ]


def _forms_needed(match: re.Match[str], written: NumberFormat | None, signs: bool, dollars: bool) -> tuple[str, ...]:
    if dollars and match["dollars"]:
        digit = match[0].removeprefix("$")
        return match[0], digit, f"={digit}"
    if match["amount"] is None and match["number"] is None:
        return (match[0],)
    sign, number = _sign_and_number(match, signs=signs)
    digits = _digits(number)
    pairs = tuple(f"{sign}pair {each}" for each in _pairs(number, match))
    read = read_number(number, written) if written is not None else None
    if read is None:
        is_other = written is not None and is_version(number)
        return (f"{sign}version {number}",) if is_other else pairs or (sign + digits,)
    return (f"{sign}={read.value}", *(pairs if read.decimals else ()))


def _forms_found(match: re.Match[str], written: NumberFormat | None, *, signs: bool) -> tuple[str, ...]:
    if match["amount"] is None and match["number"] is None:
        return (match[0],)
    sign, number = _sign_and_number(match, signs=signs)
    digits = _digits(number)
    read = read_number(number, written) if written is not None else None
    forms = [digits]
    if read is not None:
        forms.append(f"={read.value}")
    elif " " in number:  # Some write spaces between groups in any language.
        forms.append(f"={digits}")
    forms += [f"pair {each}" for each in _pairs(number, match)]
    if is_version(number):
        forms.append(f"version {number}")
    # A number without a sign may have one in the translation.
    return tuple(prefix + form for prefix in dict.fromkeys((sign, "")) for form in forms)


def _sign_and_number(match: re.Match[str], *, signs: bool) -> tuple[str, str]:
    """Return the sign of an amount if it is compared, and the number; then cents of 00 are left out."""
    if match["amount"] is None:
        return "", match[0]
    number = AMOUNT_SIGN.sub("", match[0]).strip()
    return ("".join(AMOUNT_SIGN.findall(match[0])), _ZEROS.sub("", number)) if signs else ("", number)


def _pairs(number: str, match: re.Match[str]) -> list[str]:
    """Return the digits of a number with a sign in it, and those of a time in the afternoon as it is counted to 24."""
    if not is_pair(number):
        return []
    in_24_hours = digits_in_24_hours(match[0], match.string[match.end() : match.end() + _LONGEST_AFTERNOON])
    return [_digits(number), *([in_24_hours] if in_24_hours else [])]


def _digits(number: str) -> str:
    return "".join(filter(str.isdecimal, number))
