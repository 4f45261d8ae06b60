"""Counts the names, times and dates that models keep, by themselves and with the protection of the engine.

    python -m benchmarks.names_kept --languages en-de 'name=MODEL' 'another=MODEL'

The lines are pairs of Tatoeba's validation text, or with --final of the test set, with other names, times and dates in
place of theirs (`examples.everyday.names`). The names are none of those that models were trained on. A name is kept if
the translation has it, a time or a date if the translation has its numbers. Translations are by beam 4.
"""

import random
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import cycle
from typing import Final

from benchmarks.command import run
from benchmarks.everyday_scores import Rows, english_german_pairs, score_models
from examples.everyday.names import Pair, other_dates, other_times, with_names
from pocketmt.engine import Translator

COLUMNS: Final = ["model", "kind", "lines:,", "alone:.1%", "protected:.1%"]
PERSONS: Final = """
Abigail Adelheid Baumgartner Beethoven Benedikt Bismarck Brahms Burkhardt Caesar Chandler Clausewitz Darwin Dilara
Dürer Ebert Ekaterina Esposito Falk Faraday Freud Gauß Giuseppe Goethe Gottlieb Greenwood Habermas Haydn Hedwig
Hegel Heisenberg Hernández Hölderlin Humboldt Ingeborg Isolde Jefferson Kepler Kierkegaard Kleist Konrad Kowalczyk
Leibniz Lessing Lorenz Lindgren Magdalena Mahler McCarthy Mendelssohn Newton Nietzsche Okonkwo Ottokar Papadopoulos
Planck Priyanka Quentin Rosenthal Rilke Salvatore Schiller Schopenhauer Siegfried Strauss Szymon Tchaikovsky
Theodor Tsuyoshi Ulrike Valentina Vivaldi Watanabe Wieland Wittgenstein Xenia Zelda Zuckerberg
"""
PLACES: Final = """
Adelaide Albuquerque Antwerpen Asunción Baden-Baden Bayreuth Bologna Brighton Brisbane Buenos Calgary Cardiff Caracas
Celle Charleston Christchurch Cincinnati Cleveland Coburg Dakar Dessau Eisenach Emden Gelsenkirchen Goslar Gotha Haifa
Hildesheim Kigali Kumasi Lagos Leverkusen Leicester Luanda Memphis Minden Nashville Neuss Odessa Offenbach Ottawa
Pforzheim Pittsburgh Recklinghausen Remscheid Reutlingen Rotorua Sacramento Speyer Stralsund Suhl Tampa Tripoli Tulsa
Unna Vaduz Weimar Wellington Wetzlar Winnipeg Wismar Worms Zaragoza
"""


def main(arguments: Sequence[str]) -> int:
    """Count, write the record, print its rows."""
    return score_models(arguments, __doc__, _scorer, COLUMNS)


def _scorer(languages: str, part: str) -> Callable[[Translator], Rows]:
    pairs = english_german_pairs(part)
    side = ("en-de", "de-en").index(languages)
    kinds = {"names": _with_names(pairs), "times and dates": _with_times(pairs)}
    lines = {kind: [(pair[side], wanted) for pair, wanted in found] for kind, found in kinds.items()}
    return lambda translator: [{"kind": kind, **kept(translator, found)} for kind, found in lines.items() if found]


def _with_names(pairs: Iterable[Pair]) -> Iterator[tuple[Pair, list[str]]]:
    """Yield pairs with other names, and these."""
    names = {"places": cycle(PLACES.split())}
    persons = cycle(PERSONS.split())
    for pair in pairs:
        drawn: list[str] = []

        def draw(kind: str, drawn: list[str] = drawn) -> str:
            drawn.append(next(names.get(kind, persons)))
            return drawn[-1]

        if other := with_names(pair, draw):
            yield other, drawn


def _with_times(pairs: Iterable[Pair]) -> Iterator[tuple[Pair, list[str]]]:
    """Yield pairs with other times and dates, which are wanted as numbers."""
    draw = random.Random(2)
    for pair in pairs:
        for other in (*other_times(draw, pair), *other_dates(draw, pair)):
            yield other, []


def kept(translator: Translator, lines: Sequence[tuple[str, list[str]]]) -> dict[str, float]:
    """Return the number of lines, and the shares of them whose names or numbers a model keeps, alone and protected."""
    shares = {}
    for name, protect in (("alone", False), ("protected", True)):
        translations = translator.translate([line for line, _ in lines], beam_size=4, protect=protect, check=False)
        whole = [
            all(each in translation for each in wanted) if wanted else _numbers(line) == _numbers(translation)
            for (line, wanted), translation in zip(lines, translations, strict=True)
        ]
        shares[name] = sum(whole) / len(lines)
    return {"lines": len(lines), **shares}


def _numbers(text: str) -> list[int]:
    """Return the numbers of a text, in order of size: English writes the month before the day."""
    return sorted(int(number) for number in re.findall(r"\d+", text))


if __name__ == "__main__":
    sys.exit(run(main))
