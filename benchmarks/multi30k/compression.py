"""Runs recipes of the library on one trained model and scores what each makes on Multi30k, side by side.

    python -m benchmarks.multi30k.compression build/multi30k/seed2 fp32-continued l-log4-error-feedback
    python -m benchmarks.multi30k.compression build/multi30k/seed2 --final

The first argument is a folder that `pocketmt train` filled; without names every recipe of the library is run whose
outcome a model file can hold. Model files and the work on them lie in its folder `recipes`: a second call goes on where
the first was stopped. Choices are made on `val`: the test sets are translated with --final alone. The record goes to
benchmarks/records/multi30k-compression.json, unless --limit-updates says that this is a trial.
"""

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.multi30k.data import ROOT, TESTS, VALIDATION, lines
from benchmarks.multi30k.quality import BEAM, DESCRIPTION, LICENCE, score_entry
from pocketmt.engine import Translator
from pocketmt.evaluation.quality import compare, score
from pocketmt.evaluation.records import provenance, write_record
from pocketmt.evaluation.tables import Column, plain_table
from pocketmt.model_file import open_model
from pocketmt.model_file.report import inspect_model
from pocketmt.recipes.catalogue import find_recipe, recipe_names
from pocketmt.recipes.run_folder import compress_run, pack_run
from pocketmt.recipes.schema import Recipe, limit_updates, quantizes_activations

# What every other is compared with: the uncompressed model after the same kind of updates, else as it was trained.
CONTROL = "fp32-continued"
UNCOMPRESSED = "float32"
COLUMNS = (
    "recipe",
    "bits:.2f",
    "bytes",
    "times_smaller:.1f=smaller",
    "updates",
    "perplexity:.2f=val perplexity",
    "val.bleu:.2f=val BLEU",
    "tests.bleu:.2f=tests BLEU",
    "gain:+.2f",
    "p_value:.3f=p",
)


def main(arguments: Sequence[str]) -> int:
    """Run and score; write the record and print its rows."""
    options = _options(arguments)
    origin = provenance(seed=1)
    folder: Path = options.run / "recipes"
    folder.mkdir(exist_ok=True)
    uncompressed = folder / f"{UNCOMPRESSED}.pocketmt"
    pack_run(options.run, UNCOMPRESSED, uncompressed, licence=LICENCE, description=DESCRIPTION)
    sets = (VALIDATION, *TESTS) if options.final else (VALIDATION,)
    baselines = {UNCOMPRESSED: _translations(uncompressed, sets)}
    rows = [_row(UNCOMPRESSED, None, uncompressed, uncompressed, baselines[UNCOMPRESSED])]
    names = options.recipes or [name for name in recipe_names() if not quantizes_activations(find_recipe(name))]
    for name in sorted(names, key=lambda each: each != CONTROL):
        recipe = find_recipe(name)
        if options.limit_updates is not None:
            recipe = limit_updates(recipe, options.limit_updates)
        path = folder / f"{name}.pocketmt"
        work = path.with_suffix(".compression")
        compress_run(options.run, recipe, work, path, licence=LICENCE, description=DESCRIPTION)
        outputs = _translations(path, sets)
        rows.append(_row(name, recipe, path, uncompressed, outputs))
        if name == CONTROL:
            baselines[CONTROL] = outputs
        elif options.final:
            rows[-1] |= _against(baselines.get(CONTROL, baselines[UNCOMPRESSED]), outputs)
    if options.limit_updates is None:
        write_record({"rows": rows, "provenance": origin}, options.output)
    known = [column for column in COLUMNS if options.final or not column.startswith(("tests", "gain", "p_value"))]
    print(plain_table(rows, [Column.parse(column) for column in known]))
    return 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="a folder filled by `pocketmt train`")
    parser.add_argument("recipes", nargs="*", help="names of recipes (default: all that a model file can hold)")
    parser.add_argument("--final", action="store_true", help="score the test sets, too: when all choices are made")
    parser.add_argument("--limit-updates", type=int, help="most updates of a stage, for a trial without a record")
    parser.add_argument(
        "--output", type=Path, default=ROOT / "benchmarks" / "records" / "multi30k-compression.json", help="the record"
    )
    return parser.parse_args(arguments)


def _translations(path: Path, sets: Sequence[str]) -> dict[str, list[str]]:
    translator = Translator(path)
    return {name: translator.translate(lines(name, "en"), beam_size=BEAM) for name in sets}


def _row(
    name: str, recipe: Recipe | None, path: Path, uncompressed: Path, outputs: dict[str, list[str]]
) -> dict[str, Any]:
    """Return size, validation and scores of one model file; what was not measured is None."""
    report = inspect_model(path)
    weights = sum(math.prod(matrix.shape) for matrix in report.matrices)
    with open_model(path) as file:
        validation: Any = file.manifest["training"]
    scores = validation.get("compression", {})
    row: dict[str, Any] = {
        "recipe": name,
        "paper": recipe.paper if recipe is not None else "",
        "bits": sum(matrix.bits * math.prod(matrix.shape) for matrix in report.matrices) / weights,
        "bytes": path.stat().st_size,
        "times_smaller": uncompressed.stat().st_size / path.stat().st_size,
        "updates": _updates(recipe) if recipe is not None else 0,
        "perplexity": math.exp(scores["loss"] if "loss" in scores else validation["validation_loss"]),
        "gain": None,
        "p_value": None,
    }
    for each, translated in outputs.items():
        row[each] = score_entry(score(translated, lines(each, "de")))
    if set(TESTS) <= outputs.keys():
        row["tests"] = score_entry(score(_pooled(outputs), [line for each in TESTS for line in lines(each, "de")]))
    return row


def _updates(recipe: Recipe) -> int:
    return sum(getattr(stage.retraining, "updates", 0) for stage in recipe.stages)


def _pooled(outputs: dict[str, list[str]]) -> list[str]:
    return [line for each in TESTS for line in outputs[each]]


def _against(baseline: dict[str, list[str]], outputs: dict[str, list[str]]) -> dict[str, float]:
    """Return the gain in BLEU over a baseline on the pooled tests, and its p by paired bootstrap."""
    references = [line for each in TESTS for line in lines(each, "de")]
    bleu = compare(_pooled(baseline), _pooled(outputs), references)[0]
    return {"gain": bleu.gain, "p_value": bleu.p_value}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
