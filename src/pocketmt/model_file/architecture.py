"""The architecture of a model, as the model file states it, and the parameters that it has."""

from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any, Final

from pocketmt.errors import ConfigurationError

# Bounds that a model on an ordinary CPU stays far within; they keep a hostile file from asking for absurd tables.
MAXIMUM_LAYERS: Final = 256
MAXIMUM_DIMENSION: Final = 1 << 16
MAXIMUM_VOCABULARY: Final = 1 << 24
SPECIAL_PIECES: Final = 4  # pad, bos, eos, unk


@dataclass(frozen=True, slots=True)
class LayerSizes:
    """What one layer has, after pruning: heads of self-attention and cross-attention, and feed-forward nodes.

    An encoder layer has no cross-attention, a layer with an SSRU no self-attention: 0 heads.
    """

    heads: int
    cross_heads: int
    feed_forward: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Architecture:
    """Sizes of a Transformer; attention_dimension is heads times head size and need not be model_dimension.

    Students [E3] have a recurrent unit in the place of the decoder's self-attention, or share one layer's parameters
    among all decoder layers. What pruning made different from layer to layer stands in lists, one number for each
    layer that has parameters of its own; an empty one means that nothing was pruned.

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
    decoder_autoregression: str = "self_attention"
    tied_decoder_layers: bool = False
    encoder_heads: tuple[int, ...] = ()
    encoder_feed_forward: tuple[int, ...] = ()
    decoder_heads: tuple[int, ...] = ()
    decoder_cross_heads: tuple[int, ...] = ()
    decoder_feed_forward: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for name, allowed in _CHOICES.items():
            if getattr(self, name) not in allowed:
                choices = " or ".join(repr(choice) for choice in allowed)
                raise ConfigurationError(f"architecture: {name} is {getattr(self, name)!r:.80}, expected {choices}")
        for name in ("attention_bias", "tied_decoder_layers"):
            if not isinstance(getattr(self, name), bool):
                raise ConfigurationError(f"architecture: {name} is {getattr(self, name)!r:.80}, expected a boolean")
        for name, (lowest, highest) in _BOUNDS.items():
            _check_size(name, getattr(self, name), lowest, highest)
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
        self._check_pruned_sizes()

    def _check_pruned_sizes(self) -> None:
        for name in _PRUNED:
            sizes = getattr(self, name)
            layers = self.encoder_layers if name.startswith("encoder") else self.own_decoder_layers
            if not isinstance(sizes, tuple):
                raise ConfigurationError(f"architecture: {name} is {sizes!r:.80}, expected a list of sizes")
            if sizes and len(sizes) != layers:
                raise ConfigurationError(f"architecture: {name} has {len(sizes)} sizes, expected {layers}, one a layer")
            highest = self.feed_forward_dimension if name.endswith("feed_forward") else self.attention_heads
            for size in sizes:
                _check_size(name, size, 1, highest)
        if self.decoder_heads and self.decoder_autoregression != "self_attention":
            raise ConfigurationError("architecture: decoder_heads is given, but the decoder has no self-attention")

    @property
    def head_size(self) -> int:
        """Elements of each head's queries, keys and values."""
        return self.attention_dimension // self.attention_heads

    @property
    def own_decoder_layers(self) -> int:
        """Decoder layers that have parameters of their own: one where all are tied."""
        return 1 if self.tied_decoder_layers else self.decoder_layers

    @property
    def plain(self) -> bool:
        """Whether it is a Transformer as in the book: a decoder of self-attention, layers of one size, none tied."""
        pruned = any(getattr(self, name) for name in _PRUNED)
        return self.decoder_autoregression == "self_attention" and not self.tied_decoder_layers and not pruned

    def encoder_sizes(self) -> list[LayerSizes]:
        """Sizes of every encoder layer."""
        heads = self.encoder_heads or (self.attention_heads,) * self.encoder_layers
        nodes = self.encoder_feed_forward or (self.feed_forward_dimension,) * self.encoder_layers
        return [LayerSizes(*sizes) for sizes in zip(heads, (0,) * self.encoder_layers, nodes, strict=True)]

    def decoder_sizes(self) -> list[LayerSizes]:
        """Sizes of every decoder layer that has parameters of its own."""
        layers = self.own_decoder_layers
        heads = self.decoder_heads or (self.attention_heads,) * layers
        if self.decoder_autoregression != "self_attention":
            heads = (0,) * layers
        cross_heads = self.decoder_cross_heads or (self.attention_heads,) * layers
        nodes = self.decoder_feed_forward or (self.feed_forward_dimension,) * layers
        return [LayerSizes(*sizes) for sizes in zip(heads, cross_heads, nodes, strict=True)]


_CHOICES: Final = {
    "type": ("transformer",),
    "norm": ("post", "pre"),
    "decoder_autoregression": ("self_attention", "ssru"),
}

