"""The Transformer (Vaswani et al. 2017) with one tied embedding, post-norm or pre-norm.

Shapes: B sentences, S source positions, T target positions, d model dimension, V vocabulary size.
"""

import math

import torch
from torch import Tensor, nn

from pocketmt.model_file.architecture import LayerSizes, TransformerArchitecture
from pocketmt.models.attention import CrossAttention, KeyValue, SelfAttention, padding_mask
from pocketmt.models.dropout import Dropout, Dropouts
from pocketmt.models.network import TiedNetwork, TranslationNetwork
from pocketmt.models.ssru import SSRU

# What one decoder layer has of the positions so far (keys and values of self-attention, or the SSRU's cell [B, d]; None
# before the first), and its keys and values of the source.
History = KeyValue | Tensor | None
LayerState = tuple[History, KeyValue]


def position_encodings(positions: int, dimension: int) -> Tensor:
    """Sinusoids PE(p, 2i) = sin(p / 10000^(2i/d)), PE(p, 2i+1) = cos of the same; float32 [positions, dimension]."""
    position = torch.arange(positions, dtype=torch.float64)[:, None]
    frequency = torch.pow(10000.0, -torch.arange(0, dimension, 2, dtype=torch.float64) / dimension)
    angle = position * frequency
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)[:, :dimension].float()


def causal_mask(positions: int, device: torch.device) -> Tensor:
    """Attention mask [T, T]: a position sees itself and those before it."""
    return torch.full((positions, positions), -math.inf, device=device).triu_(1)


class FeedForward(nn.Module):
    """outer(relu(inner(x))): [.., d] -> [.., d] by way of the feed-forward dimension."""

    def __init__(self, model_dimension: int, feed_forward_dimension: int, dropout: float) -> None:
        super().__init__()
        self.inner = nn.Linear(model_dimension, feed_forward_dimension)
        self.activation: nn.Module = nn.ReLU()
        self.dropout = Dropout(dropout)
        self.outer = nn.Linear(feed_forward_dimension, model_dimension)

    def forward(self, x: Tensor) -> Tensor:
        """[.., d] -> [.., d]."""
        outer: Tensor = self.outer(self.dropout(self.activation(self.inner(x))))
        return outer


class Layer(nn.Module):
    """What encoder and decoder layers share: a sub-layer, its residual connection and its norm."""

    def __init__(self, architecture: TransformerArchitecture, dropouts: Dropouts) -> None:
        super().__init__()
        self.post_norm = architecture.norm == "post"
        self.residual_dropout = Dropout(dropouts.residual)

    def before(self, norm: nn.Module, x: Tensor) -> Tensor:
        """What the sub-layer is given: x [.., d], normed first in a pre-norm network."""
        return x if self.post_norm else norm(x)

    def after(self, norm: nn.Module, residual: nn.Module, x: Tensor, update: Tensor) -> Tensor:
        """The residual connection: x + update [.., d], normed after it in a post-norm network.

        `residual` is given the sum; it does nothing but where a fully quantized network [Q3] has its own module there.
        """
        x = residual(x + self.residual_dropout(update))
        return norm(x) if self.post_norm else x


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
        self.self_attention_norm = nn.LayerNorm(dimension)
        self.self_attention_residual = nn.Identity()
        self.feed_forward = FeedForward(dimension, sizes.feed_forward, dropouts.feed_forward)
        self.feed_forward_norm = nn.LayerNorm(dimension)
        self.feed_forward_residual = nn.Identity()

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """X [B, S, d], mask [B, 1, 1, S] or None; returns [B, S, d]."""
        update, _ = self.self_attention(self.before(self.self_attention_norm, x), mask)
        x = self.after(self.self_attention_norm, self.self_attention_residual, x, update)
        update = self.feed_forward(self.before(self.feed_forward_norm, x))
        return self.after(self.feed_forward_norm, self.feed_forward_residual, x, update)


class DecoderLayer(Layer):
    """Self-attention or an SSRU over what was written, cross-attention to the source, then feed-forward."""

    def __init__(self, architecture: TransformerArchitecture, sizes: LayerSizes, dropouts: Dropouts) -> None:
        super().__init__(architecture, dropouts)
        dimension = architecture.model_dimension
        self.recurrent = architecture.decoder_autoregression == "ssru"
        if self.recurrent:
            self.ssru = SSRU(dimension)
            self.ssru_norm = nn.LayerNorm(dimension)
            self.ssru_residual = nn.Identity()
        else:
            self.self_attention = SelfAttention(*_attention_arguments(architecture, sizes.heads, dropouts))
            self.self_attention_norm = nn.LayerNorm(dimension)
            self.self_attention_residual = nn.Identity()
        self.cross_attention = CrossAttention(*_attention_arguments(architecture, sizes.cross_heads, dropouts))
        self.cross_attention_norm = nn.LayerNorm(dimension)
        self.cross_attention_residual = nn.Identity()
        self.feed_forward = FeedForward(dimension, sizes.feed_forward, dropouts.feed_forward)
        self.feed_forward_norm = nn.LayerNorm(dimension)
        self.feed_forward_residual = nn.Identity()

    def forward(
        self, x: Tensor, state: LayerState, causal: Tensor | None, source_mask: Tensor | None
    ) -> tuple[Tensor, LayerState]:
        """X [B, T, d] -> ([B, T, d], state that has x's positions, too)."""
        history, memory = state
        x, history = self._look_back(x, history, causal)
        update = self.cross_attention(self.before(self.cross_attention_norm, x), memory, source_mask)
        x = self.after(self.cross_attention_norm, self.cross_attention_residual, x, update)
        update = self.feed_forward(self.before(self.feed_forward_norm, x))
        return self.after(self.feed_forward_norm, self.feed_forward_residual, x, update), (history, memory)

    def _look_back(self, x: Tensor, history: History, causal: Tensor | None) -> tuple[Tensor, History]:
        if self.recurrent:
            update, history = self.ssru(self.before(self.ssru_norm, x), history)
            return self.after(self.ssru_norm, self.ssru_residual, x, update), history
        update, history = self.self_attention(self.before(self.self_attention_norm, x), causal, history)
        return self.after(self.self_attention_norm, self.self_attention_residual, x, update), history


