"""The Transformer (Vaswani et al. 2017), post-norm or pre-norm.

Shapes: B sentences, S source positions, T target positions, d model dimension, V vocabulary size.
"""

import math

import torch
from torch import Tensor, nn

from pocketmt.model_file.architecture import LayerSizes, TransformerArchitecture
from pocketmt.models.activations import ACTIVATIONS
from pocketmt.models.attention import (
    CrossAttention,
    FixedCache,
    KeyValue,
    SelfAttention,
    Steps,
    padding_mask,
    position_mask,
)
from pocketmt.models.average_attention import Average, AverageAttention, running_means
from pocketmt.models.dropout import Dropout, Dropouts
from pocketmt.models.network import Network, TranslationNetwork, layer_norm
from pocketmt.models.positions import POSITION_TABLES
from pocketmt.models.ssru import SSRU

# Of the positions so far: keys and values of self-attention, the cell [B, d] of an SSRU, or average attention's mean;
# None before the first.
DecoderCache = KeyValue | FixedCache | Average | Tensor | None
# State of one decoder layer: of the positions so far, and its cross-attention cache.
LayerState = tuple[DecoderCache, KeyValue]


def causal_mask(positions: int, device: torch.device) -> Tensor:
    """Attention mask [T, T]: a position sees itself and those before it."""
    return torch.full((positions, positions), -math.inf, device=device).triu_(1)


class FeedForward(nn.Module):
    """outer(activation(inner(x))): [.., d] -> [.., d], with `nodes` elements between the two layers."""

    def __init__(self, architecture: TransformerArchitecture, nodes: int, dropout: float) -> None:
        super().__init__()
        self.inner = nn.Linear(architecture.model_dimension, nodes)
        self.activation = ACTIVATIONS[architecture.activation]()
        self.dropout = Dropout(dropout)
        self.outer = nn.Linear(nodes, architecture.model_dimension)

    def forward(self, x: Tensor) -> Tensor:
        """[.., d] -> [.., d]."""
        outer: Tensor = self.outer(self.dropout(self.activation(self.inner(x))))
        return outer


class Layer(nn.Module):
    """Base of encoder and decoder layers: residual connections and norms around their sub-layers."""

    def __init__(self, architecture: TransformerArchitecture, dropouts: Dropouts) -> None:
        super().__init__()
        self.pre_norm = architecture.pre_norm
        self.residual_dropout = Dropout(dropouts.residual)

    def before(self, norm: nn.Module, x: Tensor) -> Tensor:
        """Input of a sub-layer: x [.., d], normalized in a pre-norm network."""
        return norm(x) if self.pre_norm else x

    def after(self, norm: nn.Module, residual: nn.Module, x: Tensor, update: Tensor) -> Tensor:
        """The residual connection: x + update [.., d], then normalized in a post-norm network.

        `residual` is applied to the sum: the identity, unless a fully quantized network (Prato et al. 2020, section
        3.2) has replaced it.
        """
        x = residual(x + self.residual_dropout(update))
        return x if self.pre_norm else norm(x)


def _attention_arguments(
    architecture: TransformerArchitecture, heads: int, dropouts: Dropouts
) -> tuple[int, int, int, bool, float]:
    return (
        architecture.model_dimension,
        heads * architecture.head_size,
        heads,
        architecture.attention_bias,
        dropouts.attention,
    )


class EncoderLayer(Layer):
    """Self-attention, then feed-forward."""

    def __init__(self, architecture: TransformerArchitecture, sizes: LayerSizes, dropouts: Dropouts) -> None:
        super().__init__(architecture, dropouts)
        dimension = architecture.model_dimension
        self.self_attention = SelfAttention(*_attention_arguments(architecture, sizes.heads, dropouts))
        self.self_attention_norm = layer_norm(architecture, dimension)
        self.self_attention_residual = nn.Identity()
        self.feed_forward = FeedForward(architecture, sizes.feed_forward, dropouts.feed_forward)
        self.feed_forward_norm = layer_norm(architecture, dimension)
        self.feed_forward_residual = nn.Identity()

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """X [B, S, d], mask [B, 1, 1, S] or None; returns [B, S, d]."""
        update, _ = self.self_attention(self.before(self.self_attention_norm, x), mask)
        x = self.after(self.self_attention_norm, self.self_attention_residual, x, update)
        update = self.feed_forward(self.before(self.feed_forward_norm, x))
        return self.after(self.feed_forward_norm, self.feed_forward_residual, x, update)


