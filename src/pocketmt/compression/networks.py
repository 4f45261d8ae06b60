"""The network of a stage: of the sizes that pruning left, with its quantized activations."""

from collections.abc import Mapping

from torch import Tensor

from pocketmt.compression.activations.estimation import build_network
from pocketmt.compression.activations.matrix_inputs import quantize_inputs
from pocketmt.compression.plan import PlannedStage
from pocketmt.model_file.architecture import Architecture
from pocketmt.models.dropout import Dropouts
from pocketmt.models.network import TranslationNetwork


def quantizing_network(
    architecture: Architecture, plan: PlannedStage, state: Mapping[str, Tensor], dropouts: Dropouts | None = None
) -> TranslationNetwork:
    """Return a network with a stage's quantized activations.

    Args:
        architecture: of the network with these weights.
        plan: of the stage.
        state: every parameter, and ranges and scales of activations as far as they have been estimated.
        dropouts: rates; None: no dropout.
    """
    network = build_network(architecture, plan.activations, dropouts)
    if plan.input_quantization is not None:
        quantize_inputs(network, plan.input_quantization, list(plan.matrices))
    network.load_state_dict({**network.state_dict(), **state})
    return network
