"""Pairs whose source is as users type it: without apostrophes or umlauts, in British spelling, or with a slip."""

import random
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Final

from examples.everyday.phrase_book.nouns import Pair, article_before
from examples.everyday.phrase_book.tables import read_table

_CONTRACTION: Final = re.compile(r"(?<=[a-z])['’](?=(?:t|m|s|re|ve|ll|d)\b)", re.IGNORECASE)
_ASCII: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})
_LONG_WORD: Final = re.compile(r"[^\W\d_]{5,}")
# Of a hundred pairs that can have such a form.
_SHARES: Final = {"without_apostrophes": 30, "in_british": 200, "in_title_case": 6, "with_a_slip": 8, "in_ascii": 12}


def typed_pairs(pairs: Iterable[Pair], draw: random.Random, language: str) -> Iterator[Pair]:
    """Yield pairs with another form of the source, in a given share of those that can have it.

    Args:
        pairs: a line and its translation each.
        draw: source of randomness.
        language: of the source: "en" or "de".
    """
    forms: list[Callable[[str, random.Random], str]] = [with_a_slip]
    forms += [without_apostrophes, in_british, in_title_case] if language == "en" else [in_ascii]
    for source, target in pairs:
        for form in forms:
            for _ in range(_SHARES[form.__name__] // 100 + (draw.random() * 100 < _SHARES[form.__name__] % 100)):
                typed = form(source, draw)
                if typed != source:
                    yield typed, _with_end_of(typed, source, target)


def without_apostrophes(line: str, draw: random.Random) -> str:
    """Return an English line whose contractions lack the apostrophe, mostly in lower case: "dont worry"."""
    typed = _CONTRACTION.sub("", line)
    if typed == line:
        return line
    typed = typed.lower() if draw.random() < 0.7 else typed
    return typed.rstrip(".") if draw.random() < 0.6 else typed


def in_british(line: str, _: random.Random) -> str:
    """Return an English line with British spellings and words."""
    spellings = _spellings()

    def replaced(match: re.Match[str]) -> str:
        british = _capitalized_as(match["word"], spellings[match["word"].lower()])
        if match["article"] is None:
            return british
        return f"{_capitalized_as(match['article'], article_before(british))} {british}"

    return _american().sub(replaced, line)


def in_title_case(line: str, _: random.Random) -> str:
    """Return a line whose words all begin with a capital, unless it has one word."""
    words = line.split(" ")
    return " ".join(word[:1].upper() + word[1:] for word in words) if len(words) > 1 else line


def in_ascii(line: str, draw: random.Random) -> str:
    """Return a German line without umlauts and ß, often in lower case: "danke schoen"."""
    typed = line.translate(_ASCII)
    return typed.lower() if typed != line and draw.random() < 0.5 else typed


def with_a_slip(line: str, draw: random.Random) -> str:
    """Return a line in one of whose long words two letters are exchanged, or one is lost or doubled."""
    words = list(_LONG_WORD.finditer(line))
    if not words:
        return line
    word = draw.choice(words)
    place = draw.randrange(word.start() + 1, word.end() - 1)
    first, second = line[place], line[place + 1]
    slip = draw.choice((second + first, second + first, second, first + first + second))
    return line[:place] + slip + line[place + 2 :]


def _with_end_of(typed: str, source: str, target: str) -> str:
    """Return a target without its full stop if its source was typed without one."""
    return target.removesuffix(".") if source.endswith(".") and not typed.endswith(".") else target


@cache
def _spellings() -> dict[str, str]:
    return {american: british for american, british in read_table("british", 2)}


@cache
def _american() -> re.Pattern[str]:
    words = "|".join(sorted(_spellings(), key=len, reverse=True))
    return re.compile(rf"\b(?:(?P<article>an?) )?(?P<word>{words})\b", re.IGNORECASE)


def _capitalized_as(word: str, other: str) -> str:
    return other[0].upper() + other[1:] if word[0].isupper() else other
