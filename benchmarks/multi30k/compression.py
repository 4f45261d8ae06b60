"""Runs recipes on one trained model and scores each result on Multi30k, also in the layout of the papers' tables.

    python -m benchmarks.multi30k.compression build/multi30k/seed2 8bit aji/log4-error-feedback=500
    python -m benchmarks.multi30k.compression build/multi30k/seed2 --final

The first argument is a folder written by `pocketmt train`; without names, all recipes are run, built-in and of
benchmarks/recipes. Model files and intermediate results are kept in the run's folder `recipes`: a second call resumes
where the first was stopped. Choices are made on `val`: the test sets are translated only with --final. The record has a
row for each recipe; a later call on the same model replaces the rows of its recipes and keeps the others.
"""

import argparse
import dataclasses
import math
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

from benchmarks.command import run
from benchmarks.data import ROOT
from benchmarks.multi30k.data import TESTS, VALIDATION, lines
from benchmarks.multi30k.data import folder as data_folder
from benchmarks.multi30k.frontier import frontier, goals
from benchmarks.multi30k.limits import limited, limits_of
from benchmarks.multi30k.model_record import ModelRecord, Outputs, Rows, against, pooled, pooled_references, updates
from benchmarks.multi30k.paper_tables import CONTROL, paper_tables
from benchmarks.multi30k.parity import parity
from benchmarks.multi30k.quality import BEAM, DESCRIPTION, LICENCE, score_entry
from benchmarks.recipe_files import find_recipe, recipe_names
from pocketmt.cli.compress import DEFAULT_UPDATES
from pocketmt.compression.activations.estimation import check_outcome
from pocketmt.compression.choosing.allocation import Target, choose_recipe
from pocketmt.compression.run import CompressionTask, compress_run
from pocketmt.engine import Translator
from pocketmt.errors import ConfigurationError
from pocketmt.evaluation.quality import score
from pocketmt.evaluation.records import commit
from pocketmt.evaluation.tables import Column, plain_table
from pocketmt.model_file import Architecture, LstmArchitecture, TransformerArchitecture, open_model
from pocketmt.model_file.report import inspect_model
from pocketmt.packing.run import pack_run
from pocketmt.recipes.schema import Recipe, set_precision
from pocketmt.text.vocabulary import Vocabulary
from pocketmt.training.configuration import Precision
from pocketmt.training.trained_model import read_trained_model

UNCOMPRESSED = "float32"
# Names the row of the recipe that is chosen for an entropy-coded file of this size.
SIZE = re.compile(r"size-(?P<kilobytes>[1-9][0-9]*)kB")
COLUMNS = (
    "recipe",
    "bits:.2f",
    "bytes",
    "times_smaller:.1f=smaller",
    "entropy_coded_bytes=entropy-coded",
    "updates",
    "perplexity:.2f=val perplexity",
    "val.bleu:.2f=val BLEU",
)
FINAL_COLUMNS = (
    "tests.bleu:.2f=tests BLEU",
    "tests.chrf:.2f=chrF",
    f"against.{CONTROL}.gain:+.2f=gain",
    f"against.{CONTROL}.p_value:.3f=p",
    "parity.same_lines_percent:.1f=same lines as PyTorch, %",
)


def main(arguments: Sequence[str]) -> int:
    """Run and score; write the record after each recipe, and print its rows."""
    options = _options(arguments)
    limits = limits_of(options.recipes or all_names(), options.limit_updates)
    model = read_trained_model(options.run)
    data_folder()  # fails before any work if there is none
    folder: Path = options.run / "recipes"
    folder.mkdir(exist_ok=True)
    uncompressed = folder / f"{UNCOMPRESSED}.pocketmt"
    coded = folder / "entropy-coded.pocketmt"  # of the current row, for its size: its translations are the same
    pack_run(options.run, UNCOMPRESSED, uncompressed, licence=LICENCE, description=DESCRIPTION)
    coded_size = pack_run(
        options.run, UNCOMPRESSED, coded, licence=LICENCE, description=DESCRIPTION, entropy_coding=True
    )
    sets = (VALIDATION, *TESTS) if options.final else (VALIDATION,)
    vocabulary = Vocabulary.from_file(options.run / "vocabulary.model")
    baselines = {UNCOMPRESSED: _translations(uncompressed, sets)}
    record = ModelRecord(options.output, model, lambda rows: _summary(rows, model.architecture))
    record.add(_row(UNCOMPRESSED, None, uncompressed, coded_size, uncompressed, baselines[UNCOMPRESSED]))
    for name, limit in {CONTROL: options.limit_updates, **limits}.items():
        path = folder / f"{name}.pocketmt"
        path.parent.mkdir(parents=True, exist_ok=True)
        work = path.with_suffix(".compression")
        recipe = _recipe(name, limit, options.run, work)
        if options.precision is not None:
            recipe = set_precision(recipe, options.precision)
        task = CompressionTask(run=options.run, folder=work, licence=LICENCE, description=DESCRIPTION)
        compress_run(task, recipe, path)
        coded_size = compress_run(dataclasses.replace(task, entropy_coding=True), recipe, coded)
        outputs = _translations(path, sets)
        row = _row(name, recipe, path, coded_size, uncompressed, outputs)
        if options.final:
            row["parity"] = parity(path, vocabulary)
            for baseline, translated in baselines.items():
                row["against"][baseline] = against(translated, outputs)
        record.add(row)
        if name == CONTROL:
            baselines[CONTROL] = outputs
    columns = [*COLUMNS, *FINAL_COLUMNS] if options.final else COLUMNS
    print(plain_table(list(record.rows.values()), [Column.parse(column) for column in columns]))
    return 0


