"""Amounts in sentences: money, shares, measures, scores, counted things, addresses, and codes of gates and rooms."""

import random
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from examples.everyday.number_words import ENGLISH, GERMAN, english_number, german_number
from examples.everyday.phrase_book.measures import measure, small_number
from examples.everyday.phrase_book.nouns import Pair
from examples.everyday.phrase_book.tables import read_lines_of, read_table

COPIES: Final = 70  # of each sentence
AMOUNTS_ALONE: Final = 250  # of amounts without a sentence
_MEASURES: Final = (
    "lengths", "weights", "body_weights", "volumes", "speeds", "degrees", "oven_degrees", "fever", "data_sizes",
)  # fmt: skip


def amount_pairs(draw: random.Random, *, into_german: bool) -> Iterator[Pair]:
    """Yield sentences with amounts. Into German, English amounts have all their forms."""
    kinds: dict[str, Callable[[], Pair]] = {
        "prices": lambda: _price(draw, into_german),
        "percents": lambda: _percent(draw, into_german),
        "scores": lambda: _score(draw),
        "codes": lambda: _code(draw),
        "addresses": lambda: _address(draw),
        **{name: partial(measure, name, draw) for name in _MEASURES},
    }
    for table, amount in kinds.items():
        for english, german in read_table(table, 2):
            for _ in range(AMOUNTS_ALONE if english == "{}" else COPIES):
                pairs = [amount() for _ in range(english.count("{}"))]
                yield english.format(*(pair[0] for pair in pairs)), german.format(*(pair[1] for pair in pairs))
    yield from _counted_pairs(draw)


def _counted_pairs(draw: random.Random) -> Iterator[Pair]:
    for english, german in read_table("counted", 2):
        for _ in range(COPIES):
            first, second = sorted(draw.sample(range(2, 13), 2))
            if draw.random() < 0.5:
                yield english.format(first, second), german.format(first, second)
            else:
                yield (
                    english.format(ENGLISH[first], ENGLISH[second]),
                    german.format(GERMAN[first], GERMAN[second]),
                )


def _price(draw: random.Random, into_german: bool) -> Pair:
    number = small_number(draw)
    several = max(number, 2)
    cents = f"{number}.{draw.randint(0, 99):02}"
    decimal = cents.replace(".", ",")
    euros = "euro" if number == 1 else "euros"
    words, german_words = english_number(several), german_number(several)
    forms = [
        (f"{number} {euros}", f"{number} Euro"),
        (f"{several} dollars", f"{several} Dollar"),
        (f"{words} dollars", f"{german_words} Dollar"),
        (f"{words} euros", f"{german_words} Euro"),
        (f"{number} {euros} and {draw.randint(2, 19) * 5} cents", None),
        (f"{several} cents", f"{several} Cent"),
        (f"€{number}", f"{number} €"),
        (f"€{cents}", f"{decimal} €"),
        (f"${cents}", f"{decimal} Dollar"),
    ]
    if into_german:
        forms += [(f"${number}", f"{number} Dollar")] * 4 + [(f"£{number}", f"{number} Pfund")]
        forms += [(f"${cents}", f"{decimal} Dollar")] * 2
    english, german = draw.choice(forms)
    if german is None:
        german = english.replace(f" {euros} and ", " Euro und ").replace("cents", "Cent")
    return english, german


def _percent(draw: random.Random, into_german: bool) -> Pair:
    number = draw.choice((draw.randint(1, 9) * 10, draw.randint(1, 100), draw.choice((15, 25, 33, 75))))
    german = f"{number} {'%' if into_german else draw.choice(('%', 'Prozent'))}"
    if into_german and draw.random() < 0.25:
        return f"{number} percent", f"{number} Prozent"
    return f"{number} percent" if german.endswith("t") else f"{number}%", german


def _score(draw: random.Random) -> Pair:
    ours, theirs = draw.randint(0, 9), draw.randint(0, 6)
    return draw.choice((
        (f"{ours}-{theirs}", f"{ours}:{theirs}"), (f"{ours} to {theirs}", f"{ours} zu {theirs}"),
        (f"{ours}:{theirs}", f"{ours}:{theirs}"),
    ))  # fmt: skip


def _code(draw: random.Random) -> Pair:
    letter = draw.choice("ABCDEFGHKLMNSU")
    number = draw.choice((draw.randint(1, 9), draw.randint(10, 99), draw.randint(100, 999)))
    code = draw.choice(
        (f"{letter}{number}", f"{letter}{number}", f"{number % 100 + 1}{letter}", f"{number}", f"{number}")
    )
    return code, code


def _address(draw: random.Random) -> Pair:
    """Return an address, whose number English writes first where the street is English: "12 Main Street"."""
    street, number = draw.choice(read_lines_of("streets")), draw.randint(1, 199)
    is_german = "ße" in street or " " not in street
    return (f"{street} {number}" if is_german else f"{number} {street}"), f"{street} {number}"
