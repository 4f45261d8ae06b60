"""Slicing: rows and columns of matrices go, and the matrices are smaller for real."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Cut:
    """What is left of a tensor.

    Attributes:
        dimension: 0: rows of a matrix, or elements of a vector; 1: columns of a matrix.
        index: int64 [left], those that stay, ascending.
    """

    dimension: int
    index: Tensor

    def of(self, tensor: Tensor) -> Tensor:
        """Return the tensor without what goes, as a copy."""
        return tensor.index_select(self.dimension, self.index.to(tensor.device))


def elements_of(kept: Tensor, size: int, parts: int = 1) -> Tensor:
    """Return the indices of the elements of the units that stay, int64, ascending.

    Args:
        kept: bool [units], which stay.
        size: elements of a unit: of a head, its size; of a node, one.
        parts: how many times the units lie one after the other: 3 where queries, keys and values do.
    """
    return kept.cpu().repeat_interleave(size).repeat(parts).nonzero().flatten()


def at_least_one(kept: Tensor, importance: Tensor) -> Tensor:
    """Return which units stay, bool [units]: `kept`, or where that is none, the one of most importance [units]."""
    if bool(kept.any()):
        return kept
    return torch.arange(len(kept), device=kept.device) == importance.argmax()
