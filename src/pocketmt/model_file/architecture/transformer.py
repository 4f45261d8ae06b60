"""The architecture of a Transformer, including students and pruned networks."""

import dataclasses
from dataclasses import MISSING, dataclass, field, replace
from typing import Final, NamedTuple, TypeGuard

from pocketmt.errors import ConfigurationError
from pocketmt.model_file.architecture.base import MAXIMUM_DIMENSION, Architecture, AttentionKind, Shapes
from pocketmt.model_file.architecture.fields import allowed, bounds, check_kept, check_size

MAXIMUM_POSITION_OFFSET: Final = 1024
ACTIVATIONS: Final = ("relu", "swish", "gelu", "gelu_tanh", "gelu_sigmoid")


class LayerSizes(NamedTuple):
    """Sizes of one layer, after pruning: heads of self-attention and cross-attention, and feed-forward nodes.

    An encoder layer has no cross-attention, a layer with an SSRU no self-attention: 0 heads.
    """

    heads: int
    cross_heads: int
    feed_forward: int


@dataclass(frozen=True, kw_only=True, slots=True, repr=False, eq=False)
class TransformerArchitecture(Architecture):
    """Description of a Transformer; attention_dimension is heads times head size and need not be model_dimension.

    Students (Behnke et al. 2021, section 3) have a recurrent unit instead of the decoder's self-attention, or share one
    layer's parameters among all decoder layers. The lists have the sizes of pruned layers, one number for each layer
    whose parameters are stored; an empty list means that nothing was pruned.

    Attributes:
        norm: "post": layer normalization after each residual connection; "pre": before each sub-layer.
        attention_bias: whether the linear layers of attention have biases.
        decoder_autoregression: "self_attention", "ssru" or "average_attention" (Zhang et al. 2018, section 3).
        tied_decoder_layers: whether one layer's parameters are those of all decoder layers.
        average_attention_dimension: elements between the two layers of average attention's feed-forward network; 0: it
            has none.
        average_attention_activation: between these layers.
        average_attention_gate: whether gates weigh average attention's input and its output.
        activation: of the feed-forward networks; "relu"; "swish": x sigmoid(x); "gelu": x Phi(x), with the error
            function; "gelu_tanh": its approximation by tanh; "gelu_sigmoid": x sigmoid(1.702 x) (Hendrycks and Gimpel
            2016, section 2).
        positions: how positions are encoded, by sinusoids of frequencies f_i, i from 0 below model_dimension / 2:
            "interleaved": sines in even elements and cosines in odd ones, f_i = 10000^(-2i / model_dimension) (Vaswani
            et al. 2017, section 3.5); "concatenated": the same, first all sines, then all cosines (Hugging Face's
            Marian); "concatenated_inclusive": as that, with f_i = 10000^(-i / (model_dimension / 2 - 1)), so that the
            last frequency is 1 / 10000 (Marian, M2M100).
        position_offset: position of the first piece.
        embedding_norm: whether there is a layer normalization after the sum of embedding and position, on both sides.
    """

    type: str = field(default="transformer", metadata=allowed("transformer"))
    feed_forward_dimension: int = field(metadata=bounds(1, MAXIMUM_DIMENSION))
    attention_heads: int = field(metadata=bounds(1, MAXIMUM_DIMENSION))
    attention_dimension: int = field(metadata=bounds(4, MAXIMUM_DIMENSION))
    norm: str = field(metadata=allowed("post", "pre"))
    attention_bias: bool = field(metadata=allowed(False, True))
    decoder_autoregression: str = field(
        default="self_attention", metadata=allowed("self_attention", "ssru", "average_attention")
    )
    tied_decoder_layers: bool = field(default=False, metadata=allowed(False, True))
    encoder_heads: tuple[int, ...] = ()
    encoder_feed_forward: tuple[int, ...] = ()
    decoder_heads: tuple[int, ...] = ()
    decoder_cross_heads: tuple[int, ...] = ()
    decoder_feed_forward: tuple[int, ...] = ()
    average_attention_dimension: int = field(default=0, metadata=bounds(0, MAXIMUM_DIMENSION))
    average_attention_activation: str = field(default="relu", metadata=allowed(*ACTIVATIONS))
    average_attention_gate: bool = field(default=True, metadata=allowed(True, False))
    activation: str = field(default="relu", metadata=allowed(*ACTIVATIONS))
    positions: str = field(
        default="interleaved", metadata=allowed("interleaved", "concatenated", "concatenated_inclusive")
    )
    position_offset: int = field(default=0, metadata=bounds(0, MAXIMUM_POSITION_OFFSET))
    embedding_norm: bool = field(default=False, metadata=allowed(False, True))

    def check_sizes(self) -> None:
        """Raise ConfigurationError where model_dimension is odd, lists do not fit layers, or layers are too large."""
        if self.model_dimension % 2:
            raise ConfigurationError(
                f"architecture: model_dimension is {self.model_dimension}, expected an even number "
                "(sine and cosine share the position encoding)"
            )
        if self.positions == "concatenated_inclusive" and self.model_dimension < 4:
            raise ConfigurationError("architecture: model_dimension is 2, positions 'concatenated_inclusive' need 4")
        if self.decoder_autoregression != "average_attention":
            for each in dataclasses.fields(self):
                if each.name.startswith("average_attention") and getattr(self, each.name) != each.default:
                    raise ConfigurationError(
                        f"architecture: {each.name} is given, but the decoder has no such attention"
                    )
        for name, highest in self.unpruned_sizes().items():
            sizes = getattr(self, name)
            layers = self.encoder_layers if name.startswith("encoder") else self.stored_decoder_layers
            if not isinstance(sizes, tuple):
                raise ConfigurationError(f"architecture: {name} is {sizes!r:.80}, expected a list of sizes")
            if sizes and len(sizes) != layers:
                raise ConfigurationError(f"architecture: {name} has {len(sizes)} sizes, expected {layers}, one a layer")
            for size in sizes:
                check_size(name, size, 1, highest)
        if self.decoder_heads and self.decoder_autoregression != "self_attention":
            raise ConfigurationError("architecture: decoder_heads is given, but the decoder has no self-attention")
        self._check_position_sizes()

    def _check_position_sizes(self) -> None:
        """Raise ConfigurationError where keys and values, or states, of a position take too much memory."""
        stored = self.decoder_sizes()
        elements = sum(2 * sizes.heads * self.head_size or self.model_dimension for sizes in stored)
        check_kept("target", self.decoder_layers // len(stored) * elements)
        check_kept("source", sum(2 * sizes.cross_heads * self.head_size for sizes in stored))

    @property
    def stored_decoder_layers(self) -> int:
        """Decoder layers whose parameters are stored: one where all are tied."""
        return 1 if self.tied_decoder_layers else self.decoder_layers

    @property
    def pre_norm(self) -> bool:
        """Whether layer normalization comes before each sub-layer, not after its residual connection."""
        return self.norm == "pre"

    @property
    def supports_quantized_activations(self) -> bool:
        """Whether it is plain, but for feed-forward layers whose nodes may differ."""
        return replace(self, encoder_feed_forward=(), decoder_feed_forward=()).plain

    @property
    def plain(self) -> bool:
        """Whether it is the Transformer of Vaswani et al. 2017: no field that may be left out has another value."""
        return all(
            each.default is MISSING or getattr(self, each.name) == each.default for each in dataclasses.fields(self)
        )

    def unpruned_sizes(self) -> dict[str, int]:
        """Return the fields that list sizes of pruned layers -> the size of an unpruned one."""
        heads, nodes = self.attention_heads, self.feed_forward_dimension
        return {
            "encoder_heads": heads,
            "encoder_feed_forward": nodes,
            "decoder_heads": heads,
            "decoder_cross_heads": heads,
            "decoder_feed_forward": nodes,
        }

    def heads_of_layers(self, kind: AttentionKind) -> list[int]:
        """Return the heads of each layer; ConfigurationError for the self-attention of a recurrent decoder."""
        if kind == "decoder" and self.decoder_autoregression != "self_attention":
            raise ConfigurationError("the decoder has no self-attention: look at another kind")
        if kind == "encoder":
            return [sizes.heads for sizes in self.encoder_sizes()]
        stored = [sizes.cross_heads if kind == "cross" else sizes.heads for sizes in self.decoder_sizes()]
        return stored * (self.decoder_layers // len(stored))

    def encoder_sizes(self) -> list[LayerSizes]:
        """Return the sizes of every encoder layer."""
        heads = self.encoder_heads or (self.attention_heads,) * self.encoder_layers
        nodes = self.encoder_feed_forward or (self.feed_forward_dimension,) * self.encoder_layers
        return [LayerSizes(*sizes) for sizes in zip(heads, (0,) * self.encoder_layers, nodes, strict=True)]

    def decoder_sizes(self) -> list[LayerSizes]:
        """Return the sizes of every decoder layer whose parameters are stored."""
        layers = self.stored_decoder_layers
        heads = self.decoder_heads or (self.attention_heads,) * layers
        if self.decoder_autoregression != "self_attention":
            heads = (0,) * layers
        cross_heads = self.decoder_cross_heads or (self.attention_heads,) * layers
        nodes = self.decoder_feed_forward or (self.feed_forward_dimension,) * layers
        return [LayerSizes(*sizes) for sizes in zip(heads, cross_heads, nodes, strict=True)]

    def parameter_shapes(self) -> dict[str, tuple[int, ...]]:
        """Return name and shape of every parameter, in the order of the network."""
        shapes = _TransformerShapes(self)
        shapes.embeddings(self)
        shapes.embedding_norm("encoder")
        for index, sizes in enumerate(self.encoder_sizes()):
            shapes.layer(f"encoder.layers.{index}", sizes, "self_attention")
        shapes.final_norm("encoder")
        shapes.embedding_norm("decoder")
        for index, sizes in enumerate(self.decoder_sizes()):
            shapes.layer(f"decoder.layers.{index}", sizes, self.decoder_autoregression)
        shapes.final_norm("decoder")
        shapes.output(self)
        return shapes.found


def is_plain_transformer(architecture: Architecture) -> TypeGuard[TransformerArchitecture]:
    """Return whether a network is the Transformer of Vaswani et al. 2017, as other programs run it."""
    return isinstance(architecture, TransformerArchitecture) and architecture.plain


class _TransformerShapes(Shapes):
    """Shapes of a Transformer's parameters."""

    def __init__(self, architecture: TransformerArchitecture) -> None:
        super().__init__()
        self.architecture = architecture
        self.model = architecture.model_dimension

    def layer(self, layer: str, sizes: LayerSizes, autoregression: str) -> None:
        if autoregression == "ssru":
            self._ssru(f"{layer}.ssru")
        elif autoregression == "average_attention":
            self._average_attention(f"{layer}.average_attention")
        else:
            self._self_attention(f"{layer}.self_attention", sizes.heads * self.architecture.head_size)
        if sizes.cross_heads:
            attention = sizes.cross_heads * self.architecture.head_size
            self.cross_attention(f"{layer}.cross_attention", attention, self.model, self.architecture.attention_bias)
        self.linear(f"{layer}.feed_forward.inner", sizes.feed_forward, self.model, True)
        self.linear(f"{layer}.feed_forward.outer", self.model, sizes.feed_forward, True)
        self.norm(f"{layer}.feed_forward_norm", self.model)

    def embedding_norm(self, stack: str) -> None:
        if self.architecture.embedding_norm:
            self.norm(f"{stack}.embedding_norm", self.model)

    def final_norm(self, stack: str) -> None:
        if self.architecture.pre_norm:
            self.norm(f"{stack}.norm", self.model)

    def _self_attention(self, name: str, attention: int) -> None:
        self.linear(f"{name}.query_key_value", 3 * attention, self.model, self.architecture.attention_bias)
        self.linear(f"{name}.output", self.model, attention, self.architecture.attention_bias)
        self.norm(f"{name}_norm", self.model)

    def _average_attention(self, name: str) -> None:
        nodes = self.architecture.average_attention_dimension
        if nodes:
            self.linear(f"{name}.inner", nodes, self.model, True)
            self.linear(f"{name}.outer", self.model, nodes, True)
        if self.architecture.average_attention_gate:
            self.linear(f"{name}.input_gate", self.model, self.model, True)
            self.linear(f"{name}.average_gate", self.model, self.model, True)
        self.norm(f"{name}_norm", self.model)

    def _ssru(self, name: str) -> None:
        self.linear(f"{name}.input_forget", 2 * self.model, self.model, False)
        self.found[f"{name}.forget_bias"] = (self.model,)
        self.norm(f"{name}_norm", self.model)
