"""Tables on Multi30k whose networks run in PyTorch: quantized activations, and training from random weights.

    python -m benchmarks.multi30k.pytorch_tables build/multi30k/seed2 prato-table-2 prato-table-4
    python -m benchmarks.multi30k.pytorch_tables build/multi30k/seed2 prato-table-{2,3,4} --final
    python -m benchmarks.multi30k.pytorch_tables build/multi30k/seed2 prato-table-5 aji-table-2 --final \
        --output benchmarks/records/multi30k/from-scratch.json

These are Tables 2 to 5 of Prato et al. 2020, and the rows of Table 2 of Aji and Heafield 2020 that are trained from
scratch. The first argument is a folder written by `pocketmt train`, the others are tables or recipes of them (default:
all). Recipes that start from random weights take the vocabulary, sizes and text of that run and none of its weights, so
that it may be short; some recipes go on from the result of such a recipe, which must have run before. Results are kept
in the run's folder `recipes`: a second call resumes where the first was stopped. `val` is scored by greedy search,
which also selects the best update of each recipe; with --final, PyTorch translates both test sets with beam 4, and they
are compared with the equal control: the fp32 model after the same updates at the same rates. The network at the start,
or when quantization begins, is not kept. The record has a row for each recipe; a later call on the same model replaces
the rows of its recipes and keeps the others. If tables share a recipe, the limit of the first applies. Two simultaneous
calls need two --output.
"""

import argparse
import dataclasses
import json
import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.command import run
from benchmarks.data import ROOT
from benchmarks.multi30k.controls import comparable, equal_control
from benchmarks.multi30k.data import VALIDATION
from benchmarks.multi30k.from_scratch_tables import CONTINUATIONS
from benchmarks.multi30k.fully_quantized_tables import TABLES, find_table_recipe, table_recipes, tables
from benchmarks.multi30k.limits import limits_of
from benchmarks.multi30k.model_record import ModelRecord, Outputs, against, updates
from benchmarks.multi30k.paper_tables import UNCOMPRESSED
from benchmarks.multi30k.quality import BEAM, score_entry
from benchmarks.multi30k.texts import MULTI30K, TEXTS, Texts
from benchmarks.record_files import write_record
from benchmarks.stored_size import stored_bytes
from pocketmt.compression.activations.estimation import build_network
from pocketmt.compression.execution import execute
from pocketmt.compression.networks import quantizing_network
from pocketmt.compression.plan import PlannedStage
from pocketmt.compression.planning import make_plan
from pocketmt.compression.stage_result import StageResult, load_result
from pocketmt.decoding.decoder import Decoder
from pocketmt.errors import ConfigurationError
from pocketmt.evaluation.quality import score
from pocketmt.evaluation.records import commit
from pocketmt.evaluation.tables import Column, plain_table
from pocketmt.models.network import TranslationNetwork
from pocketmt.quantization.row_groups import RowGroup, decoded_weights
from pocketmt.recipes.schema import Recipe, change_retraining
from pocketmt.training.trained_model import TrainedModel, read_trained_model

LARGEST_LOSS = 700.0  # nats a token; the perplexity of a larger loss exceeds a float
COLUMNS = (
    "recipe",
    "weight_bits",
    "activation_bits",
    "times_smaller:.2f=smaller",
    "updates",
    "perplexity:.2f=val perplexity",
    "val.bleu:.2f=val BLEU",
)
FINAL_COLUMNS = ("tests.bleu:.2f=tests BLEU", "against.gain:+.2f=gain", "against.p_value:.3f=p")


