"""Compares trainings that differ in one thing, each with several seeds, on Tatoeba or another corpus.

    python -m benchmarks.multi30k.seeds --final pairs=a-1.pocketmt,a-2.pocketmt \
        translations=b-1.pocketmt,b-2.pocketmt

Each argument is a label and the model files of its seeds, the baseline's first; all have as many seeds, in the same
order. Each label has a row for each seed, compared with the same seed of every earlier label, and a row for all seeds:
the mean of the scores, and the gain and p-value of all translations together, by paired bootstrap over lines. Choices
are made on `val`: the test sets are translated only with --final. Writes benchmarks/records/everyday/seeds.json and
prints its rows.
"""

import argparse
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.command import run
from benchmarks.data import ROOT
from benchmarks.multi30k.model_record import Outputs
from benchmarks.multi30k.quality import score_entry, translate_sets
from benchmarks.multi30k.texts import TEXTS, Texts
from benchmarks.record_files import write_record
from pocketmt.errors import ConfigurationError
from pocketmt.evaluation.quality import compare, score
from pocketmt.evaluation.records import provenance
from pocketmt.evaluation.tables import Column, plain_table

ALL: Final = "all"
NO_GAIN: Final = {"gain": None, "p_value": None}
COLUMNS: Final = ("model", "seed", "val.bleu:.2f=val BLEU", "tests.bleu:.2f=tests BLEU", "tests.chrf:.2f=chrF")


def main(arguments: Sequence[str]) -> int:
    """Translate and compare; write the record, print its rows."""
    options = _options(arguments)
    origin, texts = provenance(), TEXTS[options.texts]
    groups = dict(_group(each) for each in options.models)
    if len({len(paths) for paths in groups.values()}) > 1:
        raise ConfigurationError("the labels have different numbers of model files: give one for each seed")
    sets = (texts.validation, *(texts.tests if options.final else ()))
    rows: list[dict[str, Any]] = []
    earlier: dict[str, list[Outputs]] = {}
    for label, paths in groups.items():
        found = [translate_sets(path, sets, texts) for path in paths]
        rows += _rows(label, found, earlier, texts)
        earlier[label] = found
    for row in rows:  # A table needs the same keys in all rows.
        row["against"] = {label: row.get("against", {}).get(label, NO_GAIN) for label in groups}
    write_record({"rows": rows, "provenance": origin}, options.output)
    print(plain_table(rows, [Column.parse(column) for column in _columns(list(groups), options.final)]))
    return 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "models", nargs="+", metavar="LABEL=FILE,FILE", help="model files, one for each seed; the baseline's first"
    )
    parser.add_argument("--final", action="store_true", help="also score the test sets, after all choices are made")
    parser.add_argument("--texts", choices=list(TEXTS), default="tatoeba", help="corpus (default: %(default)s)")
    parser.add_argument("--output", type=Path, default=ROOT / "benchmarks" / "records" / "everyday" / "seeds.json")
    return parser.parse_args(arguments)


def _group(argument: str) -> tuple[str, list[Path]]:
    label, equals, paths = argument.rpartition("=")
    if not equals:
        raise ConfigurationError(f"{argument}: give a label and model files, as in 'pairs=a.pocketmt,b.pocketmt'")
    return label, [Path(path) for path in paths.split(",")]


def _rows(label: str, found: list[Outputs], earlier: dict[str, list[Outputs]], texts: Texts) -> list[dict[str, Any]]:
    """Return a row for each seed and one for all; `earlier` has the translations of other labels, by seed."""
    rows: list[dict[str, Any]] = []
    for index, outputs in enumerate(found):
        row: dict[str, Any] = {"model": label, "seed": str(index + 1)}
        row["val"] = score_entry(score(outputs[texts.validation], *texts.reference_lines(texts.validation)))
        if texts.tests[0] in outputs:
            row["tests"] = score_entry(score(texts.pooled(outputs), *texts.pooled_references()))
            row["against"] = {name: _against([theirs[index]], [outputs], texts) for name, theirs in earlier.items()}
        rows.append(row)
    together: dict[str, Any] = {"model": label, "seed": ALL}
    for key in rows[0].keys() & {"val", "tests"}:
        together[key] = {each: statistics.mean(row[key][each] for row in rows) for each in ("bleu", "chrf")}
    if "tests" in together:
        together["against"] = {name: _against(theirs, found, texts) for name, theirs in earlier.items()}
    return [*rows, together]


def _against(baselines: list[Outputs], outputs: list[Outputs], texts: Texts) -> dict[str, float]:
    """Return the gain in BLEU of the translations of some seeds together, and its p-value by paired bootstrap."""
    theirs, ours = ([line for each in some for line in texts.pooled(each)] for some in (baselines, outputs))
    references = [lines * len(outputs) for lines in texts.pooled_references()]
    bleu = compare(theirs, ours, *references)[0]
    return {"gain": bleu.gain, "p_value": bleu.p_value}


def _columns(labels: list[str], final: bool) -> list[str]:
    """Return the columns of the printed table."""
    if not final:
        return [*COLUMNS[:3]]
    gains = [(f"against.{label}.gain:+.2f=over {label}", f"against.{label}.p_value:.3f=p") for label in labels[:-1]]
    return [*COLUMNS, *(column for pair in gains for column in pair)]


if __name__ == "__main__":
    sys.exit(run(main))
