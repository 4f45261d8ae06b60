"""The architecture of a model: one description that PyTorch and the engine build the network from."""

from collections.abc import Mapping
from typing import Final

from pocketmt.errors import ConfigurationError
from pocketmt.model_file.architecture.base import Architecture, AttentionKind
from pocketmt.model_file.architecture.transformer import LayerSizes, TransformerArchitecture, is_plain_transformer

__all__ = [
    "Architecture",
    "AttentionKind",
    "LayerSizes",
    "TransformerArchitecture",
    "architecture_from_json",
    "is_plain_transformer",
]

_TYPES: Final = ("transformer", "lstm")


def architecture_from_json(value: object) -> Architecture:
    """Read the manifest's architecture object: its type and all fields without a default; unknown ones are refused.

    Raises:
        ConfigurationError: naming the field that is missing, unknown or out of range.
    """
    if not isinstance(value, Mapping):
        raise ConfigurationError("architecture: expected an object")
    if "type" not in value:
        raise ConfigurationError("architecture: missing field 'type'")
    kind = value["type"]
    if not isinstance(kind, str) or kind not in _TYPES:
        raise ConfigurationError(f"architecture: type is {kind!r:.80}, expected {' or '.join(map(repr, _TYPES))}")
    if kind == "transformer":
        return TransformerArchitecture.from_json(value)
    from pocketmt.model_file.architecture.lstm import LstmArchitecture  # Takes 2 ms, and few models are LSTMs.

    return LstmArchitecture.from_json(value)