def main(arguments: Sequence[str]) -> int:
    """Run and score; write the record after each recipe, and print its rows."""
    options = _options(arguments)
    model = read_trained_model(options.run)
    texts = TEXTS[options.texts]
    if options.final:
        texts.folder()  # fails now if there is none, not after hours of training
    folder: Path = options.run / "recipes"
    folder.mkdir(exist_ok=True)
    seed = 1 if options.seed is None else options.seed
    record = ModelRecord(options.output, model, lambda rows: {"tables": tables(rows)}, seed)
    names: dict[str, int | None] = {}
    for table, limit in options.tables.items():
        for name in table_recipes(table) if table in TABLES else [table]:
            names.setdefault(name, limit)
    known: list[Recipe] = []
    for name, limit in names.items():
        recipe = _with_options(comparable(find_table_recipe(name, limit)), options)
        control = None if name in CONTINUATIONS else equal_control(recipe, [recipe, *known])
        if control is not None and control.name != name and control.name not in record.rows:
            record.add(_row(Run(model, control, folder, options.beam, texts), options.final, control.name))
        if control is not None:
            known.append(control)
        record.add(_row(Run(model, recipe, folder, options.beam, texts), options.final, _baseline(name, control)))
    columns = [*COLUMNS, *FINAL_COLUMNS] if options.final else COLUMNS
    print(plain_table([record.rows[name] for name in names], [Column.parse(column) for column in columns]))
    return 0


def _baseline(name: str, control: Recipe | None) -> str:
    """Return the recipe that a recipe is compared with."""
    if name in CONTINUATIONS:
        return CONTINUATIONS[name].baseline
    return UNCOMPRESSED if control is None else control.name


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="a folder written by `pocketmt train`")
    parser.add_argument(
        "tables",
        nargs="*",
        metavar="TABLE[=UPDATES]",
        help=f"{', '.join(TABLES)} or a recipe of one, with an optional limit of updates a stage (default: all)",
    )
    parser.add_argument("--final", action="store_true", help="also score the test sets, after all choices are made")
    parser.add_argument("--texts", choices=list(TEXTS), default=MULTI30K.name, help="default: %(default)s")
    parser.add_argument("--beam", type=int, default=BEAM, help="beam of the test sets (default: %(default)s)")
    parser.add_argument("--batch-tokens", type=int, help="pieces of a batch of all updates")
    parser.add_argument("--validate-every", type=int, help="updates between validations of all recipes")
    parser.add_argument(
        "--seed", type=int, help="of all recipes (default: that of each); each seed needs a folder for itself"
    )
    parser.add_argument("--limit-updates", type=int, help="largest number of updates of a stage")
    parser.add_argument(
        "--output",
        type=Path,
        default=ROOT / "benchmarks" / "records" / "multi30k" / "fully-quantized.json",
        help="the record",
    )
    options = parser.parse_args(arguments)
    options.tables = limits_of(options.tables or TABLES, options.limit_updates)
    recipes = {name for table in TABLES for name in table_recipes(table)}
    unknown = [table for table in options.tables if table not in TABLES and table not in recipes]
    if unknown:
        parser.error(f"unknown table {unknown[0]!r}: choose among {', '.join(TABLES)}, or a recipe of one")
    return options


