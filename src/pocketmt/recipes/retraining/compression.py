"""Running a recipe on a trained model: stage after stage, in a folder in which it can be killed and resumes."""

from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import torch
from lightning_fabric import Fabric

from pocketmt.errors import DataError
from pocketmt.recipes.description.plan import PlannedStage, make_plan
from pocketmt.recipes.description.schema import Recipe
from pocketmt.recipes.pruning.sublayers import architecture_of
from pocketmt.recipes.retraining.outcome import Outcome, load_outcome
from pocketmt.recipes.retraining.setting import Position, Setting, Settings, best_file, piece_counts, row_groups
from pocketmt.recipes.retraining.stage import StageRun
from pocketmt.recipes.retraining.start import stage_start, without_nodes
from pocketmt.recipes.retraining.teaching import Progress, Teacher
from pocketmt.recipes.retraining.texts import Texts, parallel_text, taught_texts
from pocketmt.recipes.row_groups import RowGroup
from pocketmt.recipes.trained_model import TrainedModel
from pocketmt.training.checkpoints import claim_folder, load_checkpoint
from pocketmt.training.configuration import Configuration
from pocketmt.training.progress import Reporter
from pocketmt.training.steps import make_fabric
from pocketmt.training.translations import digest_of


class Claim(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a folder's compression is of: compression.json."""

    recipe: Recipe
    model: str  # the digest of its weights
    configuration: Configuration | None
    source_text: str | None = None  # the digest of plain text


def compress(
    model: TrainedModel,
    recipe: Recipe,
    folder: Path,
    source_text: Path | None = None,
    translated: Progress = lambda done, total: None,
) -> tuple[Outcome, dict[str, tuple[RowGroup, ...]]]:
    """Run a recipe on a model, or go on where an earlier call with the same was stopped.

    The folder then holds log.jsonl, compression.json (what was run on what), the uncompressed model's translations
    where a stage learns from them, and the outcome; parallel text is the model's own configuration's.

    Args:
        model: to compress.
        recipe: what to do.
        folder: where the compression is logged and resumes.
        source_text: plain text in the source language, for the uncompressed model to translate and the compressed one
            to learn from; where the model has no parallel text, it is the only one.
        translated: told how many lines of a text are translated, of how many.

    Returns:
        The best validation of the last stage, and the row groups of every quantized matrix.

    Raises:
        ConfigurationError: a recipe that cannot be carried out on this model (before any work starts), or a folder that
            holds another compression.
        DataError: text that cannot be used, or none where the recipe needs text.
    """
    plan = make_plan(recipe, model.architecture)
    corpus = parallel_text(model, plan, source_text)
    claim = Claim(recipe, model.digest, model.configuration, None if source_text is None else digest_of(source_text))
    folder.mkdir(parents=True, exist_ok=True)
    other = "compression by another recipe or of another model, or with another source text"
    claim_folder(folder, "compression.json", claim, other)
    texts = taught_texts(corpus, plan, source_text, Teacher(model, folder / "translations", translated))
    settings = Settings()
    if model.configuration is not None:
        # The run's own precision was for its own training; a recipe says what its stages are retrained in.
        training = msgspec.structs.replace(model.configuration.training, precision="float32")
        settings = Settings(model.configuration.model, training)
    run = partial(_run, model=model, recipe=recipe, plan=plan, texts=texts, settings=settings, folder=folder)
    # Fabric takes arguments apart on their way to other processes, which frozen dataclasses do not allow.
    make_fabric(settings.training).launch(run)
    counts = piece_counts(texts.corpus, model.architecture.vocabulary_size)
    outcome = load_outcome(best_file(folder, len(plan) - 1))
    return outcome, row_groups(_planned(recipe, model, outcome)[-1], counts)


def _run(
    fabric: Fabric,
    model: TrainedModel,
    recipe: Recipe,
    plan: list[PlannedStage],
    texts: Texts,
    settings: Settings,
    folder: Path,
) -> None:
    """What every process does."""
    if settings.training.threads:
        torch.set_num_threads(settings.training.threads)
    checkpoint = folder / "checkpoint.pt"
    state = load_checkpoint(checkpoint) if checkpoint.exists() else None
    position = Position() if state is None else _position(state, checkpoint)
    fabric.barrier()
    reporter = Reporter(
        folder / "log.jsonl",
        sum(stage.retraining.updates for stage in plan if stage.retraining is not None),
        _updates_before(plan, position.stage) + max(position.update, 0),
        lambda event: (event["stage"], event["update"], event.get("trial", -1) + 1) <= position.reached,
        fabric.is_global_zero,
    )
    setting = Setting(fabric, folder, model, recipe.seed, reporter, texts, settings)
    try:
        if state is None:
            reporter.event("start", 0, stage=0, recipe=recipe.name, stages=len(plan))
        while True:
            reporter.offset = _updates_before(plan, position.stage)
            if not position.finishes(plan[position.stage]):
                start = stage_start(setting, recipe, position.stage)
                start = without_nodes(setting, _planned(recipe, model, start)[position.stage], start, position.stage)
                run = StageRun(setting, _planned(recipe, model, start)[position.stage], start, position)
                if state is not None:
                    run.load(state)
                run.go()
            if position.stage == len(plan) - 1:
                break
            position, state = Position(stage=position.stage + 1), None
    finally:
        reporter.close()


def _position(state: dict[str, Any], checkpoint: Path) -> Position:
    try:
        return Position(**state["position"])
    except (KeyError, TypeError) as error:
        raise DataError(
            f"{checkpoint}: another version of PocketMT saved it ({error}): remove {checkpoint.parent} to start anew"
        ) from error


def _planned(recipe: Recipe, model: TrainedModel, weights: Outcome) -> list[PlannedStage]:
    """Return the plan for the sizes that some weights have."""
    return make_plan(recipe, architecture_of(model.architecture, weights.weights))


def _updates_before(plan: list[PlannedStage], stage: int) -> int:
    """Return the updates of all stages before one."""
    return sum(each.retraining.updates for each in plan[:stage] if each.retraining is not None)
