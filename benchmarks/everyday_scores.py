"""Programs that score models of everyday text: their options, and their records of a row or several a model."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.data import corpus
from benchmarks.markdown import markdown_table
from benchmarks.record_files import write_record
from pocketmt.engine import Translator
from pocketmt.evaluation.records import provenance
from pocketmt.evaluation.tables import Column

# By direction: the ending of the files with the source, and those of the files with the references.
REFERENCES: Final = {"en-de": ("en", ("de0", "de1", "de2", "de3")), "de-en": ("de0", ("en",))}
Rows = list[dict[str, Any]]


def english_german_pairs(part: str) -> list[tuple[str, str]]:
    """Return the English lines of Tatoeba's "val" or "test", each with the first of its German translations."""
    source, references = REFERENCES["en-de"]
    sides = [
        (corpus("tatoeba") / f"{part}.{name}").read_text(encoding="utf-8").splitlines()
        for name in (source, references[0])
    ]
    return list(zip(*sides, strict=True))


def score_models(
    arguments: Sequence[str],
    description: str | None,
    rows_of: Callable[[str, str], Callable[[Translator], Rows]],
    columns: Sequence[str],
    **fields: object,
) -> int:
    """Score models by the arguments of a program, write the record, print its rows; return the exit status.

    Args:
        arguments: of the command line.
        description: of the program.
        rows_of: returns, for a direction and "val" or "test", the function that scores a model.
        columns: of the printed table.
        fields: further fields of the record.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="NAME=MODEL", help="what a row calls a model, and its file")
    parser.add_argument("--languages", choices=REFERENCES, required=True, help="direction of translation")
    parser.add_argument("--final", action="store_true", help="use the test set, not the validation text")
    parser.add_argument("--output", type=Path, help="the record (default: none)")
    options = parser.parse_args(arguments)
    origin = provenance()
    part = "test" if options.final else "val"
    score = rows_of(options.languages, part)
    rows: Rows = []
    for model in options.models:
        name, _, file = model.partition("=")
        rows += [{"model": name, **row} for row in score(Translator(file))]
    if options.output:
        write_record({"rows": rows, "part": part, **fields, "provenance": origin}, options.output)
    print(markdown_table(rows, [Column.parse(column) for column in columns]))
    return 0
