"""Group lasso: a penalty that drives groups of weights to zero together (Behnke et al. 2021, section 3.1).

It has the form of Yuan and Lin 2006, lambda * sum over groups g of sqrt(weights in g) * ||g||_2, and is added to the
cross-entropy summed over a batch.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Connections:
    """Groups of one matrix that belong to units, heads or nodes."""

    weights: Tensor  # [units, groups of a unit, weights of a group]
    # [units, groups of a unit, biases of a group], of the same outputs; they do not count in the size of a group. None
    # for groups of columns, and without biases.
    biases: Tensor | None = None

    def norms(self) -> Tensor:
        """Return ||g||_2 of every group, [units, groups]; its gradient at zero is zero."""
        parts = self.weights if self.biases is None else torch.cat([self.weights, self.biases], dim=-1)
        norms: Tensor = torch.linalg.vector_norm(parts, dim=-1)
        return norms

    def penalty(self) -> Tensor:
        """Return the sum over groups of sqrt(weights in g) * ||g||_2, a scalar."""
        return math.sqrt(self.weights.shape[-1]) * self.norms().sum()

    def dead(self, below: float) -> Tensor:
        """Return the dead groups, bool [units, groups]: the root mean square of their weights is less than `below`."""
        return self.norms() < below * math.sqrt(self.weights.shape[-1])


def living_units(connections: Sequence[Connections], below: float) -> Tensor:
    """Return which units stay, bool [units]: those with more than half of their connections alive.

    The paper removes "an entire attention head if at least half of its connections are dead". A feed-forward node has
    two connections, its row and its column, and needs both.

    Args:
        connections: of all matrices of one sub-layer.
        below: see `Connections.dead`.
    """
    dead = torch.cat([each.dead(below) for each in connections], dim=1)
    return 2 * dead.sum(dim=1) < dead.shape[1]
