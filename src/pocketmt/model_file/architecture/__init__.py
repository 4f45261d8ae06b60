"""The architecture of a model, as the model file states it, and the parameters that it has."""

from collections.abc import Mapping
from typing import Final

from pocketmt.errors import ConfigurationError
from pocketmt.model_file.architecture.base import Architecture
from pocketmt.model_file.architecture.lstm import LstmArchitecture
from pocketmt.model_file.architecture.transformer import LayerSizes, TransformerArchitecture

__all__ = [
    "Architecture",
    "LayerSizes",
    "LstmArchitecture",
    "TransformerArchitecture",
    "architecture_from_json",
]

_TYPES: Final[dict[str, type[Architecture]]] = {"transformer": TransformerArchitecture, "lstm": LstmArchitecture}


def architecture_from_json(value: object) -> Architecture:
    """Read the manifest's architecture object: every field that has no default must be there, and nothing unknown.

    Raises:
        ConfigurationError: naming the field that is missing, unknown or out of range.
    """
    if not isinstance(value, Mapping):
        raise ConfigurationError("architecture: expected an object")
    kind = value.get("type", "transformer")
    if not isinstance(kind, str) or kind not in _TYPES:
        raise ConfigurationError(f"architecture: type is {kind!r:.80}, expected {' or '.join(map(repr, _TYPES))}")
    return _TYPES[kind].from_json(value)
