"""Nodes of feed-forward layers that do nothing, by how much they are ever activated [Q7] (paper Q, appendix B)."""

from typing import Final

import torch
from torch import Tensor

# "Running estimates" (appendix B) are exponential moving averages "with a momentum of 0.9" (section 3.1).
MOMENTUM: Final = 0.9


def running_maxima(estimate: Tensor | None, activations: Tensor) -> Tensor:
    """Return the running estimate of x_max, each node's maximum, after one more batch.

    Args:
        estimate: [nodes], of the batches before; None before the first.
        activations: [positions, nodes], outputs of a ReLU, at least one position.
    """
    highest = activations.amax(dim=0)
    return highest if estimate is None else MOMENTUM * estimate + (1 - MOMENTUM) * highest


def above_threshold(maxima: Tensor, z: float) -> Tensor:
    """Return which nodes stay, bool [nodes]: all but those where x_max < z sigma.

    Args:
        maxima: x_max of every node of one layer, [nodes].
        z: the threshold; sigma is the standard deviation of the layer's x_max, over n.
    """
    return maxima >= z * maxima.std(correction=0)


def above_lowest(values: Tensor, ratio: float) -> Tensor:
    """Return which nodes stay, bool [nodes]: all but a share of those with the least values (Table 8, "fixed").

    Args:
        values: of every node of one layer, [nodes]; of equal ones, the first go first.
        ratio: share of the nodes that go, rounded down to whole nodes.
    """
    kept = torch.ones_like(values, dtype=torch.bool)
    kept[values.argsort(stable=True)[: int(ratio * len(values))]] = False
    return kept


def weight_norms(inner: Tensor, outer: Tensor) -> Tensor:
    """Return the L1 norm of each node's weights, [nodes]: what goes with the node.

    Args:
        inner: [nodes, inputs].
        outer: [outputs, nodes].
    """
    return inner.abs().sum(dim=1) + outer.abs().sum(dim=0)
