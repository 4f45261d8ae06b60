"""What the architectures have in common: a vocabulary, a model dimension, and parameters with names and shapes."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, fields
from typing import Any, Final, Self

from pocketmt.errors import ConfigurationError

# Bounds that a model on an ordinary CPU stays far within; they keep a hostile file from asking for absurd tables.
MAXIMUM_LAYERS: Final = 256
MAXIMUM_DIMENSION: Final = 1 << 16
MAXIMUM_VOCABULARY: Final = 1 << 24
SPECIAL_PIECES: Final = 4  # pad, bos, eos, unk


@dataclass(frozen=True, kw_only=True, slots=True)
class Architecture(ABC):
    """Sizes of a network, each architecture a dataclass of its own.

    Attributes:
        type: the architecture's name.
        model_dimension: of an embedded piece, and of what the output projection reads.
        vocabulary_size: pieces, the special ones counted.
    """

    type: str
    model_dimension: int
    vocabulary_size: int

    @abstractmethod
    def parameter_shapes(self) -> dict[str, tuple[int, ...]]:
        """Return name and shape of every parameter, in the order of the network; weights are [outputs, inputs].

        Names are those of the PyTorch model's state dict; the two-dimensional ones are the matrices that a scheme may
        make small.
        """

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Read the manifest's object; ConfigurationError names the field that is missing, unknown or out of range."""
        known = {field.name: field for field in fields(cls)}
        missing = [name for name, field in known.items() if field.default is MISSING and name not in value]
        unknown = [name for name in value if name not in known]
        if missing or unknown:
            raise ConfigurationError(
                f"architecture: {'missing' if missing else 'unknown'} field {str((missing or unknown)[0])!r:.80}"
            )
        arguments: dict[str, Any] = {
            name: tuple(each) if _is_sizes(known[name], each) else each for name, each in value.items()
        }
        return cls(**arguments)

    def to_json(self) -> dict[str, Any]:
        """Return the manifest's object; what has its default is left out, but for the type."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        defaults = {field.name: field.default for field in fields(self)}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in found.items()
            if name == "type" or value != defaults[name]
        }


def _is_sizes(field: "Field[Any]", value: object) -> bool:
    """Return whether a field that holds a tuple of sizes is given as a list, as JSON has it."""
    return isinstance(field.default, tuple) and isinstance(value, list)


def check_size(name: str, value: object, lowest: int, highest: int) -> None:
    """Raise ConfigurationError, naming the field, where a value is not a whole number within bounds."""
    if not isinstance(value, int) or isinstance(value, bool) or not lowest <= value <= highest:
        raise ConfigurationError(
            f"architecture: {name} is {value!r:.80}, expected a whole number from {lowest} to {highest}"
        )


def check_heads(attention_dimension: int, attention_heads: int) -> None:
    """Raise ConfigurationError unless an attention's elements divide into heads of a multiple of four."""
    if attention_dimension % (4 * attention_heads):
        raise ConfigurationError(
            f"architecture: attention_dimension is {attention_dimension}, expected a multiple of "
            f"4 x attention_heads = {4 * attention_heads}"
        )


class Shapes:
    """Shapes of parameters, gathered layer by layer: what a linear layer and a norm have."""

    def __init__(self) -> None:
        self.found: dict[str, tuple[int, ...]] = {}

    def linear(self, name: str, outputs: int, inputs: int, bias: bool) -> None:
        """Add a weight [outputs, inputs], and a bias where it has one."""
        self.found[f"{name}.weight"] = (outputs, inputs)
        if bias:
            self.found[f"{name}.bias"] = (outputs,)

    def norm(self, name: str, size: int) -> None:
        """Add a layer normalization's gamma and beta."""
        self.found[f"{name}.weight"] = (size,)
        self.found[f"{name}.bias"] = (size,)

    def cross_attention(self, name: str, attention: int, stream: int, bias: bool) -> None:
        """Add an attention of a decoder whose stream, and whose encoder's output, has so many elements."""
        self.linear(f"{name}.query", attention, stream, bias)
        self.linear(f"{name}.key_value", 2 * attention, stream, bias)
        self.linear(f"{name}.output", stream, attention, bias)
        self.norm(f"{name}_norm", stream)
