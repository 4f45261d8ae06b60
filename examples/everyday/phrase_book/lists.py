"""Lists of nouns, numbers, days and acronyms, whose parts a model may neither lose nor repeat."""

import random
from collections.abc import Callable, Iterator
from typing import Final

from examples.everyday.number_words import english_number, german_number
from examples.everyday.phrase_book.nouns import Pair, mass_nouns, nouns
from examples.everyday.phrase_book.tables import read_lines_of, read_table

LISTS: Final = 12_000
ACRONYMS: Final = 16  # sentences with each acronym
_SHORTEST: Final = 3
_LONGEST: Final = 8
_WEIGHTS: Final = (2, 1, 1)  # of lists of things, days and numbers
# Conjunction before the last part, or what stands after it.
_ENDS: Final = (
    ("", ""), ("", ""), ("and", "und"), ("and", "und"), ("and", "und"), ("or", "oder"),
    ("and so on", "und so weiter"), ("etc.", "usw."),
)  # fmt: skip
_DAYS: Final = [
    ("Monday", "Montag"), ("Tuesday", "Dienstag"), ("Wednesday", "Mittwoch"), ("Thursday", "Donnerstag"),
    ("Friday", "Freitag"), ("Saturday", "Samstag"), ("Sunday", "Sonntag"),
]  # fmt: skip


def list_pairs(draw: random.Random, *, into_german: bool) -> Iterator[Pair]:
    """Yield sentences with lists of three to eight parts, lists alone, and acronyms.

    Into German, English lists may have a comma before the conjunction.
    """
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
        end, german_end = draw.choice(_ENDS)
        comma = "," if into_german and draw.random() < 0.5 else ""
        listed, translated = _joined(english, end, comma), _joined(german, german_end)
        if sentence == "{}" and draw.random() < 0.5:
            listed, translated = (line[0].upper() + line[1:] for line in (listed, translated))
        yield sentence.format(listed), translation.format(translated)
    yield from _acronym_pairs(draw)


def _acronym_pairs(draw: random.Random) -> Iterator[Pair]:
    acronyms = read_lines_of("acronyms")
    sentences = read_table("acronyms_in_sentences", 2)
    for acronym in acronyms:
        for _ in range(ACRONYMS):
            english, german = draw.choice(sentences)
            words = draw.sample(acronyms, 3)
            words.insert(draw.randrange(english.count("{}")), acronym)
            yield english.format(*words), german.format(*words)


def _days(draw: random.Random, count: int) -> list[Pair]:
    start = draw.randrange(len(_DAYS))
    return (_DAYS + _DAYS)[start : start + min(count, len(_DAYS))]


def _numbers(draw: random.Random, count: int) -> list[Pair]:
    start = draw.choice((1, 1, draw.randint(1, 90)))
    numbers = range(start, start + draw.choice((count, 10)))
    return [(english_number(number), "eins" if number == 1 else german_number(number)) for number in numbers]


def _joined(words: tuple[str, ...], end: str, comma: str = "") -> str:
    """Return a list with a conjunction before its last part, with "and so on" or "etc." after it, or neither."""
    if not end:
        return ", ".join(words)
    if " " in end or end.endswith("."):
        return f"{', '.join(words)}{',' if end == 'etc.' else comma} {end}"
    return f"{', '.join(words[:-1])}{comma} {end} {words[-1]}"