class Encoder(nn.Module):
    """A stack of encoder layers, with a final norm in a pre-norm network."""

    def __init__(self, architecture: TransformerArchitecture, dropouts: Dropouts) -> None:
        super().__init__()
        self.input: nn.Module = nn.Identity()  # of the sum of embedding and position: a place for [Q3]
        self.layers = nn.ModuleList(
            EncoderLayer(architecture, sizes, dropouts) for sizes in architecture.encoder_sizes()
        )
        if architecture.norm == "pre":
            self.norm: nn.Module = nn.LayerNorm(architecture.model_dimension)
        else:
            self.norm = nn.Identity()

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """X [B, S, d] -> [B, S, d]."""
        for layer in self.layers:
            x = layer(x, mask)
        normed: Tensor = self.norm(x)
        return normed


class Decoder(nn.Module):
    """A stack of decoder layers, with a final norm in a pre-norm network; tied layers are one, run again and again."""

    def __init__(self, architecture: TransformerArchitecture, dropouts: Dropouts) -> None:
        super().__init__()
        self.input: nn.Module = nn.Identity()  # of the sum of embedding and position: a place for [Q3]
        self.layers = nn.ModuleList(
            DecoderLayer(architecture, sizes, dropouts) for sizes in architecture.decoder_sizes()
        )
        self.rounds = architecture.decoder_layers // len(self.layers)  # more than one where layers are tied
        if architecture.norm == "pre":
            self.norm: nn.Module = nn.LayerNorm(architecture.model_dimension)
        else:
            self.norm = nn.Identity()

    def forward(
        self, x: Tensor, states: list[LayerState], causal: Tensor | None, source_mask: Tensor | None
    ) -> tuple[Tensor, list[LayerState]]:
        """X [B, T, d] and a state for each layer, tied ones too -> ([B, T, d], new states)."""
        new_states = []
        for layer, state in zip([*self.layers] * self.rounds, states, strict=True):
            x, state = layer(x, state, causal, source_mask)
            new_states.append(state)
        return self.norm(x), new_states


class PositionedNetwork(TiedNetwork):
    """A network that is told positions: sinusoids are added to what is embedded."""

    architecture: TransformerArchitecture
    positions: Tensor  # [positions, d], grows where a text is longer

    def __init__(self, architecture: TransformerArchitecture, dropouts: Dropouts) -> None:
        super().__init__(architecture, dropouts)
        self.position: nn.Module = nn.Identity()  # of the rows of `positions` in use: a place for [Q3]
        self.register_buffer("positions", position_encodings(512, architecture.model_dimension), persistent=False)

    def embed(self, tokens: Tensor, start: int = 0) -> Tensor:
        """Token ids [B, T] at positions start, start + 1, ... -> [B, T, d]."""
        end = start + tokens.shape[1]
        if end > len(self.positions):
            self.positions = position_encodings(2 * end, self.architecture.model_dimension).to(tokens.device)
        sums: Tensor = self.scaled_embedding(tokens) + self.position(self.positions[start:end])
        return sums


class Transformer(PositionedNetwork, TranslationNetwork):
    """Encoder, decoder and one embedding for source, target and output."""

    def __init__(self, architecture: TransformerArchitecture, dropouts: Dropouts | None = None) -> None:
        dropouts = dropouts or Dropouts()
        super().__init__(architecture, dropouts)
        self.encoder = Encoder(architecture, dropouts)
        self.decoder = Decoder(architecture, dropouts)
        self.initialize()

    def encode(self, source: Tensor) -> tuple[Tensor, Tensor | None]:
        """Source ids [B, S], padded -> (encoder output [B, S, d], its attention mask)."""
        mask = padding_mask(source)
        return self.encoder(self.embedding_dropout(self.encoder.input(self.embed(source))), mask), mask

    def start(self, encoded: Tensor) -> list[LayerState]:
        """Decoder states before the first target token, for an encoder output [B, S, d]."""
        memories = [layer.cross_attention.memory(encoded) for layer in self.decoder.layers]  # type: ignore[union-attr, operator]
        return [(None, memory) for memory in memories * self.decoder.rounds]

    def decode(
        self, target: Tensor, states: list[LayerState], source_mask: Tensor | None, position: int = 0
    ) -> tuple[Tensor, list[LayerState]]:
        """Target ids [B, T] from `position` on -> (decoder output [B, T, d], new states)."""
        length = target.shape[1]
        causal = causal_mask(length, target.device) if length > 1 else None
        x = self.embedding_dropout(self.decoder.input(self.embed(target, position)))
        decoded: tuple[Tensor, list[LayerState]] = self.decoder(x, states, causal, source_mask)
        return decoded
