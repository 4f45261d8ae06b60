"""Lists of nouns, numbers and days, whose parts a model may neither lose nor repeat."""

import random
from collections.abc import Callable, Iterator
from typing import Final

from examples.everyday.number_words import english_number, german_number
from examples.everyday.phrase_book.nouns import Pair, mass_nouns, nouns
from examples.everyday.phrase_book.tables import read_table

LISTS: Final = 9_000
_SHORTEST: Final = 3
_LONGEST: Final = 8
_WEIGHTS: Final = (2, 1, 1)  # of lists of things, days and numbers
_DAYS: Final = [
    ("Monday", "Montag"), ("Tuesday", "Dienstag"), ("Wednesday", "Mittwoch"), ("Thursday", "Donnerstag"),
    ("Friday", "Freitag"), ("Saturday", "Samstag"), ("Sunday", "Sonntag"),
]  # fmt: skip


def list_pairs(draw: random.Random) -> Iterator[Pair]:
    """Yield sentences with lists of three to eight parts, and lists alone."""
    things = [(each.english_plural, each.german_plural) for each in nouns()]
    things += [(each.english, each.german) for each in mass_nouns()] * 3
    kinds: dict[str, Callable[[int], list[Pair]]] = {
        "lists": lambda count: draw.sample(things, count),
        "lists_of_days": lambda count: _days(draw, count),
        "lists_of_numbers": lambda count: _numbers(draw, count),
    }
    sentences = {table: read_table(table, 2) for table in kinds}
    for _ in range(LISTS):
        table = draw.choices(list(kinds), _WEIGHTS)[0]
        english, german = zip(*kinds[table](draw.randint(_SHORTEST, _LONGEST)), strict=True)
        sentence, translation = draw.choice(sentences[table])
        last = draw.random() < 0.6
        yield sentence.format(_joined(english, "and", last=last)), translation.format(_joined(german, "und", last=last))


def _days(draw: random.Random, count: int) -> list[Pair]:
    start = draw.randrange(len(_DAYS))
    return (_DAYS + _DAYS)[start : start + min(count, len(_DAYS))]


def _numbers(draw: random.Random, count: int) -> list[Pair]:
    start = draw.choice((1, 1, draw.randint(1, 90)))
    numbers = range(start, start + draw.choice((count, 10)))
    return [(english_number(number), "eins" if number == 1 else german_number(number)) for number in numbers]


def _joined(words: tuple[str, ...], conjunction: str, *, last: bool) -> str:
    if not last:
        return ", ".join(words)
    return f"{', '.join(words[:-1])} {conjunction} {words[-1]}"
