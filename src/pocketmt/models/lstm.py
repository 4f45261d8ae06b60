"""The deep LSTM with attention: encoder and decoder of recurrent layers, and one tied embedding.

The deep RNN of Aji and Heafield 2020 (section 4.1) is Marian's, with the set-up of Miceli Barone et al. 2017 ("Deep
Architectures for Neural Machine Translation") and Sennrich et al. 2017. Like theirs, this network has LSTMs, an encoder
whose first layer reads in both directions and whose other layers read from left to right (Marian's
"bi-unidirectional"), residual connections around all layers but the first of each stack, layer normalization, a decoder
that attends to the encoder with its first layer's state, and a readout between the last layer, of the recurrent
dimension h, and the tied embedding, of dimension d.

Differences:
- The first encoder layer has h / 2 for each direction, not h, so that every layer's output has h elements.
- Attention is by scaled dot products and can have several heads (Chen et al. 2018, "The Best of Both Worlds"); theirs
  is additive. Its output is added to the residual stream, not concatenated with it.
- Layer normalization is applied to the residual stream after each addition, not to the gates of each step.
So each layer is one product for the whole text and one small product a step, and attention is the Transformer's.

Shapes: B sentences, S source positions, T target positions, d model dimension, h recurrent dimension.
"""

import torch
from torch import Tensor, nn

from pocketmt.model_file.architecture.lstm import LstmArchitecture
from pocketmt.models.attention import CrossAttention, KeyValue, Steps, padding_mask
from pocketmt.models.dropout import Dropout, Dropouts
from pocketmt.models.inputs import PADDING
from pocketmt.models.network import TranslationNetwork, layer_norm

# A layer's hidden state and cell after the positions so far, each [B, h]; None before the first.
RecurrentState = tuple[Tensor, Tensor] | None


class LSTM(nn.Module):
    """c_t = f_t * c_(t-1) + i_t * tanh(g_t);  h_t = o_t * tanh(c_t), with c_(-1) = h_(-1) = 0.

    i, f, o and g are rows of W x_t + b + U h_(t-1), in this order, the first three through a sigmoid (Hochreiter and
    Schmidhuber 1997; Gers et al. 2000). `input` holds W and b, `recurrent` U.
    """

    def __init__(self, inputs: int, size: int) -> None:
        super().__init__()
        self.size = size
        self.input = nn.Linear(inputs, 4 * size)
        self.recurrent = nn.Linear(size, 4 * size, bias=False)

    def forward(self, x: Tensor, state: RecurrentState = None) -> tuple[Tensor, RecurrentState]:
        """X [B, T, inputs], after positions that left `state` or after none -> (h [B, T, size], the last state)."""
        outputs = []
        for gates in self.input(x).unbind(1):
            if state is not None:
                gates = gates + self.recurrent(state[0])
            state = self._step(gates, state)
            outputs.append(state[0])
        return torch.stack(outputs, dim=1), state

    def _step(self, gates: Tensor, state: RecurrentState) -> tuple[Tensor, Tensor]:
        """Rows of i, f, o and g [B, 4 size] and the state before -> the state after."""
        given, kept, shown = torch.sigmoid(gates[:, : 3 * self.size]).chunk(3, dim=-1)
        cell = given * torch.tanh(gates[:, 3 * self.size :])
        if state is not None:
            cell = kept * state[1] + cell
        return shown * torch.tanh(cell), cell


