"""Networks by architecture."""

from collections.abc import Callable, Mapping
from typing import Final

import torch
from torch import Tensor

from pocketmt.model_file.architecture import Architecture
from pocketmt.models.dropout import Dropouts
from pocketmt.models.lstm import LstmNetwork
from pocketmt.models.network import TranslationNetwork
from pocketmt.models.transformer import PositionedNetwork, Transformer

_NETWORKS: Final[dict[str, Callable[..., TranslationNetwork]]] = {"transformer": Transformer, "lstm": LstmNetwork}


def make_network(architecture: Architecture, dropouts: Dropouts | None = None) -> TranslationNetwork:
    """Return the network of an architecture, with random weights."""
    return _NETWORKS[architecture.type](architecture, dropouts)


def network_of(architecture: Architecture, weights: Mapping[str, Tensor]) -> TranslationNetwork:
    """Return a network in evaluation mode that computes with the given tensors themselves, not with copies of them."""
    with torch.device("meta"):  # no memory for random weights
        network = make_network(architecture)
    network.load_state_dict(dict(weights), assign=True)
    if isinstance(network, PositionedNetwork):
        network.positions = torch.empty(0, architecture.model_dimension)  # is filled when it is needed
    return network.eval().requires_grad_(False)
