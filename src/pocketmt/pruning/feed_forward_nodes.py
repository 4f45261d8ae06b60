"""Selection of feed-forward nodes to prune, by activation or by weights (Prato et al. 2020, appendix B)."""

from typing import Final

import torch
from torch import Tensor

# "Running estimates" (appendix B) are exponential moving averages "with a momentum of 0.9" (section 3.1).
MOMENTUM: Final = 0.9


def running_maxima(estimate: Tensor | None, activations: Tensor) -> Tensor:
    """Return the running estimate of x_max, the maximum of each node, after another batch.

    Args:
        estimate: [nodes], of the earlier batches; None before the first.
        activations: [positions, nodes], outputs of a ReLU, at least one position.
    """
    highest = activations.amax(dim=0)
    return highest if estimate is None else MOMENTUM * estimate + (1 - MOMENTUM) * highest


def above_threshold(maxima: Tensor, z: float) -> Tensor:
    """Return which nodes stay, bool [nodes]: those with x_max >= z sigma.

    Args:
        maxima: x_max of every node of one layer, [nodes]; sigma is their standard deviation, divided by n.
        z: the threshold.
    """
    return maxima >= z * maxima.std(correction=0)


def above_lowest(values: Tensor, ratio: float) -> Tensor:
    """Return which nodes stay, bool [nodes]: all but a share with the lowest values (Table 8, "fixed").

    Args:
        values: of every node of one layer, [nodes]; of equal ones, the first are removed first.
        ratio: share of the nodes to remove, rounded down to whole nodes.
    """
    kept = torch.ones_like(values, dtype=torch.bool)
    kept[values.argsort(stable=True)[: int(ratio * len(values))]] = False
    return kept


def weight_norms(inner: Tensor, outer: Tensor) -> Tensor:
    """Return the L1 norm of the weights of each node, [nodes]; inner is [nodes, inputs] and outer [outputs, nodes]."""
    return inner.abs().sum(dim=1) + outer.abs().sum(dim=0)
