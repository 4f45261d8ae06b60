"""Slicing: removal of rows and columns, which makes matrices smaller."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Cut:
    """The rows, columns or elements of a tensor that stay."""

    dimension: int  # 0: rows of a matrix, or elements of a vector; 1: columns of a matrix
    index: Tensor  # int64 [left], ascending

    def of(self, tensor: Tensor) -> Tensor:
        """Return a copy of the tensor with only these."""
        return tensor.index_select(self.dimension, self.index.to(tensor.device))


def elements_of(kept: Tensor, size: int, parts: int = 1) -> Tensor:
    """Return the indices of the elements of the units that stay, int64, ascending.

    Args:
        kept: bool [units].
        size: number of elements of a unit: the size of a head, or 1 for a node.
        parts: number of sets of units, one after the other: 3 for queries, keys and values in one matrix.
    """
    return kept.cpu().repeat_interleave(size).repeat(parts).nonzero().flatten()


def at_least_one(kept: Tensor, importance: Tensor) -> Tensor:
    """Return `kept`, bool [units], or the unit of the highest importance [units] if none is kept."""
    if bool(kept.any()):
        return kept
    return torch.arange(len(kept), device=kept.device) == importance.argmax()
