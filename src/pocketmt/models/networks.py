"""Networks by architecture."""

from collections.abc import Callable
from typing import Final

from pocketmt.model_file.architecture import Architecture
from pocketmt.models.dropout import Dropouts
from pocketmt.models.lstm import LstmNetwork
from pocketmt.models.network import TranslationNetwork
from pocketmt.models.transformer import Transformer

_NETWORKS: Final[dict[str, Callable[..., TranslationNetwork]]] = {"transformer": Transformer, "lstm": LstmNetwork}


def make_network(architecture: Architecture, dropouts: Dropouts | None = None) -> TranslationNetwork:
    """Return the network of an architecture, with random weights."""
    return _NETWORKS[architecture.type](architecture, dropouts)
