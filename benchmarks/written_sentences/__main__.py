"""Scores models on everyday sentences that were written for the project: greetings, travel, health, interfaces, times.

    python -m benchmarks.written_sentences --languages en-de 'name=MODEL' 'another=MODEL'

`sentences.tsv` has English sentences, each with two German translations. They were written without knowledge of the
training text, by other authors than the phrase book of `examples/everyday`; sentences that the training text has were
then left out. English to German has both references; German to English translates the first. Translations are by
beam 4. With --final, all sentences are used, otherwise every other one.
"""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from benchmarks.command import run
from benchmarks.everyday_scores import Rows, score_models
from pocketmt.engine import Translator
from pocketmt.evaluation.quality import score

SENTENCES: Final = Path(__file__).with_name("sentences.tsv")
COLUMNS: Final = ["model", "lines:,", "bleu:.2f", "chrf:.2f"]


def main(arguments: Sequence[str]) -> int:
    """Score, write the record, print its rows."""
    return score_models(arguments, __doc__, _scorer, COLUMNS)


def sentences(part: str) -> list[tuple[str, str, str]]:
    """Return English sentences with two German translations: all for "test", every other one for "val"."""
    rows = [line.split("\t") for line in SENTENCES.read_text(encoding="utf-8").splitlines()]
    return [(english, first, second) for english, first, second in rows[:: 1 if part == "test" else 2]]


def _scorer(languages: str, part: str) -> Callable[[Translator], Rows]:
    english, first, second = map(list, zip(*sentences(part), strict=True))
    lines, references = (english, (first, second)) if languages == "en-de" else (first, (english,))
    return lambda translator: [_scores(translator, lines, references)]


def _scores(translator: Translator, lines: list[str], references: Sequence[list[str]]) -> dict[str, object]:
    quality = score(translator.translate(lines, beam_size=4, check=False), *references)
    signatures = [quality.bleu.signature, quality.chrf.signature]
    scores = {"bleu": quality.bleu.value, "chrf": quality.chrf.value, "signatures": signatures}
    return {"lines": len(lines), **scores}


if __name__ == "__main__":
    sys.exit(run(main))
