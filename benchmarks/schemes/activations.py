"""Ranges and scales of quantized activations of a network with random weights, on random sentences."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from benchmarks.peer.models import random_sources
from benchmarks.schemes.forms import Form
from pocketmt.compression.activations.estimation import build_network, estimate_ranges
from pocketmt.compression.activations.matrix_inputs import calibrate, packed_input_quantization, quantize_inputs
from pocketmt.model_file import Architecture
from pocketmt.models.networks import make_network
from pocketmt.packing.contents import TrainedRanges
from pocketmt.quantization.activations.logarithmic import LogarithmicActivations
from pocketmt.quantization.activations.static import CalibratedActivations, StaticActivations
from pocketmt.recipes.activations import FullQuantization
from pocketmt.training.checkpoints import Weights
from pocketmt.training.configuration import Training
from pocketmt.training.data import Pair
from pocketmt.training.steps import make_fabric

PAIRS: Final = 32
BATCH_TOKENS: Final = 256
BATCHES: Final = 4  # all pairs once


@dataclass(frozen=True)
class EstimatedActivations:
    """The entries of a model file about activations, as arguments of `pack`."""

    activations: TrainedRanges | None = None
    input_quantization: LogarithmicActivations | CalibratedActivations | None = None


def estimate_activations(
    form: Form, architecture: Architecture, weights: Weights, matrices: Sequence[str], seed: int
) -> EstimatedActivations:
    """Return the entries of a file about activations.

    Args:
        form: the form of the file.
        architecture: the architecture of the network.
        weights: all parameters, with decoded values of the quantized ones.
        matrices: names of the quantized ones.
        seed: the seed of the weights. The sentences differ from those that `time_in_turn` times.
    """
    pairs = _random_pairs(architecture.vocabulary_size, seed + 1)
    if form.activations is not None:
        return EstimatedActivations(activations=_with_ranges(form.activations, architecture, weights, pairs, seed))
    if isinstance(form.input_quantization, StaticActivations):
        return EstimatedActivations(
            input_quantization=_with_scales(form.input_quantization, architecture, weights, matrices, pairs)
        )
    return EstimatedActivations(input_quantization=form.input_quantization)


def _random_pairs(vocabulary_size: int, seed: int) -> list[Pair]:
    drawn = random_sources(vocabulary_size, 2 * PAIRS, seed)
    return list(zip(drawn[:PAIRS], drawn[PAIRS:], strict=True))


def _with_ranges(
    settings: FullQuantization, architecture: Architecture, weights: Weights, pairs: list[Pair], seed: int
) -> TrainedRanges:
    network = build_network(architecture, settings)
    network.load_state_dict({**network.state_dict(), **weights})
    estimate_ranges(network, make_fabric(Training(accelerator="cpu")), pairs, BATCH_TOKENS, BATCHES, seed)
    return TrainedRanges(settings, dict(network.named_buffers()))


def _with_scales(
    products: StaticActivations,
    architecture: Architecture,
    weights: Weights,
    matrices: Sequence[str],
    pairs: list[Pair],
) -> LogarithmicActivations | CalibratedActivations | None:
    network = make_network(architecture)
    network.load_state_dict(weights)
    quantize_inputs(network, products, matrices)
    calibrate(network, products, matrices, pairs)
    return packed_input_quantization(products, dict(network.named_buffers()))
