"""Counts the words that come out if several sentences are on one line, with and without splitting.

    python -m benchmarks.sentence_splitting.joined

The sentences are the first 1,000 lines of a validation text, translated by the bundled models with a beam of 1:
Multi30k's for captions, Tatoeba's for everyday sentences. The last rows of a model are documents of 500 lines: as a
text, and all in one line. Writes benchmarks/records/joined-sentences.json.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.command import run
from benchmarks.data import corpus
from benchmarks.markdown import markdown_table
from benchmarks.record_files import write_record
from pocketmt.engine import TranslationChecks, Translator, bundled_models
from pocketmt.evaluation.records import provenance
from pocketmt.evaluation.tables import Column

RECORD: Final = Path(__file__).parents[1] / "records" / "joined-sentences.json"
SENTENCES: Final = 1000
# By the beginnings of models' names: the corpora, and the files of each language.
TEXTS: Final = {
    "captions": ("multi30k", {"en": "val.en"}),
    "everyday": ("tatoeba", {"en": "val.en", "de": "val.de0"}),
}
SIZES: Final = (1, 2, 5, 10)
DOCUMENT: Final = 500


def main(arguments: Sequence[str]) -> int:
    """Measure, write the record, print its rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=RECORD, help="the record (default: %(default)s)")
    options = parser.parse_args(arguments)
    origin = provenance()
    rows: list[dict[str, Any]] = []
    for name in bundled_models():
        translator = Translator(name)
        rows += joined_rows(name, translator, validation_text(name, translator.languages[0])[:SENTENCES])
    write_record({"rows": rows, "sentences": SENTENCES, "provenance": origin}, options.output)
    print(markdown_table(rows, [Column.parse(column) for column in rows[0]]))
    return 0


def validation_text(name: str, language: str) -> list[str]:
    """Return the lines of a language that suit a bundled model."""
    folder, files = TEXTS[name.partition("-")[0]]
    return (corpus(folder) / files[language]).read_text(encoding="utf-8").splitlines()


def joined_rows(name: str, translator: Translator, sentences: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield a row for each number of sentences on a line, with words out, as such and as a share of one on a line."""
    alone = 0
    for size in SIZES:
        lines = [" ".join(sentences[start : start + size]) for start in range(0, len(sentences), size)]
        row = _row(translator, lines)
        alone = alone or row["words"]
        yield {"model": name, "text": f"{size} on a line", **row, **_shares(row, alone)}
    documents = [sentences[start : start + DOCUMENT] for start in range(0, len(sentences), DOCUMENT)]
    words = sum(len(translator.translate_text("\n".join(each), beam_size=1, check=False).split()) for each in documents)
    row = {"words": words, "warnings": 0, "words_unsplit": None, "warnings_unsplit": None}
    yield {"model": name, "text": f"document of {DOCUMENT} lines", **row, "share": words / alone, "share_unsplit": None}
    row = _row(translator, [" ".join(each) for each in documents])
    yield {"model": name, "text": f"{DOCUMENT} on a line", **row, **_shares(row, alone)}


def _row(translator: Translator, lines: Sequence[str]) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for suffix, split in (("", True), ("_unsplit", False)):
        checks = TranslationChecks(lambda message: None)
        found = translator.translate(lines, beam_size=1, split=split, check=checks)
        row |= {f"words{suffix}": sum(len(line.split()) for line in found), f"warnings{suffix}": checks.suspicious}
    return row


def _shares(row: dict[str, Any], alone: int) -> dict[str, float]:
    return {"share": row["words"] / alone, "share_unsplit": row["words_unsplit"] / alone}


if __name__ == "__main__":
    sys.exit(run(main))
