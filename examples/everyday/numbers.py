"""Makes pairs with other numbers from parallel text, for models that are to copy any number.

Everyday text has few numbers, mostly round ones and years, and a model that has seen few loses digits of the others.

python -m examples.everyday.numbers SOURCE TARGET --languages en de --output NUMBERS.en NUMBERS.de
"""

import argparse
import random
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from examples.everyday.texts import write_pairs
from pocketmt.errors import ConfigurationError, PocketMTError
from pocketmt.sentences.numbers import NumberFormat, NumberFormats, number_formats, read_number, rewritten_in
from pocketmt.text.corpus import read_pairs

Pair = tuple[str, str]  # A line and its translation.

SEED: Final = 1
COPIES: Final = 8  # of a pair, each with another number
LEAST: Final = 13  # Smaller numbers are often written as words, and some need another form of a noun.
_NUMBER: Final = re.compile(r"(?<![\w.,:/-])\d(?:[\d.,]*\d)?(?![\w:/-]|[.,]\d)")
_DIGITS: Final = re.compile(r"\d+")
_YEAR: Final = re.compile(r"1[5-9]\d\d|20\d\d")


def main() -> int:
    """Write the pairs; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, help="source side of parallel text")
    parser.add_argument("target", type=Path, help="target side")
    parser.add_argument("--languages", nargs=2, required=True, metavar=("SOURCE", "TARGET"), help="such as en de")
    parser.add_argument("--output", "-o", type=Path, nargs=2, required=True, help="files for the sides")
    options = parser.parse_args()
    try:
        formats = number_formats(*options.languages)
        if formats is None:
            raise ConfigurationError(f"--languages {' '.join(options.languages)}: their numbers are not known")
        write_pairs(with_other_numbers(read_pairs(options.source, options.target), formats), *options.output)
    except PocketMTError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def with_other_numbers(pairs: Iterable[Pair], formats: NumberFormats) -> Iterator[Pair]:
    """Yield copies of the pairs that have one number, the same on both sides, each with another number of its kind."""
    draw = random.Random(SEED)
    for source, target in pairs:
        number, same = _only_number(source, formats.source), _only_number(target, formats.target)
        if number is None or same is None or number[1] != same[1] or float(number[1]) < LEAST:
            continue
        for _ in range(COPIES):
            written = _drawn(draw, number[0], formats.source)
            yield source.replace(number[0], written), target.replace(same[0], rewritten_in(written, formats))


def _only_number(text: str, written: NumberFormat) -> tuple[str, str] | None:
    """Return the only number of a text, as it is written, and its value; None unless it has one."""
    numbers = _NUMBER.findall(text)
    if len(numbers) != 1 or len(_DIGITS.findall(text)) != len(_DIGITS.findall(numbers[0])):
        return None
    number = read_number(numbers[0], written)
    return (numbers[0], number.value) if number is not None else None


def _drawn(draw: random.Random, number: str, written: NumberFormat) -> str:
    """Return another number in a format: a year for a year, and for others one of two to seven digits."""
    if _YEAR.fullmatch(number):
        return str(draw.randint(1500, 2099))
    digits = draw.choices((2, 3, 4, 5, 6, 7), (4, 6, 4, 3, 2, 1))[0]
    value = draw.randint(max(LEAST, 10 ** (digits - 1)), 10**digits - 1)
    if digits > 3 and draw.random() < 0.5:
        value -= value % 10 ** (digits - 2)  # a round one
    whole = f"{value:,}".replace(",", written.group) if digits > 4 or draw.random() < 0.5 else str(value)
    if digits < 4 and draw.random() < 0.3:
        whole += written.decimal + "".join(draw.choices("0123456789", k=draw.choice((1, 1, 2))))
    return whole


if __name__ == "__main__":
    sys.exit(main())
