"""Multi-head attention (Vaswani et al. 2017, section 3.2), with the shape of every tensor.

Shapes: B sentences, Q query positions, K key positions, d model dimension, a attention dimension (heads x head size).
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from pocketmt.gpu_kernels.availability import MOST_QUERIES, kernels_take
from pocketmt.models.dropout import Dropout
from pocketmt.models.inputs import PADDING

KeyValue = tuple[Tensor, Tensor]


@dataclass(frozen=True)
class Steps:
    """Where the rows of a search are; it is shared by all layers, and the search changes it between steps.

    The rows of a sentence are its hypotheses, one after the other. When a hypothesis goes on from another one, the keys
    and values of earlier positions stay where they were written.

    Attributes:
        position: the position of each row that the next step writes, int64 [B].
        writers: the hypothesis of the same sentence that wrote each earlier position of a hypothesis, int64 [sentences,
            hypotheses, K]; None: each row wrote its own.
    """

    position: Tensor
    writers: Tensor | None = None


class FixedCache:
    """Keys and values of self-attention in tensors of a fixed shape, written in place, one position of a row at a time.

    Attributes:
        key, value: [B, heads, K, head size]; what is behind a row's position is not read (`position_mask`).
        steps: where the rows are.
    """

    def __init__(self, key: Tensor, value: Tensor, steps: Steps) -> None:
        self.key, self.value, self.steps = key, value, steps

    def write(self, key: Tensor, value: Tensor) -> KeyValue:
        """Store a key and a value for each row [B, heads, 1, head size]; returns those of all K positions of a row."""
        index = self.steps.position[:, None, None, None].expand_as(key)
        self.key.scatter_(2, index, key)
        self.value.scatter_(2, index, value)
        return self._of_rows(self.key), self._of_rows(self.value)

    def _of_rows(self, stored: Tensor) -> Tensor:
        writers = self.steps.writers
        if writers is None:
            return stored
        sentences = stored.view(*writers.shape[:2], *stored.shape[1:])
        index = writers[:, :, None, :, None].expand_as(sentences)
        return sentences.gather(1, index).view_as(stored)

    def clear(self, rows: Tensor) -> None:
        """Forget what was written to rows [n]; kernels do not read it, but PyTorch's products multiply it by zero."""
        if not kernels_take(self.key):
            for stored in (self.key, self.value):
                stored.index_fill_(0, rows, 0.0)


def position_mask(position: Tensor, count: int) -> Tensor:
    """Attention mask of rows at positions [B]: float [B, 1, 1, count], -inf behind a row's position."""
    behind = torch.arange(count, device=position.device) > position[:, None]
    return torch.zeros(behind.shape, device=position.device).masked_fill_(behind, -math.inf)[:, None, None, :]


def padding_mask(tokens: Tensor) -> Tensor | None:
    """Attention mask of token ids [B, S]: float [B, 1, 1, S], -inf at padding; None if nothing is padded."""
    padding = tokens == PADDING
    if not bool(padding.any()):
        return None
    return torch.zeros(tokens.shape, device=tokens.device).masked_fill_(padding, -math.inf)[:, None, None, :]


def split_heads(x: Tensor, heads: int) -> Tensor:
    """[B, positions, a] -> [B, heads, positions, a / heads]."""
    batch, positions, dimension = x.shape
    return x.view(batch, positions, heads, dimension // heads).transpose(1, 2)


class DotProductAttention(nn.Module):
    """Scaled dot-product attention (Vaswani et al. 2017, eq. 1).

    `query`, `key`, `value` and `output` do nothing. A fully quantized network (Prato et al. 2020, section 3.2) replaces
    them, and `softmax`, by modules that quantize.
    """

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.query: nn.Module = nn.Identity()
        self.key: nn.Module = nn.Identity()
        self.value: nn.Module = nn.Identity()
        self.softmax: nn.Module = nn.Softmax(dim=-1)
        self.dropout = Dropout(dropout)
        self.output: nn.Module = nn.Identity()

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
        """Attend from Q query positions to K key positions.

        Args:
            query: [B, heads, Q, head size].
            key: [B, heads, K, head size].
            value: [B, heads, K, head size].
            mask: added to the scores before the softmax, 0 or -inf, broadcast to [B, heads, Q, K]; None masks nothing.

        Returns:
            [B, Q, a], the heads side by side.
        """
        same_for_all_queries = mask is None or mask.shape[-2] == 1  # A causal mask is not.
        if query.shape[2] <= MOST_QUERIES and same_for_all_queries and _takes_kernels(self, query):
            from pocketmt.gpu_kernels.step_attention import attend

            return attend(query, key, value, mask)
        if query.is_cuda and self.is_plain():
            probability = self.dropout.threshold / 256 if self.training else 0.0
            return fused_attention(query, key, value, mask, probability)
        query = self.query(query) * (1.0 / math.sqrt(query.shape[-1]))
        scores = query @ self.key(key).transpose(-1, -2)  # [B, heads, Q, K]
        if mask is not None:
            scores = scores + mask.to(scores.dtype)
        weights = self.dropout(self.softmax(scores))
        attended: Tensor = self.output((weights @ self.value(value)).transpose(1, 2).flatten(2))
        return attended

    def is_plain(self) -> bool:
        """Return whether nothing is quantized within the attention."""
        steps = (self.query, self.key, self.value, self.output)
        return type(self.softmax) is nn.Softmax and all(type(step) is nn.Identity for step in steps)


def _takes_kernels(attention: nn.Module, x: Tensor) -> bool:
    """Return whether the attention of a decoding step can be computed by the kernels of `gpu_kernels`."""
    plain = isinstance(attention, DotProductAttention) and attention.is_plain()
    return not attention.training and plain and kernels_take(x)


def use_attention_for_all_shapes() -> None:
    """Keep PyTorch from cuDNN's attention, which compiles kernels for each new shape, in about a second for each.

    Batches of text have new shapes all the time. PyTorch's own fused kernels take any.
    """
    torch.backends.cuda.enable_cudnn_sdp(False)


def fused_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, dropout: float) -> Tensor:
    """Compute `DotProductAttention.forward` by PyTorch's fused kernels, which store no attention weights.

    `dropout` is the probability with which an attention weight is dropped.
    """
    if mask is not None:
        mask = mask.to(query.dtype)
    attended = nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=dropout)
    return attended.transpose(1, 2).flatten(2)


