"""The network of an architecture."""

from pocketmt.errors import ConfigurationError
from pocketmt.model_file.architecture import Architecture, LstmArchitecture, TransformerArchitecture
from pocketmt.models.dropout import Dropouts
from pocketmt.models.lstm import LstmNetwork
from pocketmt.models.network import TranslationNetwork
from pocketmt.models.transformer import Transformer


def make_network(architecture: Architecture, dropouts: Dropouts | None = None) -> TranslationNetwork:
    """Return a network of random weights."""
    if isinstance(architecture, TransformerArchitecture):
        return Transformer(architecture, dropouts)
    if isinstance(architecture, LstmArchitecture):
        return LstmNetwork(architecture, dropouts)
    raise ConfigurationError(f"no network is of the architecture {architecture.type!r}")
