"""Attention of a decoding step, from one position, which reads each key and value once.

The softmax is computed on the way (Milakov and Gimelshein 2018, "Online normalizer calculation for softmax", algorithm
3): sums are scaled again whenever a larger score is found. All sums are float32.

Shapes: N sentences, B hypotheses of each, h heads, s head size, K positions.
"""

import math
from typing import Final

import torch
import triton
import triton.language as tl
from torch import Tensor

_NUMBERS: Final = 8192  # Of the products that a program holds at once.


def attend(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
    """Attend from the hypotheses of each sentence to its positions.

    Args:
        query: [N, h, B, s], of at most MOST_QUERIES hypotheses.
        key, value: [N, h, K, s]; the numbers of a head must be adjacent in memory.
        mask: added to the scores, 0 or -inf, float32 [N or 1, 1, 1, K]; None masks nothing. What it hides is not read.

    Returns:
        [N, B, h s], of the type of the query.
    """
    count, heads, queries, size = query.shape
    positions = key.shape[2]
    result = torch.empty(count, queries, heads * size, dtype=query.dtype, device=query.device)
    # The matrix units take at least 16 rows and columns; those that are not there are not stored.
    size_tile = max(16, triton.next_power_of_2(size))
    query_tile = 1 if queries == 1 else 16
    tile = 16 if queries == 1 or positions <= 16 else 32
    if key.stride() != value.stride():
        key, value = key.contiguous(), value.contiguous()
    masks = result if mask is None else mask
    _attend[(count * heads,)](
        *(query, key, value, masks, result),
        *(heads, queries, positions, 1.0 / math.sqrt(size)),
        *query.stride()[:3],
        *key.stride()[:3],
        0 if masks.shape[0] == 1 else masks.stride(0),
        masked=mask is not None,
        size=size,
        query_tile=query_tile,
        size_tile=size_tile,
        tile=tile,
        num_warps=1 if query_tile == 1 and size_tile <= 64 else 2,
    )
    return result


def attend_and_store(
    query_key_value: Tensor, key: Tensor, value: Tensor, position: Tensor, writers: Tensor | None
) -> Tensor:
    """Store the key and value of each row's position, and attend from there to this and earlier positions.

    Args:
        query_key_value: of each row, side by side, [N B, 3 h s].
        key, value: of all positions, contiguous [N B, h, K, s]; changed.
        position: of each row, below K: int64 [N B].
        writers: the hypothesis of the same sentence that stored each earlier position of a hypothesis, contiguous int64
            [N, B, K]; None: each row stored its own.

    Returns:
        [N B, h s], of the type of the given.
    """
    rows, heads, positions, size = key.shape
    given = query_key_value.contiguous()
    result = torch.empty(rows, heads * size, dtype=given.dtype, device=given.device)
    size_tile = triton.next_power_of_2(size)
    _attend_and_store[(rows * heads,)](
        *(given, key, value, position, position if writers is None else writers, result),
        *(heads, positions, 1 if writers is None else writers.shape[1], 1.0 / math.sqrt(size)),
        ranked=writers is not None,
        size=size,
        size_tile=size_tile,
        tile=max(8, min(16, _NUMBERS // size_tile)),
        num_warps=1 if size_tile <= 64 else 2,
    )
    return result


@triton.jit
def _exponential(x):
    """Return e^x of float32, with the rounding error of x log2(e), which `tl.exp` leaves out."""
    power = x * 1.4426950408889634
    lost = tl.fma(x, 1.4426950408889634, -power) + x * 1.925963033500e-08
    return tl.where(x == -float("inf"), 0.0, tl.exp2(power) * (1.0 + lost * 0.6931471805599453))


@triton.jit
def _attend(
    query,
    key,
    value,
    mask,
    result,
    heads,
    queries,
    positions,
    factor,
    query_sentence,
    query_head,
    query_row,
    key_sentence,
    key_head,
    key_row,
    mask_sentence,
    masked: tl.constexpr,
    size: tl.constexpr,
    query_tile: tl.constexpr,
    size_tile: tl.constexpr,
    tile: tl.constexpr,
):
    """A program computes one head of one sentence."""
    sentence, head = (tl.program_id(0) // heads).to(tl.int64), tl.program_id(0) % heads
    rows, columns = tl.arange(0, query_tile), tl.arange(0, size_tile)
    given = (rows < queries)[:, None] & (columns < size)[None, :]
    starts = sentence * query_sentence + head * query_head + rows * query_row
    asked = tl.load(query + starts[:, None] + columns[None, :], mask=given, other=0.0)
    largest = tl.full([query_tile], -float("inf"), tl.float32)
    total = tl.zeros([query_tile], tl.float32)
    summed = tl.zeros([query_tile, size_tile], tl.float32)
    for start in range(0, positions, tile):
        position = start + tl.arange(0, tile)
        seen = position < positions
        if masked:
            seen &= tl.load(mask + sentence * mask_sentence + position, mask=seen, other=-float("inf")) == 0.0
        read = seen[:, None] & (columns < size)[None, :]
        keys = sentence * key_sentence + head * key_head + position * key_row
        found = tl.load(key + keys[:, None] + columns[None, :], mask=read, other=0.0)
        kept = tl.load(value + keys[:, None] + columns[None, :], mask=read, other=0.0)
        if query_tile == 1:
            scores = tl.sum(asked.to(tl.float32) * found.to(tl.float32), axis=1)[None, :]
        else:
            scores = tl.dot(asked, tl.trans(found), input_precision="ieee")
        scores = tl.where(seen[None, :], scores * factor, -float("inf"))
        larger = tl.maximum(largest, tl.max(scores, axis=1))
        base = tl.where(larger == -float("inf"), 0.0, larger)  # Until something is seen.
        weights = _exponential(scores - base[:, None])
        scale = _exponential(largest - base)
        if query_tile == 1:
            added = tl.sum(tl.trans(weights) * kept.to(tl.float32), axis=0)[None, :]
        else:
            added = tl.dot(weights.to(kept.dtype), kept, input_precision="ieee")
        summed = summed * scale[:, None] + added
        total = total * scale + tl.sum(weights, axis=1)
        largest = larger
    attended = summed / total[:, None]
    cells = ((sentence * queries + rows) * heads + head) * size
    tl.store(result + cells[:, None] + columns[None, :], attended.to(result.dtype.element_ty), mask=given)


@triton.jit
def _attend_and_store(
    given,
    key,
    value,
    position,
    writers,
    result,
    heads,
    positions,
    beam,
    factor,
    ranked: tl.constexpr,
    size: tl.constexpr,
    size_tile: tl.constexpr,
    tile: tl.constexpr,
):
    """A program computes one head of one row."""
    row, head = (tl.program_id(0) // heads).to(tl.int64), tl.program_id(0) % heads
    columns = tl.arange(0, size_tile)
    whole = columns < size
    start = given + (row * 3 * heads + head) * size + columns
    query = tl.load(start, mask=whole, other=0.0).to(tl.float32) * factor
    new_key = tl.load(start + heads * size, mask=whole, other=0.0)
    new_value = tl.load(start + 2 * heads * size, mask=whole, other=0.0)
    here = tl.load(position + row)
    cell = ((row * heads + head) * positions + here) * size + columns
    tl.store(key + cell, new_key, mask=whole)
    tl.store(value + cell, new_value, mask=whole)
    largest = tl.sum(query * new_key.to(tl.float32), axis=0)
    total = 1.0
    summed = new_value.to(tl.float32)
    first = row // beam * beam
    for begin in range(0, here, tile):
        earlier = begin + tl.arange(0, tile)
        seen = earlier < here
        source = row + tl.zeros([tile], tl.int64)
        if ranked:
            source = first + tl.load(writers + row * positions + earlier, mask=seen, other=0)
        cells = ((source * heads + head) * positions + earlier) * size
        read = seen[:, None] & whole[None, :]
        keys = tl.load(key + cells[:, None] + columns[None, :], mask=read, other=0.0).to(tl.float32)
        scores = tl.where(seen, tl.sum(keys * query[None, :], axis=1), -float("inf"))
        larger = tl.maximum(largest, tl.max(scores, axis=0))
        weights = _exponential(scores - larger)
        scale = _exponential(largest - larger)
        values = tl.load(value + cells[:, None] + columns[None, :], mask=read, other=0.0).to(tl.float32)
        summed = summed * scale + tl.sum(weights[:, None] * values, axis=0)
        total = total * scale + tl.sum(weights, axis=0)
        largest = larger
    attended = (summed / total).to(result.dtype.element_ty)
    tl.store(result + (row * heads + head) * size + columns, attended, mask=whole)
