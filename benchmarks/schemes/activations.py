"""Ranges and scales of quantized activations, as a network of random weights has them on random sentences."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from benchmarks.peer.models import random_sources
from benchmarks.schemes.forms import Form
from pocketmt.model_file import Architecture
from pocketmt.models.networks import make_network
from pocketmt.quantization.log_activations import LogarithmicActivations
from pocketmt.quantization.static_activations import CalibratedActivations, StaticActivations
from pocketmt.recipes.activations.estimation import build_network, estimate_ranges
from pocketmt.recipes.activations.fully_quantized import FullQuantization
from pocketmt.recipes.activations.products import calibrate, packed_products, quantize_products
from pocketmt.recipes.activations.stored import TrainedActivations
from pocketmt.training.checkpoints import Weights
from pocketmt.training.configuration import Training
from pocketmt.training.data import Pair
from pocketmt.training.steps import make_fabric

PAIRS: Final = 32
BATCH_TOKENS: Final = 256
BATCHES: Final = 4  # all pairs once


@dataclass(frozen=True)
class SeenActivations:
    """What a model file says of activations, as `pack` takes it."""

    activations: TrainedActivations | None = None
    products: LogarithmicActivations | CalibratedActivations | None = None


def see_activations(
    form: Form, architecture: Architecture, weights: Weights, matrices: Sequence[str], seed: int
) -> SeenActivations:
    """Return what a file of a form says of activations.

    Args:
        form: of the file.
        architecture: of the network.
        weights: every parameter, quantized ones as the file holds them.
        matrices: names of these.
        seed: of the weights. The sentences are not those that `time_in_turn` times.
    """
    pairs = _random_pairs(architecture.vocabulary_size, seed + 1)
    if form.activations is not None:
        return SeenActivations(activations=_with_ranges(form.activations, architecture, weights, pairs, seed))
    if isinstance(form.products, StaticActivations):
        return SeenActivations(products=_with_scales(form.products, architecture, weights, matrices, pairs))
    return SeenActivations(products=form.products)


def _random_pairs(vocabulary_size: int, seed: int) -> list[Pair]:
    drawn = random_sources(vocabulary_size, 2 * PAIRS, seed)
    return list(zip(drawn[:PAIRS], drawn[PAIRS:], strict=True))


def _with_ranges(
    settings: FullQuantization, architecture: Architecture, weights: Weights, pairs: list[Pair], seed: int
) -> TrainedActivations:
    network = build_network(architecture, settings)
    network.load_state_dict({**network.state_dict(), **weights})
    estimate_ranges(network, make_fabric(Training(accelerator="cpu")), pairs, BATCH_TOKENS, BATCHES, seed)
    return TrainedActivations(settings, dict(network.named_buffers()))


def _with_scales(
    products: StaticActivations,
    architecture: Architecture,
    weights: Weights,
    matrices: Sequence[str],
    pairs: list[Pair],
) -> LogarithmicActivations | CalibratedActivations | None:
    network = make_network(architecture)
    network.load_state_dict(weights)
    quantize_products(network, products, matrices)
    calibrate(network, products, matrices, pairs)
    return packed_products(products, dict(network.named_buffers()))
