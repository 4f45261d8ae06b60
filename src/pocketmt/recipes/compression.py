"""Running a recipe on a trained model: stage after stage, in a folder in which it can be killed and resumes."""

from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import torch
from lightning_fabric import Fabric

from pocketmt.errors import DataError
from pocketmt.models.transformer import Transformer
from pocketmt.recipes.outcome import Outcome, load_outcome
from pocketmt.recipes.plan import PlannedStage, make_plan
from pocketmt.recipes.row_groups import RowGroup
from pocketmt.recipes.schema import Recipe
from pocketmt.recipes.stage import Position, Setting, StageRun, best_file, piece_counts, row_groups
from pocketmt.recipes.trained_model import TrainedModel
from pocketmt.training.checkpoints import claim_folder, load_checkpoint
from pocketmt.training.configuration import Configuration, Training
from pocketmt.training.data import Corpus, load_corpus
from pocketmt.training.progress import Reporter
from pocketmt.training.steps import make_fabric


class Claim(msgspec.Struct, frozen=True):
    """What a folder's compression is of: compression.json."""

    recipe: Recipe
    model: str  # the digest of its weights
    configuration: Configuration | None


def compress(model: TrainedModel, recipe: Recipe, folder: Path) -> tuple[Outcome, dict[str, tuple[RowGroup, ...]]]:
    """Run a recipe on a model, or go on where an earlier call with the same two was stopped.

    The folder then holds log.jsonl, compression.json (what was run on what), and the outcome; text is the model's own
    configuration's.

    Returns:
        The best validation of the last stage, and the row groups of every quantized matrix.

    Raises:
        ConfigurationError: a recipe that cannot be carried out on this model (before any work starts), or a folder that
            holds another compression.
        DataError: text that cannot be used, or no configuration where the recipe needs text.
    """
    plan = make_plan(recipe, model.architecture)
    corpus = _corpus(model, plan)
    folder.mkdir(parents=True, exist_ok=True)
    claim = Claim(recipe, model.digest, model.configuration)
    claim_folder(folder, "compression.json", claim, "compression by another recipe or of another model")
    settings = Training(accelerator="cpu") if model.configuration is None else model.configuration.training
    # Fabric takes arguments apart on their way to other processes, which frozen dataclasses do not allow.
    make_fabric(settings).launch(partial(_run, model=model, recipe=recipe, plan=plan, corpus=corpus, folder=folder))
    counts = piece_counts(corpus, model.architecture.vocabulary_size)
    return load_outcome(best_file(folder, len(plan) - 1)), row_groups(plan[-1], counts)


def needs_text(plan: list[PlannedStage]) -> bool:
    """Return whether a recipe cannot be carried out without parallel text."""
    return any(
        stage.retraining is not None
        or stage.compensation is not None
        or stage.estimation is not None
        or any(division.ratio is not None for division in stage.matrices.values())
        for stage in plan
    )


def _corpus(model: TrainedModel, plan: list[PlannedStage]) -> Corpus | None:
    """Load the text of the model's own configuration; None where there is none, and none is needed."""
    if model.configuration is None:
        if needs_text(plan):
            raise DataError(
                f"{model.vocabulary_file.parent} holds no configuration.json, and the recipe needs text, to retrain, "
                "to estimate ranges or to count words: give a training configuration"
            )
        return None
    try:
        return load_corpus(model.configuration.data, model.vocabulary_file)
    except DataError:
        if needs_text(plan):
            raise
        return None


def _run(
    fabric: Fabric, model: TrainedModel, recipe: Recipe, plan: list[PlannedStage], corpus: Corpus | None, folder: Path
) -> None:
    """What every process does."""
    configuration: Configuration | None = model.configuration if corpus is not None else None
    if configuration is not None and configuration.training.threads:
        torch.set_num_threads(configuration.training.threads)
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
    setting = Setting(fabric, folder, model, recipe.seed, reporter, corpus, configuration)
    try:
        if state is None:
            reporter.event("start", 0, stage=0, recipe=recipe.name, stages=len(plan))
        while True:
            reporter.offset = _updates_before(plan, position.stage)
            run = StageRun(setting, plan[position.stage], _start(setting, recipe, position), position)
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


def _start(setting: Setting, recipe: Recipe, position: Position) -> Outcome:
    """Return what the position's stage starts from."""
    if position.stage > 0:
        return load_outcome(best_file(setting.folder, position.stage - 1))
    if recipe.start == "trained":
        return Outcome(setting.model.weights, {}, {})
    torch.manual_seed(recipe.seed)
    return Outcome(Transformer(setting.model.architecture).state_dict(), {}, {})


def _updates_before(plan: list[PlannedStage], stage: int) -> int:
    """Return the updates of all stages before one."""
    return sum(each.retraining.updates for each in plan[:stage] if each.retraining is not None)
