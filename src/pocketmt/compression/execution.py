"""Execution of a recipe on a trained model: stage after stage, in a folder from which it can resume."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
import torch

from pocketmt.compression.node_pruning import prune_nodes
from pocketmt.compression.plan import Plan
from pocketmt.compression.stage import StageRun
from pocketmt.compression.stage_context import CompressionProgress, StageContext, TrainingDefaults, piece_counts
from pocketmt.compression.stage_result import StageResult, load_result
from pocketmt.compression.texts import Texts, parallel_text, teacher_of, with_translations
from pocketmt.errors import DataError
from pocketmt.models.networks import make_network
from pocketmt.progress import Progress, no_progress
from pocketmt.quantization.row_groups import RowGroup
from pocketmt.recipes.schema import Recipe, extendable_updates, recipe_without_changeable_settings
from pocketmt.training.checkpoints import load_checkpoint
from pocketmt.training.configuration import Configuration, without_changeable_settings, without_locations
from pocketmt.training.inputs import TextRecord, check_unchanged
from pocketmt.training.reporter import Reporter
from pocketmt.training.run_folder import read_settings, record_settings
from pocketmt.training.steps import check_devices, launch, make_fabric, on_existing_devices
from pocketmt.training.trained_model import TrainedModel
from pocketmt.training.translations import hash_lines

if TYPE_CHECKING:
    from lightning_fabric import Fabric

SETTINGS: Final = "compression.json"
CHECKPOINT: Final = "checkpoint.pt"
LOG: Final = "log.jsonl"


class RunFingerprint(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the compression in a folder is of: compression.json."""

    recipe: Recipe
    model: str  # the digest of its weights
    configuration: Configuration | None
    source_text: str | None = None  # the digest of plain text
    # Of the configuration, empty if it is not used. None: of an earlier version, which may have used it.
    texts: tuple[TextRecord, ...] | None = None


def execute(
    model: TrainedModel,
    plan: Plan,
    folder: Path,
    source_text: Path | None = None,
    translated: Progress = no_progress,
    warn: Callable[[str], None] = lambda message: None,
    translations_folder: Path | None = None,
) -> tuple[StageResult, dict[str, tuple[RowGroup, ...]]]:
    """Execute a plan on the model that it was made for, or resume an earlier call with the same arguments.

    A finished call continues if the last stage has more updates than before, unless that stage prunes or its learning
    rate falls linearly, which depends on the number of updates. What `CHANGEABLE` of `pocketmt.training.configuration`
    lists may differ, too, and files may have been moved.

    The folder then holds log.jsonl, compression.json (what was run on what), the uncompressed model's translations
    where a stage learns from them, and the results of the stages. Parallel text is that of the model's configuration.

    Args:
        model: to compress.
        folder: where the compression is logged and resumes.
        source_text: plain text in the source language, which the uncompressed model translates and the compressed one
            learns from; it replaces parallel text where the model has none.
        translated: told how many lines of a text are translated, of how many.
        warn: told that text is missing which is not needed, and that there are fewer devices than the run had.
        translations_folder: of a compression of the same model, which has its translations; None: `folder` has them.

    Returns:
        The best validation of the last stage, and the row groups of every quantized matrix.

    Raises:
        ConfigurationError: the folder holds another compression, or one on text that has changed; or as
            `check_devices`.
        DataError: text that cannot be used, or none where the recipe needs text.
    """
    defaults = _training_defaults(model, plan, warn)
    corpus = parallel_text(model, plan, source_text, warn)
    text_digest = None if source_text is None else hash_lines(source_text, "source", model.text_languages)
    records = () if corpus is None else corpus.texts
    fingerprint = RunFingerprint(plan.recipe, model.digest, model.configuration, text_digest, records)
    folder.mkdir(parents=True, exist_ok=True)
    _record(fingerprint, folder)
    teacher = teacher_of(model, translations_folder or folder, translated)
    texts = with_translations(corpus, plan, source_text, teacher)
    counts = piece_counts(texts.corpus, model.architecture)
    run = partial(_run, model=model, plan=plan, texts=texts, counts=counts, defaults=defaults, folder=folder)
    # Fabric takes arguments apart on their way to other processes, which frozen dataclasses do not allow.
    launch(make_fabric(defaults.training), run)
    last = len(plan.stages) - 1
    result = load_result(folder / f"best.{last}.pt")
    return result, plan.stages[last].row_groups(result.weights, counts)


def _training_defaults(model: TrainedModel, plan: Plan, warn: Callable[[str], None]) -> TrainingDefaults:
    """Return how the model was trained, on devices that exist; on one where nothing is retrained.

    Raises ConfigurationError as `check_devices` does.
    """
    defaults = TrainingDefaults()
    if model.configuration is not None:
        # The run's own precision was for its own training; a recipe says the precision of its stages.
        training = msgspec.structs.replace(model.configuration.training, precision="float32")
        devices = training.devices
        training = on_existing_devices(training) if plan.updates else msgspec.structs.replace(training, devices=1)
        if plan.updates and training.devices < devices:
            warn(
                f"devices is {devices} in the configuration of {model.name}, but {training.devices} will be used here: "
                "an update has the same batches, and takes longer"
            )
        defaults = TrainingDefaults(model.configuration.model, training)
    check_devices(defaults.training)
    return defaults


