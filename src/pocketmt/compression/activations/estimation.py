"""Quantized operations of a recipe's stages, and the estimation of their ranges."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import torch
from torch import nn

from pocketmt.compression.activations.fully_quantized import matches, places, quantize_activations, set_quantizing
from pocketmt.errors import ConfigurationError, OtherNetworkError
from pocketmt.model_file.activations.activation_ranges import BUCKETED
from pocketmt.model_file.architecture import Architecture
from pocketmt.models.dropout import Dropouts
from pocketmt.models.network import TranslationNetwork
from pocketmt.models.networks import make_network
from pocketmt.packing.activation_ranges import check_storable
from pocketmt.recipes.activations import NAIVE, STRATEGY, FullQuantization
from pocketmt.recipes.schema import (
    BATCHES,
    DELAY,
    TRIALS,
    Activations,
    FullPrecision,
    LogarithmicInputs,
    Recipe,
    Stage,
    StraightThrough,
)
from pocketmt.training.data import Pair
from pocketmt.training.hooks import Hook
from pocketmt.training.steps import SEED_LIMIT, endless_batches

if TYPE_CHECKING:
    from lightning_fabric import Fabric

_NAMED: Final = {"strategy": STRATEGY, "naive": NAIVE}


@dataclass(frozen=True)
class Estimation:
    """First estimation of the ranges of a stage that quantizes activations (Prato et al. 2020, section 5.1 and 5.3).

    Attributes:
        delay: with retraining: updates before anything new is quantized.
        batches: without retraining: batches of one trial.
        trials: without retraining: number of trials, of which the best is kept.
    """

    delay: int
    batches: int
    trials: int


def plan_estimation(stage: Stage, place: str) -> Estimation | None:
    """Return how a stage estimates ranges; None if it has no [stages.activations].

    Raises ConfigurationError, naming `place`, for settings that do not go with its retraining.
    """
    settings = stage.activations
    if not isinstance(settings, Activations):
        return None
    where = f"{place}.activations"
    if stage.retraining is None and settings.delay is not None:
        raise ConfigurationError(
            f"{where}.delay: it counts updates of retraining, and there is none: leave it out, or retrain"
        )
    if stage.retraining is not None and (settings.batches or settings.trials):
        raise ConfigurationError(
            f"{where}: batches and trials are for quantization after training: leave them out, or [stages.retraining]"
        )
    delay = DELAY if settings.delay is None else settings.delay
    if isinstance(stage.retraining, StraightThrough | FullPrecision) and delay >= stage.retraining.updates:
        raise ConfigurationError(
            f"{where}.delay: quantization would start after {delay} of {stage.retraining.updates} updates: "
            "shorten the delay, or give more updates"
        )
    return Estimation(delay, settings.batches or BATCHES, settings.trials or TRIALS)


def plan_activations(
    stage: Stage, earlier: FullQuantization | None, architecture: Architecture, place: str
) -> FullQuantization | None:
    """Return the operations that are quantized from a stage on; `earlier`: those of the stages before.

    Raises ConfigurationError, naming `place`, for unknown operations, settings of operations that are not quantized,
    patterns that match nothing, a second [stages.activations], or a method that doesn't go with quantized activations.
    """
    settings = stage.activations
    own = isinstance(settings, Activations)
    if (own or earlier is not None) and not isinstance(stage.retraining, StraightThrough | FullPrecision | None):
        raise ConfigurationError(
            f"{place}.retraining: a network whose activations are quantized is retrained by method 'straight_through', "
            "or 'none' if no weight is quantized: choose one of them"
        )
    if not isinstance(settings, Activations):
        return earlier
    if earlier is not None:
        raise ConfigurationError(f"{place}.activations: an earlier stage quantizes activations: leave it out")
    if not architecture.supports_quantized_activations:
        raise OtherNetworkError(
            f"{place}.activations: fully quantized networks are Transformers with self-attention in the decoder, "
            "untied layers, the same number of heads in all layers and no options of other programs (an activation, "
            "other positions, an output bias and so on)",
            "leave [stages.activations] out for this network",
        )
    found = _settings(settings, f"{place}.activations")
    for key in ("bucketed", "clamped_gradient"):
        named = getattr(settings, key)
        # The default of clamped_gradient goes with any operations.
        for name in named if isinstance(named, list) and tuple(named) != FullQuantization.clamped_gradient else ():
            if name not in found.operations:
                raise ConfigurationError(f"{place}.activations.{key}: {name!r} is not among the operations: add it")
    _check_modules(found, architecture, f"{place}.activations.modules")
    return found


def _settings(activations: Activations, where: str) -> FullQuantization:
    """Return the operations of a recipe with names resolved; raises ConfigurationError naming `where`."""
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
    with torch.device("meta"):  # only names are needed: no weights are drawn
        names = places(build_network(architecture, dataclasses.replace(settings, modules=("*",))))
    for pattern in settings.modules:
        if not any(matches(name, [pattern]) for name in names):
            raise ConfigurationError(
                f"{where}: {pattern!r:.120} matches no place where these operations are quantized: give a pattern of "
                f"names such as {names[-1]!r}"
            )


def check_outcome(recipe: Recipe) -> None:
    """Raise ConfigurationError, naming the recipe, if a model file cannot hold its result."""
    for index, stage in enumerate(recipe.stages):
        if isinstance(stage.matrix_inputs, LogarithmicInputs) and stage.matrix_inputs.attention:
            raise ConfigurationError(
                f"the recipe {recipe.name}: stages[{index}].matrix_inputs.attention: a model file cannot hold "
                "quantized products of attention: leave it out, or give --folder and no --output, for its scores alone"
            )
        if isinstance(stage.activations, Activations):
            place = f"stages[{index}].activations"
            try:
                check_storable(_settings(stage.activations, place))
            except ConfigurationError as error:
                raise ConfigurationError(
                    f"the recipe {recipe.name}: {error}; or give --folder and no --output, to get only its scores"
                ) from error


def _chosen(which: bool | list[str], every: tuple[str, ...]) -> tuple[str, ...]:
    if isinstance(which, bool):
        return every if which else ()
    return tuple(which)


class DelayedQuantization(Hook):
    """Quantizes nothing new for a number of updates, in which the ranges of activations are estimated.

    Prato et al. 2020, section 5.3, delay the quantization of weights and activations alike.
    """

    def __init__(self, network: nn.Module, new: Sequence[Hook], delay: int) -> None:
        """Take the network, the trainers of matrices that are quantized from this stage on, and the updates."""
        self.network = network
        self.new = new
        self.delay = delay

    def before_forward(self, update: int) -> None:
        """Switch quantization on or off for the update; ranges are always estimated."""
        quantizing = update > self.delay
        set_quantizing(self.network, quantizing)
        for trainer in self.new:
            trainer.enabled = quantizing


def build_network(
    architecture: Architecture, activations: FullQuantization | None, dropouts: Dropouts | None = None
) -> TranslationNetwork:
    """Return a network of random weights, with the quantized operations of `activations`."""
    network = make_network(architecture, dropouts)
    if activations is not None:
        quantize_activations(network, activations)
    return network


def estimate_ranges(
    network: TranslationNetwork, fabric: "Fabric", pairs: Sequence[Pair], tokens: int, batches: int, seed: int
) -> None:
    """Estimate the ranges of a network that holds none yet, with fixed weights (Prato et al. 2020, section 5.1).

    The network computes as in training, with dropout, and operations are not quantized, as during a delay.

    Args:
        network: after `quantize_activations`.
        fabric: knows the device.
        pairs: the training text.
        tokens: in a batch.
        batches: the number of batches.
        seed: of their order and of dropout.
    """
    network.train()
    set_quantizing(network, False)
    torch.manual_seed(seed % SEED_LIMIT)
    draw = endless_batches(fabric, network.architecture, pairs, tokens, seed)
    with torch.no_grad():
        for _ in range(batches):
            batch = next(draw)
            network(batch.source, batch.target_inputs)
    set_quantizing(network, True)
