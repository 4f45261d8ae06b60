"""Counts how many words of closed classes models translate rightly: weekdays, months, colours, numbers and so on.

    python -m benchmarks.word_classes --languages en-de 'name=MODEL' 'another=MODEL'

The lines are pairs of Tatoeba's validation text, or with --final of the test set, that have one word of a class, with
other words of it in its place (`examples.everyday.word_classes`). A translation is right if it has that word's
translation. Translations are by beam 4.
"""

import random
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from benchmarks.command import run
from benchmarks.everyday_scores import Rows, english_german_pairs, score_models
from examples.everyday.word_classes import ENDINGS, Pair, WordClass, with_others_of_class, word_classes
from pocketmt.engine import Translator

COLUMNS: Final = ["model", "kind", "lines:,", "right:.1%"]
SEED: Final = 2  # Training text is made with another one.
Lines = list[tuple[str, re.Pattern[str]]]  # A line, and what a right translation of it has.


def main(arguments: Sequence[str]) -> int:
    """Count, write the record, print its rows."""
    return score_models(arguments, __doc__, _scorer, COLUMNS)


def _scorer(languages: str, part: str) -> Callable[[Translator], Rows]:
    pairs = english_german_pairs(part)
    kinds = {name.replace("_", " "): _lines(pairs, words, languages) for name, words in word_classes().items()}
    return lambda translator: _rows({kind: count_right(translator, lines) for kind, lines in kinds.items() if lines})


def _rows(counts: Mapping[str, tuple[int, int]]) -> Rows:
    """Return a row for each kind, and one for all, from the numbers of lines and of those that are right."""
    every = sum(lines for lines, _ in counts.values()), sum(right for _, right in counts.values())
    counted = {**counts, "all": every}
    return [{"kind": kind, "lines": lines, "right": right / lines} for kind, (lines, right) in counted.items()]


def _lines(pairs: Sequence[Pair], words: WordClass, languages: str) -> Lines:
    draw = random.Random(SEED)
    others = [other for pair in pairs for other in with_others_of_class(draw, pair, words)]
    if languages == "en-de":
        return [(line, _whole(f"{re.escape(word)}{ENDINGS[words.endings]}")) for (line, _), (_, word) in others]
    return [
        (line, _whole("|".join(re.escape(word) for word, same in words.words.items() if same == german)))
        for (_, line), (_, german) in others
    ]


def _whole(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{pattern})(?![\w-])", re.IGNORECASE)


def count_right(translator: Translator, lines: Lines) -> tuple[int, int]:
    """Return the number of lines, and of those whose translation has what a right one has."""
    translations = translator.translate([line for line, _ in lines], beam_size=4, check=False)
    right = [wanted.search(text) is not None for (_, wanted), text in zip(lines, translations, strict=True)]
    return len(lines), sum(right)


if __name__ == "__main__":
    sys.exit(run(main))
