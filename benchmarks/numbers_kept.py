"""Counts the numbers that models keep, by themselves and with the protection of the engine.

    python -m benchmarks.numbers_kept --languages en-de 'name=MODEL' 'another=MODEL'

The lines are pairs of Tatoeba's validation text, or with --final of the test set, that have one number, each with eight
other numbers in its place (`examples.everyday.numbers`). A number is kept if the translation has its value, in the
format of the target language. Translations are by beam 4.
"""

import sys
from collections.abc import Callable, Sequence
from typing import Final

from benchmarks.command import run
from benchmarks.data import corpus
from benchmarks.everyday_scores import REFERENCES, Rows, score_models
from examples.everyday.numbers import with_other_numbers
from pocketmt.engine import Translator
from pocketmt.errors import ConfigurationError
from pocketmt.sentences import NumberFormats, lost_parts, number_formats

COLUMNS: Final = ["model", "lines:,", "alone:.1%", "protected:.1%"]


def main(arguments: Sequence[str]) -> int:
    """Count, write the record, print its rows."""
    return score_models(arguments, __doc__, _scorer, COLUMNS)


def _scorer(languages: str, part: str) -> Callable[[Translator], Rows]:
    source, references = REFERENCES[languages]
    formats = number_formats(*languages.split("-"))
    if formats is None:
        raise ConfigurationError(f"--languages {languages}: their numbers are not known")
    sides = [
        (corpus("tatoeba") / f"{part}.{name}").read_text(encoding="utf-8").splitlines()
        for name in (source, references[0])
    ]
    lines = [line for line, _ in with_other_numbers(zip(*sides, strict=True), formats)]
    return lambda translator: [kept(translator, lines, formats)]


def kept(translator: Translator, lines: Sequence[str], formats: NumberFormats) -> dict[str, float]:
    """Return the number of lines, and the shares of them whose numbers a model keeps, by itself and protected."""
    shares = {}
    for name, protect in (("alone", False), ("protected", True)):
        translations = translator.translate(lines, beam_size=4, protect=protect, check=False)
        lost = sum(bool(lost_parts(*each, formats=formats)) for each in zip(lines, translations, strict=True))
        shares[name] = 1 - lost / len(lines)
    return {"lines": len(lines), **shares}


if __name__ == "__main__":
    sys.exit(run(main))