class BidirectionalLSTM(nn.Module):
    """Two LSTMs, one from left to right and one from right to left, with their outputs concatenated."""

    def __init__(self, inputs: int, size: int) -> None:
        super().__init__()
        self.left_to_right = LSTM(inputs, size // 2)
        self.right_to_left = LSTM(inputs, size // 2)

    def forward(self, x: Tensor, reverse: Tensor) -> Tensor:
        """X [B, S, inputs] and each position's mirror image in its sentence [B, S] -> [B, S, size]."""
        forwards, _ = self.left_to_right(x)
        backwards, _ = self.right_to_left(reordered(x, reverse))
        return torch.cat([forwards, reordered(backwards, reverse)], dim=-1)


def mirror(tokens: Tensor) -> Tensor:
    """Positions [B, S] of padded token ids that reverse each sentence and leave the padding behind it."""
    positions = torch.arange(tokens.shape[1], device=tokens.device).expand_as(tokens)
    lengths = (tokens != PADDING).sum(dim=1, keepdim=True)
    return torch.where(positions < lengths, lengths - 1 - positions, positions)


def reordered(x: Tensor, positions: Tensor) -> Tensor:
    """Rows of x [B, S, d] in the order of positions [B, S]."""
    return x.gather(1, positions[..., None].expand_as(x))


class FirstEncoderLayer(nn.Module):
    """LN(BiLSTM(x))."""

    def __init__(self, architecture: LstmArchitecture, dropouts: Dropouts) -> None:
        super().__init__()
        self.lstm = BidirectionalLSTM(architecture.model_dimension, architecture.recurrent_dimension)
        self.lstm_norm = layer_norm(architecture, architecture.recurrent_dimension)
        self.dropout = Dropout(dropouts.residual)

    def forward(self, x: Tensor, reverse: Tensor) -> Tensor:
        """X [B, S, d] and each position's mirror image in its sentence [B, S] -> [B, S, h]."""
        normed: Tensor = self.lstm_norm(self.dropout(self.lstm(x, reverse)))
        return normed


class RecurrentLayer(nn.Module):
    """LN(x + LSTM(x))."""

    def __init__(self, architecture: LstmArchitecture, dropouts: Dropouts) -> None:
        super().__init__()
        self.lstm = LSTM(architecture.recurrent_dimension, architecture.recurrent_dimension)
        self.lstm_norm = layer_norm(architecture, architecture.recurrent_dimension)
        self.dropout = Dropout(dropouts.residual)

    def forward(self, x: Tensor, state: RecurrentState = None) -> tuple[Tensor, RecurrentState]:
        """X [B, T, h] -> ([B, T, h], the last state)."""
        update, state = self.lstm(x, state)
        return self.lstm_norm(x + self.dropout(update)), state


class AttendingLayer(nn.Module):
    """x = LN(LSTM(y)), then LN(x + attention(x)): the decoder's first layer."""

    def __init__(self, architecture: LstmArchitecture, dropouts: Dropouts) -> None:
        super().__init__()
        size = architecture.recurrent_dimension
        attention, heads = architecture.attention_dimension, architecture.attention_heads
        self.lstm = LSTM(architecture.model_dimension, size)
        self.lstm_norm = layer_norm(architecture, size)
        self.cross_attention = CrossAttention(size, attention, heads, False, dropouts.attention)
        self.cross_attention_norm = layer_norm(architecture, size)
        self.dropout = Dropout(dropouts.residual)

    def forward(
        self, x: Tensor, state: RecurrentState, cross_attention_cache: KeyValue, source_mask: Tensor | None
    ) -> tuple[Tensor, RecurrentState]:
        """X [B, T, d] and keys and values of the source -> ([B, T, h], the last state)."""
        update, state = self.lstm(x, state)
        x = self.lstm_norm(self.dropout(update))
        update = self.cross_attention(x, cross_attention_cache, source_mask)
        return self.cross_attention_norm(x + self.dropout(update)), state


class LstmEncoder(nn.Module):
    """A bidirectional layer, then layers that read from left to right."""

    def __init__(self, architecture: LstmArchitecture, dropouts: Dropouts) -> None:
        super().__init__()
        further = (RecurrentLayer(architecture, dropouts) for _ in range(1, architecture.encoder_layers))
        self.layers = nn.ModuleList([FirstEncoderLayer(architecture, dropouts), *further])

    def forward(self, x: Tensor, reverse: Tensor) -> Tensor:
        """X [B, S, d] and each position's mirror image in its sentence [B, S] -> [B, S, h]."""
        first, *further = self.layers
        x = first(x, reverse)
        for layer in further:
            x, _ = layer(x)
        return x


class LstmDecoder(nn.Module):
    """A layer that attends to the source, further layers, and the readout."""

    def __init__(self, architecture: LstmArchitecture, dropouts: Dropouts) -> None:
        super().__init__()
        further = (RecurrentLayer(architecture, dropouts) for _ in range(1, architecture.decoder_layers))
        self.layers = nn.ModuleList([AttendingLayer(architecture, dropouts), *further])
        self.readout = nn.Linear(architecture.recurrent_dimension, architecture.model_dimension)

    def forward(
        self, x: Tensor, states: list[RecurrentState], cross_attention_cache: KeyValue, source_mask: Tensor | None
    ) -> tuple[Tensor, list[RecurrentState]]:
        """X [B, T, d], a state for each layer, keys and values of the source -> ([B, T, d], new states)."""
        first, *further = self.layers
        x, state = first(x, states[0], cross_attention_cache, source_mask)
        new_states = [state]
        for layer, before in zip(further, states[1:], strict=True):
            x, state = layer(x, before)
            new_states.append(state)
        return self.readout(x), new_states


DecoderState = tuple[list[RecurrentState], KeyValue]


class LstmNetwork(TranslationNetwork):
    """Encoder, decoder and one embedding for source, target and output."""

    def __init__(self, architecture: LstmArchitecture, dropouts: Dropouts | None = None) -> None:
        dropouts = dropouts or Dropouts()
        super().__init__(architecture, dropouts)
        self.encoder = LstmEncoder(architecture, dropouts)
        self.decoder = LstmDecoder(architecture, dropouts)
        self.initialize()

    def initialize(self) -> None:
        """Initialize as `Network` does, with a bias of 1 for the forget gates (Jozefowicz et al. 2015)."""
        super().initialize()
        for module in self.modules():
            if isinstance(module, LSTM):
                nn.init.ones_(module.input.bias[module.size : 2 * module.size])

    def encode(self, source: Tensor) -> tuple[Tensor, Tensor | None]:
        """Source ids [B, S], padded behind -> (encoder output [B, S, h], its attention mask)."""
        x = self.embedding_dropout(self.embed_source(source))
        return self.encoder(x, mirror(source)), padding_mask(source)

    def start(self, encoded: Tensor) -> DecoderState:
        """Decoder states before the first target token, for an encoder output [B, S, h]."""
        first = self.decoder.layers[0]
        assert isinstance(first, AttendingLayer)
        return [None] * len(self.decoder.layers), first.cross_attention.cross_attention_cache(encoded)

    def fixed_states(self, rows: int, positions: int, steps: Steps) -> list[RecurrentState]:
        """Return states of fixed shapes, see `TranslationNetwork.fixed_states`."""
        weight, layers = self.embedding.weight, self.decoder.layers
        sizes: list[int] = [layer.lstm.size for layer in layers]  # type: ignore[misc]
        return [(weight.new_zeros(rows, size), weight.new_zeros(rows, size)) for size in sizes]

    def join_states(self, target: list[RecurrentState], source: list[Tensor]) -> DecoderState:
        """Return the states that `decode` takes, see `TranslationNetwork.join_states`."""
        key, value = source
        return target, (key, value)

    def split_states(self, states: DecoderState) -> tuple[list[RecurrentState], list[Tensor]]:
        """Return the states of the target and of the source, see `TranslationNetwork.split_states`."""
        return states[0], list(states[1])

    def decode(
        self, target: Tensor, states: DecoderState, source_mask: Tensor | None, position: int | Tensor = 0
    ) -> tuple[Tensor, DecoderState]:
        """Target ids [B, T] -> (decoder output [B, T, d], new states). LSTMs take no position encoding."""
        recurrent, cross_attention_cache = states
        x = self.embedding_dropout(self.embed_target(target))
        decoded, recurrent = self.decoder(x, recurrent, cross_attention_cache, source_mask)
        return decoded, (recurrent, cross_attention_cache)