class DecoderLayer(Layer):
    """An autoregressive sub-layer over the target so far, cross-attention to the source, then feed-forward."""

    def __init__(self, architecture: TransformerArchitecture, sizes: LayerSizes, dropouts: Dropouts) -> None:
        super().__init__(architecture, dropouts)
        dimension = architecture.model_dimension
        self.autoregression = architecture.decoder_autoregression
        if self.autoregression == "ssru":
            self.ssru = SSRU(dimension)
            self.ssru_norm = layer_norm(architecture, dimension)
            self.ssru_residual = nn.Identity()
        elif self.autoregression == "average_attention":
            self.average_attention = AverageAttention(architecture, dropouts.feed_forward)
            self.average_attention_norm = layer_norm(architecture, dimension)
            self.average_attention_residual = nn.Identity()
        else:
            self.self_attention = SelfAttention(*_attention_arguments(architecture, sizes.heads, dropouts))
            self.self_attention_norm = layer_norm(architecture, dimension)
            self.self_attention_residual = nn.Identity()
        self.cross_attention = CrossAttention(*_attention_arguments(architecture, sizes.cross_heads, dropouts))
        self.cross_attention_norm = layer_norm(architecture, dimension)
        self.cross_attention_residual = nn.Identity()
        self.feed_forward = FeedForward(architecture, sizes.feed_forward, dropouts.feed_forward)
        self.feed_forward_norm = layer_norm(architecture, dimension)
        self.feed_forward_residual = nn.Identity()

    def forward(
        self, x: Tensor, state: LayerState, causal: Tensor | None, source_mask: Tensor | None
    ) -> tuple[Tensor, LayerState]:
        """X [B, T, d] -> ([B, T, d], the state with x's positions added)."""
        cache, cross_attention_cache = state
        x, cache = self._add_autoregression(x, cache, causal)
        update = self.cross_attention(self.before(self.cross_attention_norm, x), cross_attention_cache, source_mask)
        x = self.after(self.cross_attention_norm, self.cross_attention_residual, x, update)
        update = self.feed_forward(self.before(self.feed_forward_norm, x))
        x = self.after(self.feed_forward_norm, self.feed_forward_residual, x, update)
        return x, (cache, cross_attention_cache)

    def fixed_cache(self, like: Tensor, rows: int, positions: int, steps: Steps) -> DecoderCache:
        """Return the state before the first position, of fixed shapes and of the dtype and device of `like` [.., d].

        Its zeros stand for no positions: a recurrent sum of nothing, and the mean of no positions.
        """
        dimension = like.shape[-1]
        if self.autoregression == "ssru":
            return like.new_zeros(rows, dimension)
        if self.autoregression == "average_attention":
            return like.new_zeros(rows, dimension, dtype=torch.float32), like.new_zeros(rows, dtype=torch.float32)
        shape = rows, self.self_attention.heads, positions, self.self_attention.head_size
        return FixedCache(like.new_zeros(shape), like.new_zeros(shape), steps)

    def _add_autoregression(self, x: Tensor, cache: DecoderCache, causal: Tensor | None) -> tuple[Tensor, DecoderCache]:
        if self.autoregression == "ssru":
            update, cache = self.ssru(self.before(self.ssru_norm, x), cache)
            return self.after(self.ssru_norm, self.ssru_residual, x, update), cache
        if self.autoregression == "average_attention":
            means, cache = running_means(x, cache)  # type: ignore[arg-type]
            update = self.average_attention(x, self.before(self.average_attention_norm, means))
            return self.after(self.average_attention_norm, self.average_attention_residual, x, update), cache
        assert not isinstance(cache, Tensor)
        update, cache = self.self_attention(self.before(self.self_attention_norm, x), causal, cache)
        return self.after(self.self_attention_norm, self.self_attention_residual, x, update), cache