_BOUNDS: Final = {
    "encoder_layers": (1, MAXIMUM_LAYERS),
    "decoder_layers": (1, MAXIMUM_LAYERS),
    "model_dimension": (2, MAXIMUM_DIMENSION),
    "feed_forward_dimension": (1, MAXIMUM_DIMENSION),
    "attention_heads": (1, MAXIMUM_DIMENSION),
    "attention_dimension": (4, MAXIMUM_DIMENSION),
    "vocabulary_size": (SPECIAL_PIECES + 1, MAXIMUM_VOCABULARY),
}

_PRUNED: Final = (
    "encoder_heads",
    "encoder_feed_forward",
    "decoder_heads",
    "decoder_cross_heads",
    "decoder_feed_forward",
)


def _check_size(name: str, value: object, lowest: int, highest: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not lowest <= value <= highest:
        raise ConfigurationError(
            f"architecture: {name} is {value!r:.80}, expected a whole number from {lowest} to {highest}"
        )


def architecture_from_json(value: object) -> Architecture:
    """Read the manifest's architecture object: every field that has no default must be there, and nothing unknown.

    Raises:
        ConfigurationError: naming the field that is missing, unknown or out of range.
    """
    if not isinstance(value, Mapping):
        raise ConfigurationError("architecture: expected an object")
    known = {field.name: field for field in fields(Architecture)}
    missing = [name for name, field in known.items() if field.default is MISSING and name not in value]
    unknown = [name for name in value if name not in known]
    if missing or unknown:
        raise ConfigurationError(
            f"architecture: {'missing' if missing else 'unknown'} field {str((missing or unknown)[0])!r:.80}"
        )
    sizes = {name: tuple(value[name]) for name in _PRUNED if isinstance(value.get(name), list)}
    return Architecture(**{**value, **sizes})


def architecture_to_json(architecture: Architecture) -> dict[str, Any]:
    """Return the manifest's architecture object; what later versions added is there only where it says something."""
    optional = {field.name: field.default for field in fields(Architecture) if field.default is not MISSING}
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in asdict(architecture).items()
        if name == "type" or name not in optional or value != optional[name]
    }


def parameter_shapes(architecture: Architecture) -> dict[str, tuple[int, ...]]:
    """Return name and shape of every parameter, in the order of the network; weights are [outputs, inputs].

    Names are those of the PyTorch model's state dict; the two-dimensional ones are the matrices that a scheme may
    make small.
    """
    shapes = _Shapes(architecture)
    shapes.found["embedding.weight"] = (architecture.vocabulary_size, architecture.model_dimension)
    for index, sizes in enumerate(architecture.encoder_sizes()):
        shapes.layer(f"encoder.layers.{index}", sizes, recurrent=False)
    shapes.end("encoder")
    for index, sizes in enumerate(architecture.decoder_sizes()):
        shapes.layer(f"decoder.layers.{index}", sizes, recurrent=architecture.decoder_autoregression == "ssru")
    shapes.end("decoder")
    return shapes.found


class _Shapes:
    """Shapes of parameters, gathered layer by layer."""

    def __init__(self, architecture: Architecture) -> None:
        self.architecture = architecture
        self.model = architecture.model_dimension
        self.found: dict[str, tuple[int, ...]] = {}

    def layer(self, layer: str, sizes: LayerSizes, recurrent: bool) -> None:
        if recurrent:
            self._ssru(f"{layer}.ssru")
        else:
            self._self_attention(f"{layer}.self_attention", sizes.heads * self.architecture.head_size)
        if sizes.cross_heads:
            self._cross_attention(f"{layer}.cross_attention", sizes.cross_heads * self.architecture.head_size)
        self._linear(f"{layer}.feed_forward.inner", sizes.feed_forward, self.model, True)
        self._linear(f"{layer}.feed_forward.outer", self.model, sizes.feed_forward, True)
        self._norm(f"{layer}.feed_forward_norm")

    def end(self, stack: str) -> None:
        if self.architecture.norm == "pre":
            self._norm(f"{stack}.norm")

    def _self_attention(self, name: str, attention: int) -> None:
        self._linear(f"{name}.query_key_value", 3 * attention, self.model, self.architecture.attention_bias)
        self._linear(f"{name}.output", self.model, attention, self.architecture.attention_bias)
        self._norm(f"{name}_norm")

    def _cross_attention(self, name: str, attention: int) -> None:
        self._linear(f"{name}.query", attention, self.model, self.architecture.attention_bias)
        self._linear(f"{name}.key_value", 2 * attention, self.model, self.architecture.attention_bias)
        self._linear(f"{name}.output", self.model, attention, self.architecture.attention_bias)
        self._norm(f"{name}_norm")

    def _ssru(self, name: str) -> None:
        self._linear(f"{name}.input_forget", 2 * self.model, self.model, False)
        self.found[f"{name}.forget_bias"] = (self.model,)
        self._norm(f"{name}_norm")

    def _linear(self, name: str, outputs: int, inputs: int, bias: bool) -> None:
        self.found[f"{name}.weight"] = (outputs, inputs)
        if bias:
            self.found[f"{name}.bias"] = (outputs,)

    def _norm(self, name: str) -> None:
        self.found[f"{name}.weight"] = (self.model,)
        self.found[f"{name}.bias"] = (self.model,)
