"""Amounts with a unit: lengths, weights, volumes, speeds, degrees and sizes of files."""

import random
from typing import Final, NamedTuple

from examples.everyday.number_words import english_number, german_number
from examples.everyday.phrase_book.nouns import Pair


class Unit(NamedTuple):
    """A unit's sign, which both languages share, and its English and German words."""

    sign: str
    english: str
    german: str


_KILOGRAMS: Final = [Unit("kg", "kilograms", "Kilogramm"), Unit("kg", "kilos", "Kilo")]
_UNITS: Final = {
    "lengths": [
        Unit("km", "kilometers", "Kilometer"),
        Unit("m", "meters", "Meter"),
        Unit("cm", "centimeters", "Zentimeter"),
        Unit("mm", "millimeters", "Millimeter"),
    ],
    "weights": [*_KILOGRAMS, Unit("g", "grams", "Gramm"), Unit("g", "grams", "Gramm")],
    "body_weights": _KILOGRAMS,
    "volumes": [Unit("l", "liters", "Liter"), Unit("ml", "milliliters", "Milliliter")],
}
_DATA_UNITS: Final = ("GB", "GB", "GB", "MB", "MB", "MB", "KB", "TB")


def measure(kind: str, draw: random.Random) -> Pair:
    """Return an amount of a kind, such as "lengths", in English and German."""
    if kind in _UNITS:
        return _of_unit(draw, _UNITS[kind])
    forms = {
        "speeds": _speed,
        "degrees": _degrees,
        "oven_degrees": _oven_degrees,
        "fever": _fever,
        "data_sizes": _data_size,
    }
    return forms[kind](draw)


def small_number(draw: random.Random) -> int:
    """Return a number of 1 to 500, mostly a small one or a round one."""
    return draw.choice((draw.randint(1, 12), draw.randint(1, 99), draw.choice((20, 50, 100, 150, 200, 250, 500))))


def _of_unit(draw: random.Random, units: list[Unit]) -> Pair:
    number = max(small_number(draw), 2)
    unit = draw.choice(units)
    if draw.random() < 0.2 and number < 20:
        return f"{english_number(number)} {unit.english}", f"{german_number(number)} {unit.german}"
    whole = draw.random() < 0.8
    value, german_value = (f"{number}", f"{number}") if whole else (f"{number % 10}.5", f"{number % 10},5")
    if draw.random() < 0.5:
        return f"{value} {unit.sign}", f"{german_value} {unit.sign}"
    return f"{value} {unit.english}", f"{german_value} {unit.german}"


def _speed(draw: random.Random) -> Pair:
    number = draw.choice((30, 50, 60, 70, 80, 100, 120, 130, draw.randint(5, 250)))
    english = draw.choice(("km/h", "kilometers per hour", "kilometers an hour"))
    return f"{number} {english}", f"{number} {'km/h' if english == 'km/h' else 'Kilometer pro Stunde'}"


def _degrees(draw: random.Random) -> Pair:
    number = draw.choice((draw.randint(2, 20), draw.randint(2, 42)))
    forms = _warm(number)
    if number <= 25:
        forms += [(f"-{number} degrees", f"-{number} Grad"), (f"minus {number} degrees", f"minus {number} Grad")] * 2
        forms += [(f"-{number}°C", f"-{number} °C"), (f"{number} degrees below zero", f"{number} Grad unter null")]
    return draw.choice(forms)


def _warm(number: int) -> list[Pair]:
    return [
        (f"{number} degrees", f"{number} Grad"), (f"{number}°C", f"{number} °C"), (f"{number} °C", f"{number} °C"),
        (f"{english_number(number)} degrees", f"{german_number(number)} Grad"),
    ]  # fmt: skip


def _oven_degrees(draw: random.Random) -> Pair:
    return draw.choice(_warm(draw.choice((30, 40, 60, 90, 120, 150, 160, 170, 180, 190, 200, 220, 250))))


def _fever(draw: random.Random) -> Pair:
    number, tenths = draw.randint(38, 41), draw.randint(1, 9)
    return draw.choice((*_warm(number), (f"{number}.{tenths} degrees", f"{number},{tenths} Grad")))


def _data_size(draw: random.Random) -> Pair:
    unit = draw.choice(_DATA_UNITS)
    number = draw.choice((draw.randint(1, 20), 2 ** draw.randint(1, 9), draw.randint(1, 999)))
    if draw.random() < 0.25:
        tenths = draw.randint(1, 9)
        return f"{number}.{tenths} {unit}", f"{number},{tenths} {unit}"
    return f"{number} {unit}", f"{number} {unit}"