def _record(fingerprint: RunFingerprint, folder: Path) -> None:
    """Record what is compressed and how.

    Raises ConfigurationError if the folder holds another compression, or if the text has changed.
    """
    earlier = read_settings(folder / SETTINGS, RunFingerprint)
    if earlier is not None and earlier.texts is not None:
        # Parallel text that is not needed may be missing at times, but with plain text it decides what is learnt.
        if fingerprint.source_text is not None or (earlier.texts and fingerprint.texts):
            check_unchanged(earlier.texts, fingerprint.texts or (), folder)
        fingerprint = msgspec.structs.replace(fingerprint, texts=fingerprint.texts or earlier.texts)
    other = "compression by another recipe or of another model, or with another source text"
    # In the folder of an earlier version, only paths tell which text it is.
    texts_recorded = earlier is not None and earlier.texts is not None
    updates = [None if each is None else extendable_updates(each.recipe) for each in (earlier, fingerprint)]
    shorter = updates[0] is not None and updates[1] is not None and updates[1] < updates[0]

    def meaning(each: RunFingerprint) -> RunFingerprint:
        kept = each if shorter else _without_changeable_settings(each)
        configuration = kept.configuration
        if texts_recorded and configuration is not None:
            configuration = without_locations(configuration)
        return msgspec.structs.replace(kept, texts=None, configuration=configuration)

    record_settings(folder, SETTINGS, fingerprint, other, meaning)


def _without_changeable_settings(fingerprint: RunFingerprint) -> RunFingerprint:
    """Return a fingerprint without what may change when a compression is continued."""
    given = fingerprint.configuration
    return msgspec.structs.replace(
        fingerprint,
        recipe=recipe_without_changeable_settings(fingerprint.recipe),
        configuration=None if given is None else without_changeable_settings(given),
    )


def _run(
    fabric: "Fabric",
    model: TrainedModel,
    plan: Plan,
    texts: Texts,
    counts: dict[str, list[int]],
    defaults: TrainingDefaults,
    folder: Path,
) -> None:
    """Run all stages as one of the processes."""
    if defaults.training.threads:
        torch.set_num_threads(defaults.training.threads)
    checkpoint = folder / CHECKPOINT
    state = load_checkpoint(checkpoint) if checkpoint.exists() else None
    progress = CompressionProgress() if state is None else _progress(state, checkpoint)
    fabric.barrier()
    before = [sum(stage.updates for stage in plan.stages[:number]) for number in range(len(plan.stages))]
    reporter = Reporter(
        folder / LOG,
        plan.updates,
        before[progress.stage] + max(progress.update, 0),
        lambda event: (event["stage"], event["update"], event.get("trial", -1) + 1) <= progress.reached,
        fabric.is_global_zero,
    )
    context = StageContext(
        fabric=fabric,
        folder=folder,
        architecture=model.architecture,
        prunes_units=plan.prunes_units,
        seed=plan.recipe.seed,
        reporter=reporter,
        texts=texts,
        counts=counts,
        defaults=defaults,
        make_teacher=lambda: model.network().to(fabric.device),
    )
    try:
        if state is None:
            reporter.labels = {"stage": 0}
            reporter.event("start", 0, recipe=plan.recipe.name, stages=len(plan.stages))
        while True:
            stage = plan.stages[progress.stage]
            reporter.offset, reporter.labels = before[progress.stage], {"stage": progress.stage}
            if not progress.finishes(stage):
                start = _start(context, model, plan, progress.stage)
                if stage.prunes_nodes:
                    start = prune_nodes(context, stage, start, progress.stage)
                run = StageRun(context, stage, start, progress)
                if state is not None:
                    run.load(state)
                run.go()
            if progress.stage == len(plan.stages) - 1:
                break
            progress, state = CompressionProgress(stage=progress.stage + 1), None
    finally:
        reporter.close()


def _progress(state: dict[str, Any], checkpoint: Path) -> CompressionProgress:
    try:
        return CompressionProgress(**state["position"])
    except (KeyError, TypeError) as error:
        raise DataError(
            f"{checkpoint}: another version of PocketMT saved it ({error}): remove {checkpoint.parent} to start again"
        ) from error


def _start(context: StageContext, model: TrainedModel, plan: Plan, stage: int) -> StageResult:
    """Return what a stage starts from: the result of the stage before, the run's weights, or random ones."""
    if stage > 0:
        return load_result(context.result_file(stage - 1))
    if plan.recipe.start == "trained":
        return StageResult(model.weights)
    torch.manual_seed(plan.recipe.seed)
    return StageResult(make_network(model.architecture).state_dict())
