"""From the folder of a training run to a model file."""

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypedDict

import msgspec

from pocketmt.recipes.activations.estimation import check_outcome
from pocketmt.recipes.activations.fully_quantized import FullQuantization
from pocketmt.recipes.activations.products import packed_products, recipe_products
from pocketmt.recipes.activations.stored import TrainedActivations, check_storable
from pocketmt.recipes.choosing.allocation import choose_recipe
from pocketmt.recipes.description.plan import make_plan
from pocketmt.recipes.description.schema import Recipe
from pocketmt.recipes.packing.model_file import FLOAT32, About, pack
from pocketmt.recipes.pruning.sublayers import architecture_of
from pocketmt.recipes.retraining.compression import compress
from pocketmt.recipes.retraining.teaching import Progress
from pocketmt.recipes.row_groups import RowGroup
from pocketmt.recipes.trained_model import TrainedModel, read_trained_model
from pocketmt.training.configuration import Configuration
from pocketmt.whole_file import check_output


class Labels(TypedDict):
    """What the one who packs a model says about it."""

    licence: str
    description: str


class Teaching(TypedDict):
    """Plain text for the uncompressed model to teach by, and who is told how far its translation is."""

    source_text: Path | None
    translated: Progress


def pack_run(
    run: Path, scheme: str, output: Path, *, licence: str = "", description: str = "", entropy_coding: bool = False
) -> int:
    """Pack the best weights of a run by a scheme of one name for all matrices; returns the file's bytes.

    Raises as `read_trained_model` and `pack` do.
    """
    model = read_trained_model(run)
    about = _about(model, {"schemes": scheme}, model.training, licence, description)
    vocabulary = model.vocabulary_file.read_bytes()
    return pack(output, model.weights, model.architecture, vocabulary, scheme, about, entropy_coding=entropy_coding)


def compress_run(
    run: Path,
    recipe: Recipe,
    folder: Path,
    output: Path,
    configuration: Configuration | None = None,
    *,
    licence: str = "",
    description: str = "",
    entropy_coding: bool = False,
    maximum_size: int | None = None,
    source_text: Path | None = None,
    translated: Progress = lambda done, total: None,
) -> int:
    """Run a recipe on the best weights of a run, in `folder`, and pack what it makes; returns the file's bytes.

    Args:
        run: the folder of the training run.
        recipe: what to do.
        folder: where the compression is logged and resumes.
        output: the model file.
        configuration: whose text and settings to use; None: the run's own.
        licence: of the model, kept in the file.
        description: the same.
        entropy_coding: as of `pack`.
        maximum_size: most bytes of the file; None: as many as it takes.
        source_text: as of `compress`.
        translated: as of `compress`.

    Raises as `read_trained_model`, `compress` and `pack` do, ConfigurationError, before any work starts, where the
    recipe makes what a model file does not hold, and OversizedError, with nothing written, where the file is larger.
    """
    check_outcome(recipe)
    check_output(output)
    model = _read(run, configuration)
    activations = _activations(recipe, model)
    outcome, groups = compress(model, recipe, folder, source_text, translated)
    training = {**model.training, "compression": outcome.scores}
    about = _about(model, msgspec.to_builtins(recipe), training, licence, description)
    schemes: dict[str, str | Sequence[RowGroup]] = {**groups, "*": FLOAT32}
    vocabulary = model.vocabulary_file.read_bytes()
    ranges = None if activations is None else TrainedActivations(activations, outcome.ranges)
    products = packed_products(recipe_products(recipe), outcome.ranges)
    return pack(
        output,
        outcome.weights,
        architecture_of(model.architecture, outcome.weights),
        vocabulary,
        schemes,
        about,
        outcome.quantized,
        products=products,
        entropy_coding=entropy_coding,
        activations=ranges,
        maximum_size=maximum_size,
    )


def score_run(
    run: Path,
    recipe: Recipe,
    folder: Path,
    configuration: Configuration | None = None,
    source_text: Path | None = None,
    translated: Progress = lambda done, total: None,
) -> dict[str, float]:
    """Run a recipe on the best weights of a run, in `folder`, and pack nothing; returns the best validation's scores.

    Arguments as of `compress_run`; raises as `read_trained_model` and `compress` do.
    """
    outcome, _ = compress(_read(run, configuration), recipe, folder, source_text, translated)
    return outcome.scores


def choose_run_recipe(
    run: Path,
    folder: Path,
    size: int | None,
    damage: float | None,
    updates: int,
    configuration: Configuration | None = None,
    *,
    entropy_coding: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Recipe:
    """Choose a recipe for the model of a run as `choose_recipe` does; arguments as there, and as of `compress_run`.

    Raises as `read_trained_model` and `choose_recipe` do.
    """
    model = _read(run, configuration)
    return choose_recipe(
        model, folder, size=size, damage=damage, updates=updates, entropy_coding=entropy_coding, progress=progress
    )


def _activations(recipe: Recipe, model: TrainedModel) -> FullQuantization | None:
    """Return which activations the recipe's outcome quantizes; raises ConfigurationError where no file holds them."""
    stage = make_plan(recipe, model.architecture)[-1]
    if stage.activations is not None:
        check_storable(stage.activations, [name for each in stage.matrices.values() for name in each.vectors])
    return stage.activations


def _read(run: Path, configuration: Configuration | None) -> TrainedModel:
    model = read_trained_model(run)
    return model if configuration is None else dataclasses.replace(model, configuration=configuration)


def _about(
    model: TrainedModel, recipe: dict[str, object], training: dict[str, object], licence: str, description: str
) -> About:
    return About(
        source_language=model.languages["source"],
        target_language=model.languages["target"],
        licence=licence,
        description=description,
        recipe=recipe,
        training=training,
    )
