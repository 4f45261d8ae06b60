"""Scores models on a test set as it is, and as some users type: without final punctuation, in lower case, in capitals.

    python -m benchmarks.spellings --languages en-de 'name=MODEL' 'another=MODEL'

The text is Tatoeba's, with its references (four for English to German). References lose their final punctuation where
the source does, and are in capitals where it is. BLEU counts case. Translations are by beam 4, each line as a whole.
With --final, the test set is used; otherwise the validation text.
"""

import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

from benchmarks.command import run
from benchmarks.data import corpus
from benchmarks.everyday_scores import REFERENCES, Rows, score_models
from pocketmt.engine import Translator
from pocketmt.evaluation.quality import score

Change = Callable[[str], str]


def _unmarked(line: str) -> str:
    return line[:-1] if line[-2:-1].isalnum() and line[-1] in ".!?" else line


def _same(line: str) -> str:
    return line


# The change of the source, and that of the references.
SPELLINGS: Final[dict[str, tuple[Change, Change]]] = {
    "as_it_is": (_same, _same),
    "without_punctuation": (_unmarked, _unmarked),
    "lower_case": (str.lower, _same),
    "lower_case_without_punctuation": (lambda line: _unmarked(line).lower(), _unmarked),
    "capitals": (str.upper, str.upper),
}
COLUMNS: Final = ["model", *(f"{spelling}.bleu:.2f" for spelling in SPELLINGS)]


def main(arguments: Sequence[str]) -> int:
    """Score, write the record, print its rows."""
    return score_models(arguments, __doc__, _scorer, COLUMNS)


def _scorer(languages: str, part: str) -> Callable[[Translator], Rows]:
    return lambda translator: [spelling_scores(translator, languages, part)]


def spelling_scores(translator: Translator, languages: str, part: str) -> dict[str, dict[str, Any]]:
    """Return BLEU, chrF and their signatures for each spelling of a text."""
    source_name, reference_names = REFERENCES[languages]
    source, *references = (
        (corpus("tatoeba") / f"{part}.{each}").read_text(encoding="utf-8").splitlines()
        for each in (source_name, *reference_names)
    )
    scores = {}
    for spelling, (change, change_reference) in SPELLINGS.items():
        lines = [change(line) for line in source]
        translations = translator.translate(lines, beam_size=4, split=False, check=False)
        quality = score(translations, *([change_reference(line) for line in side] for side in references))
        scores[spelling] = {
            "bleu": quality.bleu.value,
            "chrf": quality.chrf.value,
            "signatures": [quality.bleu.signature, quality.chrf.signature],
        }
    return scores


if __name__ == "__main__":
    sys.exit(run(main))
