"""The architecture of a Transformer: a student's and a pruned one's too."""

from dataclasses import dataclass, replace
from typing import Final

from pocketmt.errors import ConfigurationError
from pocketmt.model_file.architecture.base import (
    MAXIMUM_DIMENSION,
    MAXIMUM_LAYERS,
    MAXIMUM_VOCABULARY,
    SPECIAL_PIECES,
    Architecture,
    Shapes,
    check_heads,
    check_size,
)


@dataclass(frozen=True, slots=True)
class LayerSizes:
    """What one layer has, after pruning: heads of self-attention and cross-attention, and feed-forward nodes.

    An encoder layer has no cross-attention, a layer with an SSRU no self-attention: 0 heads.
    """

    heads: int
    cross_heads: int
    feed_forward: int


@dataclass(frozen=True, kw_only=True, slots=True)
class TransformerArchitecture(Architecture):
    """Sizes of a Transformer; attention_dimension is heads times head size and need not be model_dimension.

    Students [E3] have a recurrent unit in the place of the decoder's self-attention, or share one layer's parameters
    among all decoder layers. What pruning made different from layer to layer stands in lists, one number for each
    layer that has parameters of its own; an empty one means that nothing was pruned.

    Raises ConfigurationError, naming the field, where a size is out of range or sizes do not fit together.
    """

    type: str = "transformer"
    encoder_layers: int
    decoder_layers: int
    feed_forward_dimension: int
    attention_heads: int
    attention_dimension: int
    norm: str
    attention_bias: bool
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
            check_size(name, getattr(self, name), lowest, highest)
        if self.model_dimension % 2:
            raise ConfigurationError(
                f"architecture: model_dimension is {self.model_dimension}, expected an even number "
                "(sine and cosine share the position encoding)"
            )
        check_heads(self.attention_dimension, self.attention_heads)
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
                check_size(name, size, 1, highest)
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
    def equal_heads(self) -> bool:
        """Whether it is plain but for feed-forward layers, which may differ in their nodes."""
        return replace(self, encoder_feed_forward=(), decoder_feed_forward=()).plain

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

    def parameter_shapes(self) -> dict[str, tuple[int, ...]]:
        """Return name and shape of every parameter, in the order of the network."""
        shapes = _TransformerShapes(self)
        shapes.found["embedding.weight"] = (self.vocabulary_size, self.model_dimension)
        for index, sizes in enumerate(self.encoder_sizes()):
            shapes.layer(f"encoder.layers.{index}", sizes, recurrent=False)
        shapes.end("encoder")
        for index, sizes in enumerate(self.decoder_sizes()):
            shapes.layer(f"decoder.layers.{index}", sizes, recurrent=self.decoder_autoregression == "ssru")
        shapes.end("decoder")
        return shapes.found


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


class _TransformerShapes(Shapes):
    """Shapes of a Transformer's parameters."""

    def __init__(self, architecture: TransformerArchitecture) -> None:
        super().__init__()
        self.architecture = architecture
        self.model = architecture.model_dimension

    def layer(self, layer: str, sizes: LayerSizes, recurrent: bool) -> None:
        if recurrent:
            self._ssru(f"{layer}.ssru")
        else:
            self._self_attention(f"{layer}.self_attention", sizes.heads * self.architecture.head_size)
        if sizes.cross_heads:
            attention = sizes.cross_heads * self.architecture.head_size
            self.cross_attention(f"{layer}.cross_attention", attention, self.model, self.architecture.attention_bias)
        self.linear(f"{layer}.feed_forward.inner", sizes.feed_forward, self.model, True)
        self.linear(f"{layer}.feed_forward.outer", self.model, sizes.feed_forward, True)
        self.norm(f"{layer}.feed_forward_norm", self.model)

    def end(self, stack: str) -> None:
        if self.architecture.norm == "pre":
            self.norm(f"{stack}.norm", self.model)

    def _self_attention(self, name: str, attention: int) -> None:
        self.linear(f"{name}.query_key_value", 3 * attention, self.model, self.architecture.attention_bias)
        self.linear(f"{name}.output", self.model, attention, self.architecture.attention_bias)
        self.norm(f"{name}_norm", self.model)

    def _ssru(self, name: str) -> None:
        self.linear(f"{name}.input_forget", 2 * self.model, self.model, False)
        self.found[f"{name}.forget_bias"] = (self.model,)
        self.norm(f"{name}_norm", self.model)