def all_names() -> list[str]:
    """Return the names of all recipes whose result a model file can hold."""
    return [name for name in recipe_names() if _storable(find_recipe(name))]


def _storable(recipe: Recipe) -> bool:
    try:
        check_outcome(recipe)
    except ConfigurationError:
        return False
    return True


def _recipe(name: str, limit: int | None, run: Path, work: Path) -> Recipe:
    """Return the recipe of a row, with at most `limit` updates a stage; the recipe of a size is chosen for the run."""
    size = SIZE.fullmatch(name)
    if size is not None:
        most = 1000 * int(size["kilobytes"])
        target = Target(size=most, updates=limit or DEFAULT_UPDATES, entropy_coding=True)
        return choose_recipe(read_trained_model(run), work, target)
    return limited(find_recipe(name), limit)


def _summary(rows: Rows, architecture: Architecture) -> dict[str, Any]:
    """Return the entries of the record other than its rows."""
    every = list(rows.values())
    found = goals(every, rows[UNCOMPRESSED]["bytes"])
    recurrent = isinstance(architecture, LstmArchitecture)
    return {"tables": paper_tables(rows, recurrent), "frontier": frontier(every), "goals": found}


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="a folder written by `pocketmt train`")
    parser.add_argument(
        "recipes",
        nargs="*",
        metavar="NAME[=UPDATES]",
        help="recipes, or size-NkB for one chosen by size, with an optional limit of updates a stage (default: all "
        "whose result a model file can hold)",
    )
    parser.add_argument("--final", action="store_true", help="also score the test sets, after all choices are made")
    parser.add_argument("--limit-updates", type=int, help="largest number of updates of a stage")
    parser.add_argument("--precision", choices=get_args(Precision), help="precision of all updates")
    parser.add_argument(
        "--output",
        type=Path,
        default=ROOT / "benchmarks" / "records" / "multi30k" / "compression.json",
        help="the record",
    )
    return parser.parse_args(arguments)


def _translations(path: Path, sets: Sequence[str]) -> Outputs:
    translator = Translator(path)
    return {name: translator.translate(lines(name, "en"), beam_size=BEAM, split=False, check=False) for name in sets}


def _row(
    name: str, recipe: Recipe | None, path: Path, coded_size: int, uncompressed: Path, outputs: Outputs
) -> dict[str, Any]:
    """Return size, validation and scores of one model file; None stands for what was not measured."""
    report = inspect_model(path)
    weights = sum(math.prod(matrix.shape) for matrix in report.matrices)
    with open_model(path) as file:
        validation: Any = file.manifest["training"]
        architecture = file.architecture
    scores = validation.get("compression", {})
    row: dict[str, Any] = {
        "recipe": name,
        "paper": recipe.paper if recipe is not None else "",
        "bits": sum(matrix.bits * math.prod(matrix.shape) for matrix in report.matrices) / weights,
        "bytes": path.stat().st_size,
        "times_smaller": uncompressed.stat().st_size / path.stat().st_size,
        "entropy_coded_bytes": coded_size,
        "updates": updates(recipe) if recipe is not None else 0,
        "encoder_sparsity": encoder_sparsity(architecture),
        "perplexity": math.exp(scores["loss"] if "loss" in scores else validation["validation_loss"]),
        "against": {baseline: {"gain": None, "p_value": None} for baseline in (UNCOMPRESSED, CONTROL)},
        "parity": {"same_lines_percent": None, "bleu_engine_minus_pytorch": None},
        "commit": commit(),
    }
    for each, translated in outputs.items():
        row[each] = score_entry(score(translated, lines(each, "de")))
    if set(TESTS) <= outputs.keys():
        row["tests"] = score_entry(score(pooled(outputs), pooled_references()))
    return row


def encoder_sparsity(architecture: Architecture) -> dict[str, float | None]:
    """Return the shares, 0 to 1, of the encoder's heads and feed-forward nodes that pruning removed.

    They are None if the network is not a Transformer.
    """
    if not isinstance(architecture, TransformerArchitecture):
        return {"attention": None, "feed_forward": None}
    sizes, layers = architecture.encoder_sizes(), architecture.encoder_layers
    return {
        "attention": 1 - sum(each.heads for each in sizes) / (layers * architecture.attention_heads),
        "feed_forward": 1 - sum(each.feed_forward for each in sizes) / (layers * architecture.feed_forward_dimension),
    }


if __name__ == "__main__":
    sys.exit(run(main))
