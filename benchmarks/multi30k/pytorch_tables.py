"""Tables on Multi30k whose networks PyTorch runs: quantized activations, and what is trained from random weights.

    python -m benchmarks.multi30k.pytorch_tables build/multi30k/seed2 q2 q4
    python -m benchmarks.multi30k.pytorch_tables build/multi30k/seed2 q2 q3 q4 --final
    python -m benchmarks.multi30k.pytorch_tables build/multi30k/seed2 q5 l2 --final \
        --output benchmarks/records/multi30k-from-scratch.json

Tables 2 to 5 of paper Q, and what paper L's Table 2 trains from scratch. The first argument is a folder that `pocketmt
train` filled, the others are tables, or recipes of them; without them, all are made. What starts from random weights
takes the folder's vocabulary, sizes and text, and none of its weights: that run may be as short as one likes. The work
lies in its folder `recipes`: a second call goes on where the first was stopped. `val` is scored by greedy search, as
each recipe chooses its best by it; with --final, both test sets are translated by PyTorch, beam 4, and compared with
the fp32 model that was trained as long. The record has a row for each recipe; a further call on the same model replaces
the rows of its recipes and keeps the others. Where tables share a recipe, it has the limit of the first of them. Two
calls at one time need two --output.
"""

import argparse
import dataclasses
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.multi30k.data import ROOT, TESTS, VALIDATION, lines
from benchmarks.multi30k.from_scratch_tables import GOES_ON_FROM
from benchmarks.multi30k.fully_quantized_tables import (
    TABLES,
    control_of,
    find_table_recipe,
    table_recipes,
    tables,
)
from benchmarks.multi30k.limits import limits_of
from benchmarks.multi30k.model_record import ModelRecord, Outputs, against, pooled, pooled_references, updates
from benchmarks.multi30k.quality import BEAM, score_entry
from benchmarks.stored_size import stored_bytes
from pocketmt.evaluation.quality import score
from pocketmt.evaluation.records import commit, write_record
from pocketmt.evaluation.tables import Column, plain_table
from pocketmt.models.network import TranslationNetwork
from pocketmt.models.search import translate
from pocketmt.recipes.activations.estimation import build_network
from pocketmt.recipes.description.plan import PlannedStage, make_plan
from pocketmt.recipes.description.schema import Recipe
from pocketmt.recipes.retraining.compression import compress
from pocketmt.recipes.retraining.outcome import Outcome, decoded_weights, load_outcome
from pocketmt.recipes.retraining.setting import best_file
from pocketmt.recipes.row_groups import RowGroup
from pocketmt.recipes.trained_model import TrainedModel, read_trained_model
from pocketmt.text.vocabulary import Vocabulary

LARGEST_LOSS = 700.0  # nats a token: the perplexity of a larger one is no float
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
    folder: Path = options.run / "recipes"
    folder.mkdir(exist_ok=True)
    model = read_trained_model(options.run)
    record = ModelRecord(options.output, model, lambda rows: {"tables": tables(rows)})
    names: dict[str, int | None] = {}
    for table, limit in options.tables.items():
        for name in table_recipes(table) if table in TABLES else [table]:
            names.setdefault(name, limit)
    for name, limit in names.items():
        record.add(_row(Run(model, find_table_recipe(name, limit), folder), options.final))
    columns = [*COLUMNS, *FINAL_COLUMNS] if options.final else COLUMNS
    print(plain_table([record.rows[name] for name in names], [Column.parse(column) for column in columns]))
    return 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="a folder filled by `pocketmt train`")
    parser.add_argument(
        "tables",
        nargs="*",
        metavar="TABLE[=UPDATES]",
        help=f"of {', '.join(TABLES)} (default: all), or a recipe of one, and the most updates of a stage in it",
    )
    parser.add_argument("--final", action="store_true", help="score the test sets, too: when all choices are made")
    parser.add_argument("--limit-updates", type=int, help="most updates of a stage")
    parser.add_argument(
        "--output",
        type=Path,
        default=ROOT / "benchmarks" / "records" / "multi30k-fully-quantized.json",
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
    """A recipe carried out on a model, or taken up where it is: its outcome, and the network of it."""

    def __init__(self, model: TrainedModel, recipe: Recipe, folder: Path) -> None:
        """Run the recipe in its folder among `folder`'s."""
        earlier = GOES_ON_FROM.get(recipe.name)
        if earlier is not None:
            outcome = load_outcome(best_file(_work(folder, earlier), 0))
            model = dataclasses.replace(model, weights=outcome.weights, digest=f"{model.digest}, {earlier}")
        self.model = model
        self.recipe = recipe
        self.folder = folder
        self.work = _work(folder, recipe.name)
        self.outcome, self.groups = compress(model, recipe, self.work)
        self.stage: PlannedStage = make_plan(recipe, model.architecture)[-1]

    def network(self) -> TranslationNetwork:
        """Return the network that the last validation scored: weights on their grid, ranges frozen."""
        network = build_network(self.model.architecture, self.stage.activations)
        weights = decoded_weights(self.outcome.weights, self.outcome.quantized, self.groups)
        network.load_state_dict({**weights, **self.outcome.ranges})
        return network.eval()

    def events(self, kind: str) -> list[dict[str, Any]]:
        """Return what the log says of one kind of event, in order."""
        events = [json.loads(line) for line in (self.work / "log.jsonl").read_text(encoding="utf-8").splitlines()]
        return [event for event in events if event["event"] == kind]

    def test_outputs(self) -> Outputs:
        """Return the translations of both test sets, made once."""
        file = translations_file(self.folder, self.recipe.name)
        if not file.exists():
            network, vocabulary = self.network(), Vocabulary.from_file(self.model.vocabulary_file)
            outputs: Outputs = {}
            for name in TESTS:
                sources = [vocabulary.encode(line) for line in lines(name, "en")]
                outputs[name] = [vocabulary.decode(ids) for ids in translate(network, sources, beam=BEAM)]
            write_record(outputs, file)
        found: Outputs = json.loads(file.read_text(encoding="utf-8"))
        return found


def _work(folder: Path, name: str) -> Path:
    return folder / f"{name}.compression"


def translations_file(folder: Path, name: str) -> Path:
    """Return where a recipe's translations of the tests are kept, once it is finished."""
    return _work(folder, name) / "tests.json"


def _row(run: Run, final: bool) -> dict[str, Any]:
    """Return what was measured of one recipe; what was not is None."""
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
        # Where training left the numbers that floats can hold; the best validation before that is scored.
        "diverged": bool(run.events("diverged")),
        "perplexity": _perplexity(scores["loss"]),
        "last_perplexity": _perplexity(run.events("validation")[-1]["loss"]),
        VALIDATION: {"bleu": scores["bleu"]},
        "against": {"baseline": control_of(recipe), "gain": None, "p_value": None},
        "commit": commit(),
    }
    if final:
        outputs = run.test_outputs()
        row["tests"] = score_entry(score(pooled(outputs), pooled_references()))
        baseline = translations_file(run.folder, control_of(recipe))
        if recipe.name != control_of(recipe):
            row["against"] |= against(json.loads(baseline.read_text(encoding="utf-8")), outputs)
    return row


def _perplexity(loss: float) -> float | None:
    return math.exp(loss) if loss < LARGEST_LOSS else None


def _times_smaller(outcome: Outcome, groups: dict[str, tuple[RowGroup, ...]]) -> float:
    stored = stored_bytes({**outcome.weights, **outcome.ranges}, outcome.quantized, groups)
    return stored_bytes(outcome.weights, {}, {}) / stored


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
