"""Shared parts of the benchmarks of recipes on Multi30k: pooled test sets, comparisons, and accumulating records."""

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.multi30k.texts import MULTI30K, Texts
from benchmarks.recipe_files import read_renamed_record
from benchmarks.record_files import write_record
from pocketmt.evaluation.quality import compare
from pocketmt.evaluation.records import provenance
from pocketmt.recipes.schema import Recipe
from pocketmt.training.trained_model import TrainedModel

Outputs = dict[str, list[str]]  # set -> translations
Rows = dict[str, dict[str, Any]]  # recipe -> row


class ModelRecord:
    """The record of a model, with a row for each recipe; later calls add rows."""

    def __init__(
        self, path: Path, model: TrainedModel, summarize: Callable[[Rows], Mapping[str, Any]], seed: int = 1
    ) -> None:
        """Read the rows of earlier calls on the same model.

        Args:
            path: the record.
            model: what the recipes compress.
            summarize: computes the other entries from the rows.
            seed: of the recipes.
        """
        self.path = path
        self.summarize = summarize
        self.origin = provenance(seed=seed)
        self.model = {
            "digest": model.digest,
            "architecture": dataclasses.asdict(model.architecture),
            "training": model.training,
        }
        earlier = read_renamed_record(path) if path.exists() else {}
        same = earlier.get("model", {}).get("digest") == model.digest
        self.rows: Rows = {row["recipe"]: row for row in earlier["rows"]} if same else {}

    def add(self, row: dict[str, Any]) -> None:
        """Add or replace the row of a recipe, and write the record."""
        self.rows[row["recipe"]] = row
        found = {"rows": list(self.rows.values()), **self.summarize(self.rows)}
        write_record({**found, "model": self.model, "provenance": self.origin}, self.path)


def updates(recipe: Recipe) -> int:
    """Return the number of updates of all stages."""
    return sum(getattr(stage.retraining, "updates", 0) for stage in recipe.stages)


def against(baseline: Outputs, outputs: Outputs, texts: Texts = MULTI30K) -> dict[str, float]:
    """Return the gain in BLEU over a baseline on the pooled test sets, and its p-value by paired bootstrap."""
    bleu = compare(texts.pooled(baseline), texts.pooled(outputs), *texts.pooled_references())[0]
    return {"gain": bleu.gain, "p_value": bleu.p_value}