class SelfAttention(nn.Module):
    """Self-attention with one fused projection to queries, keys and values."""

    def __init__(self, model_dimension: int, attention_dimension: int, heads: int, bias: bool, dropout: float) -> None:
        super().__init__()
        self.heads, self.head_size = heads, attention_dimension // heads
        self.query_key_value = nn.Linear(model_dimension, 3 * attention_dimension, bias=bias)
        self.output = nn.Linear(attention_dimension, model_dimension, bias=bias)
        self.attention = DotProductAttention(dropout)

    def forward(
        self, x: Tensor, mask: Tensor | None, cache: KeyValue | FixedCache | None = None
    ) -> tuple[Tensor, KeyValue | FixedCache]:
        """Attend from every position of `x` to those of `x` and of `cache`.

        Args:
            x: [B, Q, d].
            mask: broadcast to [B, heads, Q, K], or None.
            cache: keys and values of earlier positions, each [B, heads, K - Q, head size]; for decoding step by step.
                With a fixed cache, Q is 1.

        Returns:
            [B, Q, d], and keys and values of all K positions.
        """
        fused = self.query_key_value(x)
        if isinstance(cache, FixedCache) and _takes_kernels(self.attention, x):
            from pocketmt.gpu_kernels.step_attention import attend_and_store

            attended = attend_and_store(fused[:, 0], cache.key, cache.value, cache.steps.position, cache.steps.writers)
            return self.output(attended[:, None]), cache
        query, key, value = (split_heads(part, self.heads) for part in fused.chunk(3, dim=-1))
        if isinstance(cache, FixedCache):
            return self.output(self.attention(query, *cache.write(key, value), mask)), cache
        if cache is not None:
            key = torch.cat([cache[0], key], dim=2)
            value = torch.cat([cache[1], value], dim=2)
        return self.output(self.attention(query, key, value, mask)), (key, value)


class CrossAttention(nn.Module):
    """Attention of the decoder to the encoder's output."""

    def __init__(self, model_dimension: int, attention_dimension: int, heads: int, bias: bool, dropout: float) -> None:
        super().__init__()
        self.heads, self.head_size = heads, attention_dimension // heads
        self.query = nn.Linear(model_dimension, attention_dimension, bias=bias)
        self.key_value = nn.Linear(model_dimension, 2 * attention_dimension, bias=bias)
        self.output = nn.Linear(attention_dimension, model_dimension, bias=bias)
        self.attention = DotProductAttention(dropout)

    def cross_attention_cache(self, encoded: Tensor) -> KeyValue:
        """Return keys and values of the encoder's output [B, K, d], each [B, heads, K, head size]."""
        key, value = (split_heads(part, self.heads) for part in self.key_value(encoded).chunk(2, dim=-1))
        return key, value

    def forward(self, x: Tensor, cache: KeyValue, mask: Tensor | None) -> Tensor:
        """Attend from x [B, Q, d] to a cross-attention cache of K positions; mask [B, 1, 1, K]; returns [B, Q, d].

        The cache may have fewer sentences than x has rows: B is then a multiple of their number, and the rows of a
        sentence, its hypotheses, follow each other.
        """
        rows = x.reshape(len(cache[0]), -1, x.shape[-1])
        query = split_heads(self.query(rows), self.heads)
        attended: Tensor = self.output(self.attention(query, cache[0], cache[1], mask))
        return attended.view_as(x)
