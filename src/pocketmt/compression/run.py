"""From a trained model to a compressed model file."""

import dataclasses
import math
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from pocketmt.compression.activations.estimation import check_outcome
from pocketmt.compression.activations.matrix_inputs import packed_input_quantization
from pocketmt.compression.execution import CHECKPOINT, LOG, SETTINGS, RunFingerprint, execute
from pocketmt.compression.plan import Plan
from pocketmt.compression.planning import make_plan
from pocketmt.compression.pruning.sublayers import architecture_of
from pocketmt.compression.stage_result import StageResult
from pocketmt.errors import ConfigurationError
from pocketmt.model_file.writer import check_model_output
from pocketmt.packing.activation_ranges import check_storable
from pocketmt.packing.contents import FLOAT32, PackingOptions, TrainedRanges, contents_of
from pocketmt.packing.decoded import read_model
from pocketmt.packing.model_file import pack
from pocketmt.progress import Progress, no_progress
from pocketmt.quantization.row_groups import RowGroup
from pocketmt.recipes.schema import Recipe
from pocketmt.text.languages import check_same_languages
from pocketmt.training.bleu_tokenization import tokenization_metadata
from pocketmt.training.configuration import Configuration
from pocketmt.training.run_folder import run_folder
from pocketmt.training.steps import DivergedError
from pocketmt.training.trained_model import TrainedModel

# Files that the folder of a training run holds, and that of a compression does not.
_OF_A_RUN: Final = ("configuration.json", "model.safetensors")
# Patterns of the files that a compression writes after its settings.
_RECORDED: Final = (CHECKPOINT, LOG, "best.*.pt", "start.*.pt")
SMALLER: Final = "smaller"  # Folder in that of a compression whose file became too large; see `compress_run_to`.


@dataclass(frozen=True, kw_only=True)
class CompressionTask:
    """A model to compress, and what is asked for besides its recipe.

    Attributes:
        run: folder of a training run, whose best weights are compressed, a model file, or the name of a bundled model.
        folder: where the compression is logged and resumes.
        translations_folder: as of `execute`.
        configuration: whose text and settings are used; None: the run's own.
        source_text: plain text, as of `execute`.
        translated: as of `execute`.
        warn: as of `execute`.
        licence, description: kept in the file; "": those of the model.
        entropy_coding: as of `pack`.
        maximum_size: of the model file in bytes; None: no limit.
    """

    run: Path | str
    folder: Path
    configuration: Configuration | None = None
    source_text: Path | None = None
    translations_folder: Path | None = None
    translated: Progress = no_progress
    warn: Callable[[str], None] = lambda message: None
    licence: str = ""
    description: str = ""
    entropy_coding: bool = False
    maximum_size: int | None = None

    def read_model(self) -> TrainedModel:
        """Return the trained model with the configuration to use; raises as `read_model` and `configured` do."""
        return configured(read_model(self.run), self.configuration)


def configured(model: TrainedModel, configuration: Configuration | None) -> TrainedModel:
    """Return a model with another configuration, if one is given, and without scores on other or unknown text.

    Raises ConfigurationError if the configuration has other languages than the model.
    """
    if configuration is None:
        return model
    data, training = configuration.data, model.training
    if model.language_pieces is None:
        languages = model.languages["source"], model.languages["target"]
        check_same_languages(model.name, languages, "the configuration", data.languages)
    if model.configuration is None or model.configuration.data.validation_files != data.validation_files:
        training = _without_scores(training)
    return dataclasses.replace(model, configuration=configuration, training=training)


def compression_folder(folder: Path) -> AbstractContextManager[None]:
    """Lock the folder of a compression, and remove what a compression without a result leaves; see `run_folder`.

    Translations stay: any recipe can use them.

    Raises ConfigurationError if it is the folder of a training run, or holds files of no compression, and LockedError
    as `run_folder` does.
    """
    if any((folder / name).exists() for name in _OF_A_RUN):
        raise ConfigurationError(
            f"{folder} is the folder of a training run, whose checkpoint would be overwritten: choose another folder"
        )
    found = sorted(path.name for pattern in _RECORDED for path in folder.glob(pattern))
    if found and not (folder / SETTINGS).exists():
        raise ConfigurationError(
            f"{folder} holds {found[0]} but no {SETTINGS}, so it is not the folder of a compression: choose another "
            "folder"
        )

    def holds_result(error: BaseException | None) -> bool:
        # A stage that diverged before its first validation would diverge again from its checkpoint.
        return not isinstance(error, DivergedError) and (folder / CHECKPOINT).exists()

    files = (*_RECORDED, "translations/teacher.pocketmt")
    return run_folder(folder, SETTINGS, RunFingerprint, files, holds_result, kept=(SMALLER,))


