"""Size, quality and speed of a teacher and the models trained from it, on Multi30k or another corpus.

    python -m benchmarks.multi30k.students teacher=build/teacher.pocketmt "student, 3 bits=build/student.pocketmt"

Each argument is a label and a model file, the teacher's first. Without --final only `val` is translated; with it, after
all choices are made, also the test sets: their quality, and the seconds for their lines on one core, all models in
turn, A B A B, so that ratios to the teacher are within a round. Writes benchmarks/records/multi30k/students.json; a
later call replaces it.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.command import run
from benchmarks.data import ROOT
from benchmarks.multi30k.model_record import Outputs, against
from benchmarks.multi30k.quality import BEAM, score_entry
from benchmarks.multi30k.texts import MULTI30K, TEXTS, Texts
from benchmarks.one_core import OneCore, add_core_option
from benchmarks.record_files import write_record
from pocketmt.engine import Translator
from pocketmt.errors import ConfigurationError
from pocketmt.evaluation.quality import score
from pocketmt.evaluation.records import provenance
from pocketmt.evaluation.tables import Column, plain_table
from pocketmt.model_file import open_model
from pocketmt.model_file.report import inspect_model

COLUMNS = ("model", "parameters:,", "bits:.2f", "bytes:,", "times_smaller:.1f=smaller", "val.bleu:.2f=val BLEU")
FINAL_COLUMNS = (
    "tests.bleu:.2f=tests BLEU",
    "tests.chrf:.2f=chrF",
    "against.gain:+.2f=gain",
    "against.p_value:.3f=p",
    "time.seconds:.2f=seconds",
    "time.times_as_fast:.2f=times as fast",
)


def main(arguments: Sequence[str]) -> int:
    """Score and time; write the record, print its rows."""
    options = _options(arguments)
    origin, texts = provenance(), TEXTS[options.texts]
    models = dict(_labelled(each) for each in options.models)
    core = OneCore(options.core)
    translators = {label: Translator(path) for label, path in models.items()}
    rows: list[dict[str, Any]] = []
    outputs: dict[str, Outputs] = {}
    sets = (texts.validation, *(texts.tests if options.final else ()))
    for label, path in models.items():
        outputs[label] = {name: _translations(translators[label], texts.source_lines(name)) for name in sets}
        rows.append(_row(label, path, outputs[label], texts))
        rows[-1]["times_smaller"] = rows[0]["bytes"] / rows[-1]["bytes"]
    if options.final:
        _add_tests(rows, outputs, texts)
        times = times_in_turn(translators, texts.pooled_sources(), options.rounds)
        for row in rows:
            row["time"] = times[row["model"]]
    write_record({"rows": rows, **core.about(), "provenance": origin}, options.output)
    columns = (*COLUMNS, *FINAL_COLUMNS) if options.final else COLUMNS
    print(plain_table(rows, [Column.parse(column) for column in columns]))
    return 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="LABEL=FILE", help="model files, the teacher's first")
    parser.add_argument(
        "--final", action="store_true", help="also score and time the test sets, after all choices are made"
    )
    parser.add_argument("--texts", choices=list(TEXTS), default=MULTI30K.name, help="corpus (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of timing (default: %(default)s)")
    add_core_option(parser)
    parser.add_argument("--output", type=Path, default=ROOT / "benchmarks" / "records" / "multi30k" / "students.json")
    return parser.parse_args(arguments)


def _labelled(argument: str) -> tuple[str, Path]:
    label, equals, path = argument.rpartition("=")
    if not equals:
        raise ConfigurationError(f"{argument}: give a label and a model file, as in 'teacher=teacher.pocketmt'")
    return label, Path(path)


def _translations(translator: Translator, source: Sequence[str]) -> list[str]:
    return translator.translate(source, beam_size=BEAM, split=False, check=False)


def _row(label: str, path: Path, outputs: Outputs, texts: Texts) -> dict[str, Any]:
    """Return size and validation score of a model file; None stands for what was not measured."""
    report = inspect_model(path)
    weights = sum(matrix.bytes / matrix.bits * 8 for matrix in report.matrices)
    with open_model(path) as file:
        training: Any = file.manifest["training"]
    return {
        "model": label,
        "parameters": report.parameters,
        "bits": 8 * report.matrix_bytes / weights,
        "bytes": report.file_bytes,
        "training": training,
        "val": score_entry(score(outputs[texts.validation], *texts.reference_lines(texts.validation))),
        "against": {"gain": None, "p_value": None},
    }


def _add_tests(rows: list[dict[str, Any]], outputs: dict[str, Outputs], texts: Texts) -> None:
    """Add the scores of the test sets, and the comparison of each model with the first."""
    for row in rows:
        row["tests"] = score_entry(score(texts.pooled(outputs[row["model"]]), *texts.pooled_references()))
        if row is not rows[0]:
            row["against"] = against(outputs[rows[0]["model"]], outputs[row["model"]], texts)


def times_in_turn(translators: dict[str, Translator], text: Sequence[str], rounds: int) -> dict[str, dict[str, Any]]:
    """Return the times of each model for a text: beam search, one thread, batched by the engine.

    Each round runs all models in turn. "times_as_fast" is the median ratio to the first model over rounds.
    """
    seconds: dict[str, list[float]] = {label: [] for label in translators}
    for _ in range(rounds):
        for label, translator in translators.items():
            start = time.perf_counter()
            translator.translate(text, beam_size=BEAM, split=False, check=False)
            seconds[label].append(time.perf_counter() - start)
    first = next(iter(seconds.values()))
    ratios = {label: [one / own for one, own in zip(first, each, strict=True)] for label, each in seconds.items()}
    return {
        label: {
            "seconds": statistics.median(each),
            "rounds": each,
            "times_as_fast": statistics.median(ratios[label]),
            "lowest": min(ratios[label]),
            "highest": max(ratios[label]),
        }
        for label, each in seconds.items()
    }


if __name__ == "__main__":
    sys.exit(run(main))