def _embedding_norm(architecture: TransformerArchitecture) -> nn.Module:
    return layer_norm(architecture, architecture.model_dimension) if architecture.embedding_norm else nn.Identity()


def _final_norm(architecture: TransformerArchitecture) -> nn.Module:
    return layer_norm(architecture, architecture.model_dimension) if architecture.pre_norm else nn.Identity()


class Encoder(nn.Module):
    """A stack of encoder layers, with a final norm in a pre-norm network."""

    def __init__(self, architecture: TransformerArchitecture, dropouts: Dropouts) -> None:
        super().__init__()
        self.input: nn.Module = nn.Identity()  # applied to embedding plus position; quantized networks replace it
        self.embedding_norm = _embedding_norm(architecture)
        self.layers = nn.ModuleList(
            EncoderLayer(architecture, sizes, dropouts) for sizes in architecture.encoder_sizes()
        )
        self.norm = _final_norm(architecture)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """X [B, S, d] -> [B, S, d]."""
        for layer in self.layers:
            x = layer(x, mask)
        normed: Tensor = self.norm(x)
        return normed


class Decoder(nn.Module):
    """A stack of decoder layers, with a final norm in a pre-norm network; tied layers are one layer, run repeatedly."""

    def __init__(self, architecture: TransformerArchitecture, dropouts: Dropouts) -> None:
        super().__init__()
        self.input: nn.Module = nn.Identity()  # applied to embedding plus position; quantized networks replace it
        self.embedding_norm = _embedding_norm(architecture)
        self.layers = nn.ModuleList(
            DecoderLayer(architecture, sizes, dropouts) for sizes in architecture.decoder_sizes()
        )
        self.rounds = architecture.decoder_layers // len(self.layers)  # more than one where layers are tied
        self.norm = _final_norm(architecture)

    def forward(
        self, x: Tensor, states: list[LayerState], causal: Tensor | None, source_mask: Tensor | None
    ) -> tuple[Tensor, list[LayerState]]:
        """X [B, T, d] and a state for each layer that is run -> ([B, T, d], new states)."""
        new_states = []
        for layer, state in zip([*self.layers] * self.rounds, states, strict=True):
            x, state = layer(x, state, causal, source_mask)
            new_states.append(state)
        return self.norm(x), new_states


class PositionedNetwork(Network):
    """A network that adds position encodings to its embedded tokens."""

    architecture: TransformerArchitecture
    positions: Tensor  # [positions, d] from position 0 on, grows for longer texts

    def __init__(self, architecture: TransformerArchitecture, dropouts: Dropouts) -> None:
        super().__init__(architecture, dropouts)
        self.position: nn.Module = nn.Identity()  # applied to rows of `positions`; quantized networks replace it
        self.register_buffer("positions", self._position_table(512), persistent=False)

    def _position_table(self, positions: int) -> Tensor:
        return POSITION_TABLES[self.architecture.positions](positions, self.architecture.model_dimension)

    def embed_source(self, tokens: Tensor) -> Tensor:
        """Source ids [B, S] -> [B, S, d], with positions."""
        return self._add_positions(super().embed_source(tokens), 0)

    def embed_target(self, tokens: Tensor, start: int | Tensor = 0) -> Tensor:
        """Target ids [B, T], which follow `start` others -> [B, T, d], with positions.

        With T = 1, each row may be at another position: `start` is then int64 [B], and below what
        `reserve_positions` was called with.
        """
        embedded = super().embed_target(tokens)
        if isinstance(start, int):
            return self._add_positions(embedded, start)
        rows = self.positions[start + self.architecture.position_offset]
        sums: Tensor = embedded + self.position(rows[:, None])
        return sums

    def reserve_positions(self, count: int) -> None:
        """Make the table of positions as long as texts of `count` tokens need."""
        end = count + self.architecture.position_offset
        if end > len(self.positions):
            self.positions = self._position_table(2 * end).to(self.positions)

    def _add_positions(self, embedded: Tensor, start: int) -> Tensor:
        end = start + embedded.shape[1]
        self.reserve_positions(end)
        offset = self.architecture.position_offset
        sums: Tensor = embedded + self.position(self.positions[start + offset : end + offset])
        return sums


