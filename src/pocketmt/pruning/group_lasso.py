"""Group lasso: a penalty that drives groups of weights to zero together, and which groups it has killed [E5].

Behnke and Heafield 2021, "Pruning neural machine translation for speed using group lasso", in the form of Yuan and Lin
2006: lambda * sum over groups g of sqrt(weights in g) * ||g||_2, added to the cross-entropy summed over a batch.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Connections:
    """Groups of one matrix that belong to units, heads or nodes.

    Attributes:
        weights: [units, groups of a unit, weights of a group].
        biases: [units, groups of a unit, biases of a group], those of the same outputs: they die with the group, and
            do not count in its size; None where the groups are columns, or there are no biases.
    """

    weights: Tensor
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
        """Return which groups are dead, bool [units, groups]: the root mean square of their weights is `below` that."""
        return self.norms() < below * math.sqrt(self.weights.shape[-1])


def living_units(connections: Sequence[Connections], below: float) -> Tensor:
    """Return which units live, bool [units]: more than half of their connections do.

    "an entire attention head if at least half of its connections are dead" (paper E, section 3.1). A feed-forward node
    has two, its row and its column: it is of no use without either.

    Args:
        connections: of one sub-layer, all of its matrices.
        below: as of `Connections.dead`.
    """
    dead = torch.cat([each.dead(below) for each in connections], dim=1)
    return 2 * dead.sum(dim=1) < dead.shape[1]
