"""Runs recipes on one trained model and scores each result, also in the layout of the papers' tables.

    python -m benchmarks.multi30k.compression build/multi30k/seed2 8bit aji/log4-error-feedback=500
    python -m benchmarks.multi30k.compression build/multi30k/seed2 --final
    python -m benchmarks.multi30k.compression build/everyday/pocket 8bit log4-distilled --texts tatoeba

The first argument is a folder written by `pocketmt train`; without names, all recipes are run, built-in and of
benchmarks/recipes. Model files and intermediate results are kept in the run's folder `recipes`: a second call resumes
where the first was stopped. Each recipe is compared with its equal control: the uncompressed model after the same
updates at the same rates on the same text. The result of a recipe and of its control is the best retrained network:
the network at the start is not kept. Choices are made on `val`: the test sets are translated only with --final. The
record has a row for each recipe; a later call on the same model replaces the rows of its recipes and keeps the others.
"""

import argparse
import dataclasses
import math
import re
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, get_args

from benchmarks.command import run
from benchmarks.data import ROOT
from benchmarks.multi30k.controls import PREFIX, comparable, equal_control
from benchmarks.multi30k.frontier import frontier, goals
from benchmarks.multi30k.limits import limited, limits_of
from benchmarks.multi30k.model_record import ModelRecord, Outputs, Rows, against, updates
from benchmarks.multi30k.paper_tables import CONTROL, UNCOMPRESSED, paper_tables
from benchmarks.multi30k.parity import parity
from benchmarks.multi30k.quality import score_entry, translate_sets
from benchmarks.multi30k.texts import MULTI30K, TEXTS, Texts
from benchmarks.recipe_files import find_recipe, recipe_names
from pocketmt.cli.compress import DEFAULT_UPDATES
from pocketmt.compression.activations.estimation import build_network, check_outcome
from pocketmt.compression.choosing.allocation import Target, choose_recipe
from pocketmt.compression.planning import make_plan
from pocketmt.compression.run import CompressionTask, compress_run
from pocketmt.compression.stage_context import piece_counts
from pocketmt.compression.stage_result import load_result
from pocketmt.errors import ConfigurationError
from pocketmt.evaluation.quality import score
from pocketmt.evaluation.records import commit
from pocketmt.evaluation.tables import Column, plain_table
from pocketmt.model_file import Architecture, TransformerArchitecture, open_model
from pocketmt.model_file.architecture.lstm import LstmArchitecture
from pocketmt.model_file.report import inspect_model
from pocketmt.packing.run import pack_run
from pocketmt.quantization.row_groups import decoded_weights
from pocketmt.recipes.schema import Recipe, Retraining, change_retraining
from pocketmt.training.configuration import Precision
from pocketmt.training.trained_model import TrainedModel, read_trained_model

NO_PARITY = {"same_lines_percent": None, "bleu_engine_minus_pytorch": None}
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
    "against.control.gain:+.2f=gain",
    "against.control.p_value:.3f=p",
    "parity.same_lines_percent:.1f=same lines as PyTorch, %",
)


def main(arguments: Sequence[str]) -> int:
    """Run and score; write the record after each recipe, and print its rows."""
    options = _options(arguments)
    limits = limits_of(options.recipes or all_names(), options.limit_updates)
    model = read_trained_model(options.run)
    TEXTS[options.texts].folder()  # fails before any work if there is none
    rows = _Rows(options, model)
    record = ModelRecord(options.output, model, lambda found: _summary(found, model.architecture))
    record.add(rows.uncompressed_row())
    for name, limit in limits.items():
        recipe = rows.recipe(name, limit)
        control = equal_control(recipe, rows.controls)
        if control is not None and control.name != name:
            record.add(rows.row(control.name, control, None))
        record.add(rows.row(name, recipe, control))
    columns = [*COLUMNS, *FINAL_COLUMNS] if options.final else COLUMNS
    print(plain_table(list(record.rows.values()), [Column.parse(column) for column in columns]))
    return 0


