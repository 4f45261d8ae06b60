"""What benchmarks of recipes on Multi30k share: pooled tests, comparisons, and a record that rows accumulate in."""

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.multi30k.data import TESTS, lines
from pocketmt.evaluation.quality import compare
from pocketmt.evaluation.records import provenance, read_record, write_record
from pocketmt.recipes.description.schema import Recipe
from pocketmt.recipes.trained_model import TrainedModel

Outputs = dict[str, list[str]]  # translations by set
Rows = dict[str, dict[str, Any]]  # by recipe


class ModelRecord:
    """The record of one model: a row for each recipe, kept from call to call."""

    def __init__(self, path: Path, model: TrainedModel, summarize: Callable[[Rows], Mapping[str, Any]]) -> None:
        """Take up the rows of earlier calls on the same model; `summarize` makes what else the record holds of them."""
        self.path = path
        self.summarize = summarize
        self.origin = provenance(seed=1)
        self.model = {
            "digest": model.digest,
            "architecture": dataclasses.asdict(model.architecture),
            "training": model.training,
        }
        earlier = read_record(path) if path.exists() else {}
        same = earlier.get("model", {}).get("digest") == model.digest
        self.rows: Rows = {row["recipe"]: row for row in earlier["rows"]} if same else {}

    def add(self, row: dict[str, Any]) -> None:
        """Put a row in its recipe's place, and write the record."""
        self.rows[row["recipe"]] = row
        found = {"rows": list(self.rows.values()), **self.summarize(self.rows)}
        write_record({**found, "model": self.model, "provenance": self.origin}, self.path)


def updates(recipe: Recipe) -> int:
    """Return the updates of all stages of a recipe."""
    return sum(getattr(stage.retraining, "updates", 0) for stage in recipe.stages)


def pooled(outputs: Outputs) -> list[str]:
    """Return the lines of both test sets, one after the other."""
    return [line for each in TESTS for line in outputs[each]]


def pooled_references() -> list[str]:
    """Return the references of `pooled`."""
    return [line for each in TESTS for line in lines(each, "de")]


def against(baseline: Outputs, outputs: Outputs) -> dict[str, float]:
    """Return the gain in BLEU over a baseline on the pooled tests, and its p by paired bootstrap."""
    bleu = compare(pooled(baseline), pooled(outputs), pooled_references())[0]
    return {"gain": bleu.gain, "p_value": bleu.p_value}
