"""The activations of a recipe's stages: what of a network is quantized beside weights, and how ranges are estimated."""

import dataclasses
from dataclasses import dataclass
from typing import Final

import torch
from lightning_fabric import Fabric

from pocketmt.errors import ConfigurationError
from pocketmt.model_file.activations import BUCKETED
from pocketmt.model_file.architecture import Architecture, TransformerArchitecture
from pocketmt.models.dropout import Dropouts
from pocketmt.models.network import TranslationNetwork
from pocketmt.models.networks import make_network
from pocketmt.models.transformer import Transformer
from pocketmt.recipes.activations.fully_quantized import (
    NAIVE,
    STRATEGY,
    FullQuantization,
    matches,
    places,
    quantize_activations,
    set_stage,
)
from pocketmt.recipes.activations.stored import check_storable
from pocketmt.recipes.description.schema import (
    BATCHES,
    DELAY,
    TRIALS,
    Activations,
    FullPrecision,
    Recipe,
    Stage,
    StraightThrough,
)
from pocketmt.training.data import Pair
from pocketmt.training.steps import endless_batches

_NAMED: Final = {"strategy": STRATEGY, "naive": NAIVE}


@dataclass(frozen=True)
class Estimation:
    """How the ranges of a stage that quantizes activations are first estimated [Q5].

    Attributes:
        delay: with retraining, updates before anything new is quantized.
        batches: without retraining, of one trial.
        trials: without retraining; the best is kept.
    """

    delay: int
    batches: int
    trials: int


def plan_estimation(stage: Stage, place: str) -> Estimation | None:
    """Return how a stage estimates ranges; None where it has no activations of its own.

    Raises ConfigurationError, naming `place`, for settings that its retraining, or the lack of it, makes void.
    """
    settings = stage.activations
    if not isinstance(settings, Activations):
        return None
    where = f"{place}.activations"
    if stage.retraining is None and settings.delay is not None:
        raise ConfigurationError(
            f"{where}.delay: nothing is retrained whose updates it could count: leave it out, or retrain"
        )
    if stage.retraining is not None and (settings.batches or settings.trials):
        raise ConfigurationError(
            f"{where}: batches and trials are of quantization after training: leave them out, or [stages.retraining]"
        )
    delay = DELAY if settings.delay is None else settings.delay
    if isinstance(stage.retraining, StraightThrough | FullPrecision) and delay >= stage.retraining.updates:
        raise ConfigurationError(
            f"{where}.delay: quantization would start after {delay} updates, of {stage.retraining.updates} in all: "
            "give fewer, or more updates"
        )
    return Estimation(delay, settings.batches or BATCHES, settings.trials or TRIALS)


def plan_activations(
    stage: Stage, earlier: FullQuantization | None, architecture: Architecture, place: str
) -> FullQuantization | None:
    """Return which activations are quantized from a stage on, `earlier` being those before it.

    Raises ConfigurationError, naming `place`, for unknown operations, operations with buckets that are not quantized,
    patterns that match nothing, a second [stages.activations], or a method that doesn't go with quantized activations.
    """
    settings = stage.activations
    own = isinstance(settings, Activations)
    if (own or earlier is not None) and not isinstance(stage.retraining, StraightThrough | FullPrecision | None):
        raise ConfigurationError(
            f"{place}.retraining: a network whose activations are quantized is retrained by method 'straight_through', "
            "or 'none' where no weight is quantized: choose one of them"
        )
    if not isinstance(settings, Activations):
        return earlier
    if earlier is not None:
        raise ConfigurationError(f"{place}.activations: an earlier stage quantizes activations already: leave it out")
    if not isinstance(architecture, TransformerArchitecture) or not architecture.equal_heads:
        raise ConfigurationError(
            f"{place}.activations: fully quantized networks are Transformers with decoders of self-attention, each "
            "layer with its own parameters and all with as many heads: leave [stages.activations] out for this network"
        )
    found = _settings(settings, f"{place}.activations")
    if isinstance(settings.bucketed, list):
        for name in settings.bucketed:
            if name not in found.operations:
                raise ConfigurationError(f"{place}.activations.bucketed: {name!r} is not among the operations: add it")
    _check_modules(found, architecture, f"{place}.activations.modules")
    return found


def _settings(activations: Activations, where: str) -> FullQuantization:
    """Return what a recipe asks for, names resolved; raises ConfigurationError naming `where`."""
    chosen = activations.operations
    try:
        return FullQuantization(
            activations.bits,
            _NAMED[chosen] if isinstance(chosen, str) else tuple(chosen),
            _chosen(activations.bucketed, BUCKETED),
            _chosen(activations.clamped_gradient, NAIVE),
            tuple(activations.modules),
        )
    except ConfigurationError as error:
        raise ConfigurationError(f"{where}: {error}") from error


def _check_modules(settings: FullQuantization, architecture: Architecture, where: str) -> None:
    with torch.device("meta"):  # names alone: no weights are drawn
        names = places(build_network(architecture, dataclasses.replace(settings, modules=("*",))))
    for pattern in settings.modules:
        if not any(matches(name, [pattern]) for name in names):
            raise ConfigurationError(
                f"{where}: {pattern!r:.120} matches no place where these operations are quantized: give a pattern of "
                f"names such as {names[-1]!r}"
            )


def check_outcome(recipe: Recipe) -> None:
    """Raise ConfigurationError, naming the recipe, where its outcome is one that no model file holds."""
    for index, stage in enumerate(recipe.stages):
        if isinstance(stage.activations, Activations):
            place = f"stages[{index}].activations"
            try:
                check_storable(_settings(stage.activations, place))
            except ConfigurationError as error:
                raise ConfigurationError(
                    f"the recipe {recipe.name}: {error}; or give --folder and no --output, to have its scores alone"
                ) from error


def _chosen(which: bool | list[str], every: tuple[str, ...]) -> tuple[str, ...]:
    if isinstance(which, bool):
        return every if which else ()
    return tuple(which)


def build_network(
    architecture: Architecture, activations: FullQuantization | None, dropouts: Dropouts | None = None
) -> TranslationNetwork:
    """Return a network of random weights, fully quantized where `activations` says so."""
    network = make_network(architecture, dropouts)
    if activations is not None:
        assert isinstance(network, Transformer)  # as `plan_activations` sees to
        quantize_activations(network, activations)
    return network


def estimate_ranges(
    network: TranslationNetwork, fabric: Fabric, pairs: list[Pair], tokens: int, batches: int, seed: int
) -> None:
    """Estimate the ranges of a network that holds none yet; weights stand still [Q5].

    The network computes as in training, with dropout; as during a delay, nothing is quantized but what is in its
    weights already.

    Args:
        network: with the ranges of `quantize_activations`.
        fabric: knows the device.
        pairs: the training text.
        tokens: of a batch.
        batches: how many.
        seed: of their order and of dropout.
    """
    network.train()
    set_stage(network, observing=True, quantizing=False)
    torch.manual_seed(seed)
    draw = endless_batches(fabric, pairs, tokens, seed)
    with torch.no_grad():
        for _ in range(batches):
            batch = next(draw)
            network(batch.source, batch.target_inputs)
    set_stage(network, observing=True, quantizing=True)