class _Rows:
    """Runs recipes on a trained model, and measures their files."""

    def __init__(self, options: argparse.Namespace, model: TrainedModel) -> None:
        self.options = options
        self.model = model
        self.texts = TEXTS[options.texts]
        self.folder: Path = options.run / "recipes"
        self.folder.mkdir(exist_ok=True)
        self.uncompressed = self.folder / f"{UNCOMPRESSED}.pocketmt"
        self.coded = self.folder / "entropy-coded.pocketmt"  # of the current row, for its size
        self.controls = [self.recipe(CONTROL, options.limit_updates)]
        self.baselines: dict[str, Outputs] = {}
        self.measured: dict[str, dict[str, Any]] = {}

    def recipe(self, name: str, limit: int | None) -> Recipe:
        """Return the recipe of a row, with the settings of the call."""
        work = self._file(name).with_suffix(".compression")
        recipe = comparable(_recipe(name, limit, self.options.run, work))
        if self.options.precision is not None:
            recipe = change_retraining(recipe, precision=self.options.precision)
        settings = {name: getattr(self.options, name) for name in ("batch_tokens", "validate_every")}
        recipe = change_retraining(recipe, **{name: value for name, value in settings.items() if value is not None})
        return recipe

    def uncompressed_row(self) -> dict[str, Any]:
        """Return the row of the uncompressed model."""
        pack = partial(
            pack_run, self.options.run, UNCOMPRESSED, licence=self.texts.licence, description=self.texts.description
        )
        pack(self.uncompressed)
        coded_size = pack(self.coded, entropy_coding=True)
        outputs = self._translations(self.uncompressed)
        self.baselines[UNCOMPRESSED] = outputs
        row = _row(UNCOMPRESSED, None, self.uncompressed, coded_size, self.uncompressed, outputs, self.texts)
        self.measured[UNCOMPRESSED] = row
        return row

    def row(self, name: str, recipe: Recipe, control: Recipe | None) -> dict[str, Any]:
        """Return the row of a recipe; `control`: its equal control, measured before, if it has one."""
        if name in self.measured:
            return self.measured[name]
        path = self._file(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        work = path.with_suffix(".compression")
        texts = self.texts
        task = CompressionTask(run=self.options.run, folder=work, licence=texts.licence, description=texts.description)
        compress_run(task, recipe, path)
        coded_size = compress_run(dataclasses.replace(task, entropy_coding=True), recipe, self.coded)
        outputs = self._translations(path)
        row = _row(name, recipe, path, coded_size, self.uncompressed, outputs, self.texts)
        equal = self.baselines.get(UNCOMPRESSED if control is None else control.name)
        best = [
            int(load_result(work / f"best.{index}.pt").scores["update"])
            for index, stage in enumerate(recipe.stages)
            if isinstance(stage.retraining, Retraining)
        ]
        row["best_update"], row["best_updates"] = best[-1] if best else None, ", ".join(map(str, best))
        row["control"] |= self._control(name, control)
        if self.options.final:
            if self.options.parity:
                row["parity"] = parity(self.texts, path, self.model.vocabularies.source)
                row["parity_as_trained"] |= self._parity_as_trained(recipe, path, work)
            for baseline, translated in self.baselines.items():
                if not baseline.startswith(PREFIX):
                    row["against"][baseline] = against(translated, outputs, self.texts)
            if equal is not None and not name.startswith(PREFIX):
                row["against"]["control"] = against(equal, outputs, self.texts)
        if name == CONTROL or name.startswith(PREFIX):
            self.baselines[name] = outputs
        self.measured[name] = row
        return row

    def _control(self, name: str, control: Recipe | None) -> dict[str, Any]:
        """Return what the row of a recipe says of its equal control: without retraining the uncompressed model."""
        if control is None:
            return {} if name.startswith(PREFIX) else _of_control(self.measured[UNCOMPRESSED])
        return _of_control(self.measured[control.name]) if control.name != name else {}

    def _parity_as_trained(self, recipe: Recipe, path: Path, work: Path) -> dict[str, float]:
        """Return the agreement of the engine with the network as it was trained, with float32 products."""
        stage = make_plan(recipe, self.model.architecture).stages[-1]
        if stage.activations is None or stage.prunes_nodes:
            return {}
        result = load_result(work / f"best.{len(recipe.stages) - 1}.pt")
        counts = piece_counts(None, self.model.architecture)
        network = build_network(self.model.architecture, stage.activations)
        groups = stage.row_groups(result.weights, counts)
        network.load_state_dict({**decoded_weights(result.weights, result.quantized, groups), **result.ranges})
        return parity(self.texts, path, self.model.vocabularies.source, network.eval())

    def _file(self, name: str) -> Path:
        return self.folder / f"{name}.pocketmt"

    def _translations(self, path: Path) -> Outputs:
        sets = (self.texts.validation, *(self.texts.tests if self.options.final else ()))
        return translate_sets(path, sets, self.texts)


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
    parser.add_argument(
        "--texts",
        choices=list(TEXTS),
        default=MULTI30K.name,
        help="the corpus it was trained on (default: %(default)s)",
    )
    parser.add_argument("--final", action="store_true", help="also score the test sets, after all choices are made")
    parser.add_argument("--limit-updates", type=int, help="largest number of updates of a stage")
    parser.add_argument("--batch-tokens", type=int, help="pieces of a batch of all updates")
    parser.add_argument("--validate-every", type=int, help="updates between validations of all recipes")
    parser.add_argument("--no-parity", dest="parity", action="store_false", help="do not translate in PyTorch")
    parser.add_argument("--precision", choices=get_args(Precision), help="precision of all updates")
    parser.add_argument(
        "--output",
        type=Path,
        default=ROOT / "benchmarks" / "records" / "multi30k" / "compression.json",
        help="the record",
    )
    return parser.parse_args(arguments)


def _row(
    name: str, recipe: Recipe | None, path: Path, coded_size: int, uncompressed: Path, outputs: Outputs, texts: Texts
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
        "against": {baseline: {"gain": None, "p_value": None} for baseline in (UNCOMPRESSED, CONTROL, "control")},
        # Of the reference of the file, and of the network as it was trained, with quantized activations.
        "parity": dict(NO_PARITY),
        "parity_as_trained": dict(NO_PARITY),
        "best_update": None,
        "best_updates": "",
        "control": {"recipe": None, "updates": None, "best_updates": None, "perplexity": None, "tests": {"bleu": None}},
        "commit": commit(),
    }
    for each, translated in outputs.items():
        row[each] = score_entry(score(translated, *texts.reference_lines(each)))
    if set(texts.tests) <= outputs.keys():
        row["tests"] = score_entry(score(texts.pooled(outputs), *texts.pooled_references()))
    return row


def _of_control(row: dict[str, Any]) -> dict[str, Any]:
    tests = {"bleu": row["tests"]["bleu"] if "tests" in row else None}
    return {key: row[key] for key in ("recipe", "updates", "best_updates", "perplexity")} | {"tests": tests}


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
