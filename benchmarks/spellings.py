"""Scores models on a test set as it is, and as some users type: without final punctuation, in lower case, in capitals.

    python -m benchmarks.spellings --languages en-de 'name=MODEL' 'another=MODEL'

The text is Tatoeba's, with its references (four for English to German). References lose their final punctuation where
the source does, and are in capitals where it is. BLEU counts case. Translations are by beam 4, each line as a whole.
With --final, the test set is used; otherwise the validation text.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.command import run
from benchmarks.data import corpus
from benchmarks.markdown import markdown_table
from benchmarks.record_files import write_record
from pocketmt.engine import Translator
from pocketmt.evaluation.quality import score
from pocketmt.evaluation.records import provenance
from pocketmt.evaluation.tables import Column

Change = Callable[[str], str]
REFERENCES: Final = {"en-de": ("en", ("de0", "de1", "de2", "de3")), "de-en": ("de0", ("en",))}


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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="NAME=MODEL", help="what a row calls a model, and its file")
    parser.add_argument("--languages", choices=REFERENCES, required=True, help="direction of translation")
    parser.add_argument("--final", action="store_true", help="use the test set, not the validation text")
    parser.add_argument("--output", type=Path, help="the record (default: none)")
    options = parser.parse_args(arguments)
    origin = provenance()
    part = "test" if options.final else "val"
    rows = []
    for model in options.models:
        name, _, file = model.partition("=")
        rows.append({"model": name, **spelling_scores(Translator(file), options.languages, part)})
    if options.output:
        write_record({"rows": rows, "part": part, "provenance": origin}, options.output)
    print(markdown_table(rows, [Column.parse(column) for column in COLUMNS]))
    return 0


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