def compress_run(task: CompressionTask, recipe: Recipe, output: Path) -> int:
    """Run a recipe on the best weights of a run, and pack the result; returns the file's size in bytes.

    Raises as `compress_in_folder` does, and LockedError if another process is working in the folder.
    """
    check_outcome(recipe)
    check_model_output(output)
    with compression_folder(task.folder):
        return compress_in_folder(task, recipe, output)


def compress_in_folder(task: CompressionTask, recipe: Recipe, output: Path) -> int:
    """Do what `compress_run` does in a folder that is locked.

    Raises as `read_model`, `make_plan`, `execute` and `pack` do; ConfigurationError, before any work starts,
    where a model file cannot hold the result; OversizedError, with nothing written, where the file is too large;
    DivergedError where the loss of the result is not finite.
    """
    check_outcome(recipe)
    check_model_output(output)
    model = task.read_model()
    plan = make_plan(recipe, model.architecture)
    activations = plan.stages[-1].activations
    if activations is not None:
        check_storable(activations, plan.stages[-1].vectors)
    result, groups = _execute(task, model, plan)
    _check_finite(result, model, recipe)
    about = {"licence": task.licence, "description": task.description, "recipe": msgspec.to_builtins(recipe)}
    training = {**training_before(model), "compression": result.scores | tokenization_metadata(result.tokenization)}
    contents = dataclasses.replace(
        contents_of(model, {**groups, "*": FLOAT32}, **about, training=training),
        weights=result.weights,
        architecture=architecture_of(model.architecture, result.weights) if plan.prunes_units else model.architecture,
        quantized=result.quantized,
        activation_quantization=packed_input_quantization(plan.stages[-1].input_quantization, result.ranges),
        activation_ranges=None if activations is None else TrainedRanges(activations, result.ranges),
    )
    return pack(output, contents, PackingOptions(entropy_coding=task.entropy_coding, maximum_size=task.maximum_size))


def _execute(
    task: CompressionTask, model: TrainedModel, plan: Plan
) -> tuple[StageResult, dict[str, tuple[RowGroup, ...]]]:
    return execute(
        model,
        plan,
        task.folder,
        task.source_text,
        task.translated,
        task.warn,
        translations_folder=task.translations_folder,
    )


def training_before(model: TrainedModel) -> dict[str, Any]:
    """Return the facts of a model's training, with the scores after an earlier compression if there was one.

    A model that was only compared with its uncompressed translations has no scores on references.
    """
    scores = model.training.get("compression")
    training = {name: value for name, value in model.training.items() if name != "compression"}
    if not isinstance(scores, dict) or not scores.keys() & {"bleu", "agreement_bleu"}:
        return training
    known = [name for name in ("bleu", "loss") if name in scores and "bleu" in scores]
    before = {f"validation_{name}": scores[name] for name in known}
    if known and "bleu_tokenization" in scores:
        before["bleu_tokenization"] = scores["bleu_tokenization"]
    return _without_scores(training) | before


def _without_scores(training: Mapping[str, Any]) -> dict[str, Any]:
    scores = ("validation_bleu", "validation_loss", "bleu_tokenization", "compression")
    return {name: value for name, value in training.items() if name not in scores}


def score_run(task: CompressionTask, recipe: Recipe) -> dict[str, float]:
    """Run a recipe on the best weights of a run without packing; returns the scores of the best validation.

    Raises as `read_model`, `make_plan` and `execute` do, LockedError as `compress_run` does, and DivergedError where
    the loss of the result is not finite.
    """
    model = task.read_model()
    plan = make_plan(recipe, model.architecture)
    with compression_folder(task.folder):
        result, _ = _execute(task, model, plan)
        _check_finite(result, model, recipe)
    return result.scores


def _check_finite(result: StageResult, model: TrainedModel, recipe: Recipe) -> None:
    if not all(map(math.isfinite, result.scores.values())):
        raise DivergedError(
            f"{model.name}: its validation loss is not finite after the recipe {recipe.name}: choose a recipe with "
            "more bits or a lower learning rate"
        )
