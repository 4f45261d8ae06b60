"""The best pieces of each row of logits, with their log-probabilities, in one pass over the logits.

The largest of each group of pieces is found on the way; the best pieces are in the groups whose largest are the
largest. All sums are float32.
"""

from typing import Final

import torch
import triton
import triton.language as tl
from torch import Tensor

_GROUP: Final = 1024


def best_pieces(values: Tensor, count: int, *, logits: bool) -> tuple[Tensor, Tensor]:
    """Return the largest values of each row, the largest first; of equal ones, the first piece comes first.

    Args:
        values: [rows, V], float32, float16 or bfloat16, with adjacent numbers of a row; numbers that are not finite
            count as -inf, apart from the normalizer.
        count: number of values, at most MOST_PIECES and V.
        logits: whether the log-probabilities of logits are returned; False: the values themselves.

    Returns:
        float32 [rows, count], and the pieces, int64 [rows, count].
    """
    rows, pieces = values.shape
    groups = triton.cdiv(pieces, _GROUP)
    device = values.device
    maxima = torch.empty(rows, groups, dtype=torch.float32, device=device)
    normalizers = torch.empty(rows, dtype=torch.float32, device=device)
    best = torch.empty(rows, count, dtype=torch.float32, device=device)
    found = torch.empty(rows, count, dtype=torch.int64, device=device)
    _largest_of_groups[(rows,)](
        *(values, maxima, normalizers, pieces, values.stride(0), groups), group_size=_GROUP, logits=logits, num_warps=4
    )
    _best_of_groups[(rows,)](
        *(values, maxima, normalizers, best, found, pieces, values.stride(0), groups),
        count=count,
        count_tile=triton.next_power_of_2(count),
        group_size=_GROUP,
        groups_tile=triton.next_power_of_2(groups),
        logits=logits,
        num_warps=8 if count > 4 else 4,
    )
    return best, found


@triton.jit
def _largest_of_groups(
    values, maxima, normalizers, pieces, stride, groups, group_size: tl.constexpr, logits: tl.constexpr
):
    """A program reads one row."""
    row = tl.program_id(0).to(tl.int64)
    largest = -float("inf")
    total = 0.0
    for group in range(0, groups):
        piece = group * group_size + tl.arange(0, group_size)
        read = tl.load(values + row * stride + piece, mask=piece < pieces, other=-float("inf")).to(tl.float32)
        top = tl.max(read, axis=0)
        tl.store(maxima + row * groups + group, top)
        if logits:
            larger = tl.maximum(largest, top)
            base = tl.where(larger == -float("inf"), 0.0, larger)
            total = total * tl.exp(largest - base) + tl.sum(tl.exp(read - base), axis=0)
            largest = larger
    if logits:
        tl.store(normalizers + row, largest + tl.log(total))


@triton.jit
def _best_of_groups(
    values,
    maxima,
    normalizers,
    best,
    found,
    pieces,
    stride,
    groups,
    count: tl.constexpr,
    count_tile: tl.constexpr,
    group_size: tl.constexpr,
    groups_tile: tl.constexpr,
    logits: tl.constexpr,
):
    """A program reads the best groups of one row."""
    row = tl.program_id(0).to(tl.int64)
    group = tl.arange(0, groups_tile)
    tops = tl.load(maxima + row * groups + group, mask=group < groups, other=-float("inf"))
    left = group < groups
    slot = tl.arange(0, count_tile)
    chosen = tl.full([count_tile], groups_tile, tl.int32)
    for index in tl.static_range(count):
        top = tl.max(tl.where(left, tops, -float("inf")), axis=0)
        first = tl.min(tl.where(left & (tops == top), group, groups_tile), axis=0)
        chosen = tl.where(slot == index, first, chosen)
        left &= group != first
    piece = chosen[:, None] * group_size + tl.arange(0, group_size)[None, :]
    piece = tl.reshape(piece, [count_tile * group_size])
    candidate = piece < pieces
    read = tl.load(values + row * stride + piece, mask=candidate, other=-float("inf")).to(tl.float32)
    normalizer = 0.0
    if logits:
        normalizer = tl.load(normalizers + row)
    for index in tl.static_range(count):
        top = tl.max(tl.where(candidate, read, -float("inf")), axis=0)
        first = tl.min(tl.where(candidate & (read == top), piece, pieces), axis=0)
        candidate &= piece != first
        tl.store(best + row * count + index, top - normalizer)
        tl.store(found + row * count + index, tl.minimum(first, pieces - 1).to(tl.int64))
