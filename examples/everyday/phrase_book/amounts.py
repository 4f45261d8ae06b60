"""Amounts in sentences: money, units, degrees, scores, and codes such as those of gates."""

import random
from collections.abc import Callable, Iterator
from typing import Final

from examples.everyday.number_words import ENGLISH, GERMAN, english_number, german_number
from examples.everyday.phrase_book.nouns import Pair
from examples.everyday.phrase_book.tables import read_table

COPIES: Final = 90  # of each sentence
# Sign, English and German word.
_LENGTH_UNITS: Final = [
    ("km", "kilometers", "Kilometer"),
    ("m", "meters", "Meter"),
    ("cm", "centimeters", "Zentimeter"),
    ("mm", "millimeters", "Millimeter"),
]
_WEIGHT_UNITS: Final = [
    ("kg", "kilograms", "Kilogramm"),
    ("kg", "kilos", "Kilo"),
    ("g", "grams", "Gramm"),
    ("l", "liters", "Liter"),
    ("ml", "milliliters", "Milliliter"),
]


def amount_pairs(draw: random.Random, *, into_german: bool) -> Iterator[Pair]:
    """Yield sentences with amounts. Into German, English amounts have all their forms."""
    kinds: dict[str, Callable[[], Pair]] = {
        "prices": lambda: _price(draw, into_german),
        "lengths": lambda: _of_unit(draw, _LENGTH_UNITS),
        "weights": lambda: _of_unit(draw, _WEIGHT_UNITS),
        "speeds": lambda: _speed(draw),
        "degrees": lambda: _degrees(draw),
        "scores": lambda: _score(draw),
        "codes": lambda: _code(draw),
    }
    for table, amount in kinds.items():
        for english, german in read_table(table, 2):
            for _ in range(COPIES):
                pairs = [amount() for _ in range(english.count("{}"))]
                yield english.format(*(pair[0] for pair in pairs)), german.format(*(pair[1] for pair in pairs))
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


def _small(draw: random.Random) -> int:
    return draw.choice((draw.randint(1, 12), draw.randint(1, 99), draw.choice((20, 50, 100, 150, 200, 250, 500))))


def _price(draw: random.Random, into_german: bool) -> Pair:
    number = _small(draw)
    cents = f"{number}.{draw.randint(1, 19) * 5:02}"
    decimal = cents.replace(".", ",")
    euros, dollars = ("euro", "dollar") if number == 1 else ("euros", "dollars")
    words, german_words = english_number(number), german_number(number)
    forms = [
        (f"{number} {euros}", f"{number} Euro"),
        (f"{words} {dollars}", f"{german_words} Dollar"),
        (f"{words} {euros}", f"{german_words} Euro"),
        (f"{number} {euros} and {draw.randint(2, 19) * 5} cents", None),
        (f"{max(number, 2)} cents", f"{max(number, 2)} Cent"),
        (f"€{number}", f"{number} €"),
        (f"€{cents}", f"{decimal} €"),
        (f"${number}", f"{number} Dollar"),
        (f"${cents}", f"{decimal} Dollar"),
    ]
    if into_german:
        forms += [(f"${number}", f"{number} Dollar")] * 2
    english, german = draw.choice(forms)
    if german is None:
        german = english.replace(f" {euros} and ", " Euro und ").replace("cents", "Cent")
    return english, german


def _of_unit(draw: random.Random, units: list[tuple[str, str, str]]) -> Pair:
    number = max(_small(draw), 2)
    sign, english, german = draw.choice(units)
    if draw.random() < 0.2 and number < 20:
        return f"{english_number(number)} {english}", f"{german_number(number)} {german}"
    whole = draw.random() < 0.8
    value, german_value = (f"{number}", f"{number}") if whole else (f"{number % 10}.5", f"{number % 10},5")
    if draw.random() < 0.5:
        return f"{value} {sign}", f"{german_value} {sign}"
    return f"{value} {english}", f"{german_value} {german}"


def _speed(draw: random.Random) -> Pair:
    number = draw.choice((30, 50, 60, 70, 80, 100, 120, 130, draw.randint(5, 250)))
    english = draw.choice(("km/h", "kilometers per hour", "kilometers an hour"))
    return f"{number} {english}", f"{number} {'km/h' if english == 'km/h' else 'Kilometer pro Stunde'}"


def _degrees(draw: random.Random) -> Pair:
    number = draw.choice((draw.randint(1, 20), draw.randint(1, 45), draw.choice((38, 39, 40, 180, 200))))
    number = max(number, 2)
    forms = [
        (f"{number} degrees", f"{number} Grad"), (f"{number}°C", f"{number} °C"), (f"{number} °C", f"{number} °C"),
        (f"{english_number(number)} degrees", f"{german_number(number)} Grad"),
    ]  # fmt: skip
    if number <= 25:
        forms += [(f"-{number} degrees", f"-{number} Grad"), (f"minus {number} degrees", f"minus {number} Grad")]
        forms += [(f"-{number}°C", f"-{number} °C"), (f"{number} degrees below zero", f"{number} Grad unter null")]
    return draw.choice(forms)


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
