"""The architecture of a model, as the model file states it, and the parameters that it has."""

from dataclasses import asdict, dataclass, fields
from typing import Final

from pocketmt.errors import ConfigurationError

# Bounds that a model on an ordinary CPU stays far within; they keep a hostile file from asking for absurd tables.
MAXIMUM_LAYERS: Final = 256
MAXIMUM_DIMENSION: Final = 1 << 16
MAXIMUM_VOCABULARY: Final = 1 << 24
SPECIAL_PIECES: Final = 4  # pad, bos, eos, unk


@dataclass(frozen=True, kw_only=True, slots=True)
class Architecture:
    """Sizes of a Transformer; attention_dimension is heads times head size and need not be model_dimension.

    Raises ConfigurationError, naming the field, where a size is out of range or sizes do not fit together.
    """

    type: str = "transformer"
    encoder_layers: int
    decoder_layers: int
    model_dimension: int
    feed_forward_dimension: int
    attention_heads: int
    attention_dimension: int
    norm: str
    attention_bias: bool
    vocabulary_size: int

    def __post_init__(self) -> None:
        if self.type != "transformer":
            raise ConfigurationError(f"architecture: type is {self.type!r:.80}, expected 'transformer'")
        if self.norm not in ("post", "pre"):
            raise ConfigurationError(f"architecture: norm is {self.norm!r:.80}, expected 'post' or 'pre'")
        if not isinstance(self.attention_bias, bool):
            raise ConfigurationError(f"architecture: attention_bias is {self.attention_bias!r:.80}, expected a boolean")
        for name, (lowest, highest) in _BOUNDS.items():
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or not lowest <= value <= highest:
                raise ConfigurationError(
                    f"architecture: {name} is {value!r:.80}, expected a whole number from {lowest} to {highest}"
                )
        if self.model_dimension % 2:
            raise ConfigurationError(
                f"architecture: model_dimension is {self.model_dimension}, expected an even number "
                "(sine and cosine share the position encoding)"
            )
        if self.attention_dimension % (4 * self.attention_heads):
            raise ConfigurationError(
                f"architecture: attention_dimension is {self.attention_dimension}, expected a multiple of "
                f"4 x attention_heads = {4 * self.attention_heads}"
            )


_BOUNDS: Final = {
    "encoder_layers": (1, MAXIMUM_LAYERS),
    "decoder_layers": (1, MAXIMUM_LAYERS),
    "model_dimension": (2, MAXIMUM_DIMENSION),
    "feed_forward_dimension": (1, MAXIMUM_DIMENSION),
    "attention_heads": (1, MAXIMUM_DIMENSION),
    "attention_dimension": (4, MAXIMUM_DIMENSION),
    "vocabulary_size": (SPECIAL_PIECES + 1, MAXIMUM_VOCABULARY),
}


def architecture_from_json(value: object) -> Architecture:
    """Read the manifest's architecture object; every field must be there and nothing else.

    Raises:
        ConfigurationError: naming the field that is missing, unknown or out of range.
    """
    if not isinstance(value, dict):
        raise ConfigurationError("architecture: expected an object")
    names = [field.name for field in fields(Architecture)]
    missing = [name for name in names if name not in value]
    unknown = [name for name in value if name not in names]
    if missing or unknown:
        raise ConfigurationError(
            f"architecture: {'missing' if missing else 'unknown'} field {str((missing or unknown)[0])!r:.80}"
        )
    return Architecture(**value)


def architecture_to_json(architecture: Architecture) -> dict[str, str | int | bool]:
    """Return the manifest's architecture object."""
    return asdict(architecture)


def parameter_shapes(architecture: Architecture) -> dict[str, tuple[int, ...]]:
    """Return name and shape of every parameter, in the order of the network; weights are [outputs, inputs].

    Names are those of the PyTorch model's state dict; the two-dimensional ones are the matrices that a scheme may
    make small.
    """
    model, attention = architecture.model_dimension, architecture.attention_dimension
    shapes: dict[str, tuple[int, ...]] = {"embedding.weight": (architecture.vocabulary_size, model)}

    def linear(name: str, outputs: int, inputs: int, bias: bool) -> None:
        shapes[f"{name}.weight"] = (outputs, inputs)
        if bias:
            shapes[f"{name}.bias"] = (outputs,)

    def norm(name: str) -> None:
        shapes[f"{name}.weight"] = (model,)
        shapes[f"{name}.bias"] = (model,)

    def self_attention(layer: str) -> None:
        linear(f"{layer}.self_attention.query_key_value", 3 * attention, model, architecture.attention_bias)
        linear(f"{layer}.self_attention.output", model, attention, architecture.attention_bias)
        norm(f"{layer}.self_attention_norm")

    def cross_attention(layer: str) -> None:
        linear(f"{layer}.cross_attention.query", attention, model, architecture.attention_bias)
        linear(f"{layer}.cross_attention.key_value", 2 * attention, model, architecture.attention_bias)
        linear(f"{layer}.cross_attention.output", model, attention, architecture.attention_bias)
        norm(f"{layer}.cross_attention_norm")

    def feed_forward(layer: str) -> None:
        linear(f"{layer}.feed_forward.inner", architecture.feed_forward_dimension, model, True)
        linear(f"{layer}.feed_forward.outer", model, architecture.feed_forward_dimension, True)
        norm(f"{layer}.feed_forward_norm")

    for stack, layers in (("encoder", architecture.encoder_layers), ("decoder", architecture.decoder_layers)):
        for index in range(layers):
            layer = f"{stack}.layers.{index}"
            self_attention(layer)
            if stack == "decoder":
                cross_attention(layer)
            feed_forward(layer)
        if architecture.norm == "pre":
            norm(f"{stack}.norm")
    return shapes
