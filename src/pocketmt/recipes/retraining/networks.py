"""The network of a stage: of the sizes that pruning left, with whatever is quantized beside weights."""

from collections.abc import Mapping

from torch import Tensor

from pocketmt.model_file.architecture import Architecture
from pocketmt.models.dropout import Dropouts
from pocketmt.models.network import TranslationNetwork
from pocketmt.recipes.activations.estimation import build_network
from pocketmt.recipes.activations.products import quantize_products
from pocketmt.recipes.description.plan import PlannedStage
from pocketmt.recipes.pruning.sublayers import architecture_of


def quantizing_network(
    architecture: Architecture, plan: PlannedStage, state: Mapping[str, Tensor], dropouts: Dropouts | None = None
) -> TranslationNetwork:
    """Return a network with a stage's quantized activations and products.

    Args:
        architecture: of the unpruned network.
        plan: of the stage.
        state: every parameter, from which the sizes of layers are read, and ranges and scales of activations; those
            that it lacks are not estimated yet.
        dropouts: rates; None: no dropout.
    """
    network = build_network(architecture_of(architecture, state), plan.activations, dropouts)
    if plan.products is not None:
        quantize_products(network, plan.products, multiplied_matrices(plan))
    network.load_state_dict({**network.state_dict(), **state})
    return network


def multiplied_matrices(plan: PlannedStage) -> list[str]:
    """Return the quantized matrices of a stage that activations are multiplied with."""
    return [name for name, division in plan.matrices.items() if not division.vectors]