class Run:
    """A recipe run on a model, or resumed: its result and its network."""

    def __init__(self, model: TrainedModel, recipe: Recipe, folder: Path, beam: int, texts: Texts = MULTI30K) -> None:
        """Run the recipe in its subfolder of `folder`; `beam`: of the test sets of `texts`."""
        if recipe.name in CONTINUATIONS:
            earlier = CONTINUATIONS[recipe.name].earlier
            result = _work(folder, earlier) / "best.0.pt"
            if not result.exists():
                raise ConfigurationError(
                    f"{recipe.name} continues from {result}, which is missing: run the recipe {earlier} first"
                )
            outcome = load_result(result)
            model = dataclasses.replace(model, weights=outcome.weights, digest=f"{model.digest}, {earlier}")
        self.model = model
        self.recipe = recipe
        self.folder = folder
        self.beam = beam
        self.texts = texts
        self.work = _work(folder, recipe.name)
        plan = make_plan(recipe, model.architecture)
        self.outcome, self.groups = execute(model, plan, self.work)
        self.stage: PlannedStage = plan.stages[-1]

    def network(self) -> TranslationNetwork:
        """Return the network that the last validation scored: quantized weights, frozen ranges."""
        weights = decoded_weights(self.outcome.weights, self.outcome.quantized, self.groups)
        return quantizing_network(self.model.architecture, self.stage, {**weights, **self.outcome.ranges}).eval()

    def events(self, kind: str) -> list[dict[str, Any]]:
        """Return the log's events of one kind, in order."""
        events = [json.loads(line) for line in (self.work / "log.jsonl").read_text(encoding="utf-8").splitlines()]
        return [event for event in events if event["event"] == kind]

    def test_outputs(self) -> Outputs:
        """Return the translations of both test sets, from their file if it exists."""
        return self._translations(self.recipe.name, self.network)

    def outputs_of(self, baseline: str) -> Outputs:
        """Return the translations of a recipe that has been scored before, or of the uncompressed model."""

        def uncompressed() -> TranslationNetwork:
            network = build_network(self.model.architecture, None)
            network.load_state_dict(self.model.weights)
            return network.eval()

        return self._translations(baseline, uncompressed)

    def _translations(self, name: str, make_network: Callable[[], TranslationNetwork]) -> Outputs:
        file = translations_file(self.folder, name, self.beam)
        if not file.exists():
            network, vocabulary = make_network(), self.model.vocabularies.source
            outputs: Outputs = {}
            for each in self.texts.tests:
                sources = [vocabulary.encode(line) for line in self.texts.source_lines(each)]
                outputs[each] = [vocabulary.decode(ids) for ids in Decoder([network]).best(sources, self.beam)]
            write_record(outputs, file)
        found: Outputs = json.loads(file.read_text(encoding="utf-8"))
        return found


def _work(folder: Path, name: str) -> Path:
    return folder / f"{name}.compression"


def translations_file(folder: Path, name: str, beam: int) -> Path:
    """Return the file of a recipe's translations of the test sets with a beam, written when it has finished."""
    return _work(folder, name) / f"tests.{beam}.json"


def _with_options(recipe: Recipe, options: argparse.Namespace) -> Recipe:
    settings = {name: getattr(options, name) for name in ("batch_tokens", "validate_every")}
    if options.seed is not None:
        recipe = msgspec.structs.replace(recipe, seed=options.seed)
    return change_retraining(recipe, **{name: value for name, value in settings.items() if value is not None})


def _row(run: Run, final: bool, baseline: str) -> dict[str, Any]:
    """Return the measurements of one recipe, compared with `baseline`; None stands for what was not measured."""
    recipe, scores = run.recipe, run.outcome.scores
    settings = run.stage.activations
    row: dict[str, Any] = {
        "recipe": recipe.name,
        "paper": recipe.paper,
        "weight_bits": max((group.scheme.bits for groups in run.groups.values() for group in groups), default=32),
        "activation_bits": 32 if settings is None else settings.bits,
        "times_smaller": _times_smaller(run.outcome, run.groups),
        "updates": updates(recipe),
        "best_update": scores["update"],
        # Whether a loss exceeded the range of floats; the best validation before that is scored.
        "diverged": bool(run.events("diverged")),
        "perplexity": _perplexity(scores["loss"]),
        "last_perplexity": _perplexity(run.events("validation")[-1]["loss"]),
        VALIDATION: {"bleu": scores["bleu"]},
        "against": {"baseline": baseline, "gain": None, "p_value": None},
        "commit": commit(),
    }
    if final:
        outputs = run.test_outputs()
        row["tests"] = score_entry(score(run.texts.pooled(outputs), *run.texts.pooled_references()))
        if recipe.name != baseline:
            row["against"] |= against(run.outputs_of(baseline), outputs, run.texts)
    return row


def _perplexity(loss: float | None) -> float | None:
    return math.exp(loss) if loss is not None and loss < LARGEST_LOSS else None


def _times_smaller(outcome: StageResult, groups: dict[str, tuple[RowGroup, ...]]) -> float:
    stored = stored_bytes({**outcome.weights, **outcome.ranges}, outcome.quantized, groups)
    return stored_bytes(outcome.weights, {}, {}) / stored


if __name__ == "__main__":
    sys.exit(run(main))