class Transformer(PositionedNetwork, TranslationNetwork):
    """Encoder, decoder, embeddings and output projection."""

    def __init__(self, architecture: TransformerArchitecture, dropouts: Dropouts | None = None) -> None:
        dropouts = dropouts or Dropouts()
        super().__init__(architecture, dropouts)
        self.encoder = Encoder(architecture, dropouts)
        self.decoder = Decoder(architecture, dropouts)
        self.initialize()

    def encode(self, source: Tensor) -> tuple[Tensor, Tensor | None]:
        """Source ids [B, S], padded -> (encoder output [B, S, d], its attention mask)."""
        mask = padding_mask(source)
        x = self.encoder.embedding_norm(self.encoder.input(self.embed_source(source)))
        return self.encoder(self.embedding_dropout(x), mask), mask

    def layers_to_compile(self) -> list[nn.Module]:
        """Return the layers, without those of a decoder with SSRU.

        The loop of an SSRU over the positions would be compiled again for each length.
        """
        loops = self.architecture.decoder_autoregression == "ssru"
        return [*self.encoder.layers, *([] if loops else self.decoder.layers)]

    def start(self, encoded: Tensor) -> list[LayerState]:
        """Decoder states before the first target token, for an encoder output [B, S, d]."""
        caches = [layer.cross_attention.cross_attention_cache(encoded) for layer in self.decoder.layers]  # type: ignore[union-attr, operator]
        return [(None, cache) for cache in caches * self.decoder.rounds]

    def fixed_states(self, rows: int, positions: int, steps: Steps) -> list[DecoderCache]:
        """Return states of fixed shapes, see `TranslationNetwork.fixed_states`."""
        self.reserve_positions(positions)
        layers: list[DecoderLayer] = [*self.decoder.layers] * self.decoder.rounds
        return [layer.fixed_cache(self.positions, rows, positions, steps) for layer in layers]

    def join_states(self, target: list[DecoderCache], source: list[Tensor]) -> list[LayerState]:
        """Return the states that `decode` takes, see `TranslationNetwork.join_states`."""
        cross = list(zip(source[::2], source[1::2], strict=True)) * self.decoder.rounds
        return list(zip(target, cross, strict=True))

    def split_states(self, states: list[LayerState]) -> tuple[list[DecoderCache], list[Tensor]]:
        """Return the states of the target and of the source, see `TranslationNetwork.split_states`."""
        source = [tensor for _, cross in states[: len(self.decoder.layers)] for tensor in cross]
        return [cache for cache, _ in states], source

    def decode(
        self, target: Tensor, states: list[LayerState], source_mask: Tensor | None, position: int | Tensor = 0
    ) -> tuple[Tensor, list[LayerState]]:
        """Target ids [B, T] from `position` on -> (decoder output [B, T, d], new states)."""
        length, cache = target.shape[1], states[0][0]
        causal = causal_mask(length, target.device) if length > 1 else None
        if isinstance(cache, FixedCache):
            causal = position_mask(cache.steps.position, cache.key.shape[2])
        x = self.decoder.embedding_norm(self.decoder.input(self.embed_target(target, position)))
        decoded: tuple[Tensor, list[LayerState]] = self.decoder(self.embedding_dropout(x), states, causal, source_mask)
        return decoded
