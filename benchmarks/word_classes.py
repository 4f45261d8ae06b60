"""Counts how many words of closed classes models translate rightly: weekdays, months, colours, numbers and so on.

    python -m benchmarks.word_classes --languages en-de 'name=MODEL' 'another=MODEL'

The lines are pairs of Tatoeba's validation text, or with --final of the test set, that have one word of a class, with
other words of it in its place (`examples.everyday.word_classes`). A translation is right if it has that word's
translation. Translations are by beam 4.
"""

import random
import re
import sys
from collections.abc import Callable, Sequence
from typing import Final

from benchmarks.command import run
from benchmarks.data import corpus
from benchmarks.everyday_scores import REFERENCES, Rows, score_models
from examples.everyday.word_classes import ENDINGS, Pair, WordClass, with_others_of_class, word_classes
from pocketmt.engine import Translator

COLUMNS: Final = ["model", "kind", "lines:,", "right:.1%"]
SEED: Final = 2  # Training text is made with another one.
Lines = list[tuple[str, re.Pattern[str]]]  # A line, and what a right translation of it has.


def main(arguments: Sequence[str]) -> int:
    """Count, write the record, print its rows."""
    return score_models(arguments, __doc__, _scorer, COLUMNS)


def _scorer(languages: str, part: str) -> Callable[[Translator], Rows]:
    sides = REFERENCES["en-de"][0], REFERENCES["en-de"][1][0]
    english, german = (
        (corpus("tatoeba") / f"{part}.{side}").read_text(encoding="utf-8").splitlines() for side in sides
    )
    pairs = list(zip(english, german, strict=True))
    kinds = {name.replace("_", " "): _lines(pairs, name, words, languages) for name, words in word_classes().items()}
    kinds["all"] = [line for lines in kinds.values() for line in lines]
    return lambda translator: [
        {"kind": kind, "lines": len(lines), "right": share_right(translator, lines)}
        for kind, lines in kinds.items()
        if lines
    ]


def _lines(pairs: Sequence[Pair], name: str, words: WordClass, languages: str) -> Lines:
    draw = random.Random(SEED)
    others = [other for pair in pairs for other in with_others_of_class(draw, pair, name, words)]
    if languages == "en-de":
        return [(line, _whole(f"{re.escape(word)}{ENDINGS[words.endings]}")) for (line, _), (_, word) in others]
    return [
        (line, _whole("|".join(re.escape(word) for word, same in words.words.items() if same == german)))
        for (_, line), (_, german) in others
    ]


def _whole(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{pattern})(?![\w-])", re.IGNORECASE)


def share_right(translator: Translator, lines: Lines) -> float:
    """Return the share of lines whose translation has what a right one has."""
    translations = translator.translate([line for line, _ in lines], beam_size=4, check=False)
    return sum(
        wanted.search(translation) is not None for (_, wanted), translation in zip(lines, translations, strict=True)
    ) / len(lines)


if __name__ == "__main__":
    sys.exit(run(main))
