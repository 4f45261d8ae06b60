"""Iterative magnitude pruning: the weights that are nearest to zero become zero, more of them step by step [Z3]."""

import torch
from torch import Tensor


def share_at(update: int, from_share: float, to_share: float, steps: int, period: int) -> float:
    """Return the share of a matrix's weights that is zero after an update.

    X at the start of training and (Y - X) / 9 more every 1001 updates (paper Z, section 4.3), where `steps` is 9 and
    `period` 1001.

    Args:
        update: 0 before the first.
        from_share: X, from 0 up to 1.
        to_share: Y, the same.
        steps: how often more are pruned after the start.
        period: updates between steps.
    """
    done = min(update // period, steps)
    return to_share if done == steps else from_share + (to_share - from_share) * done / steps


def largest(weight: Tensor, share: float) -> Tensor:
    """Return which weights stay, bool of the weight's shape: all but a share, those of the least magnitude.

    The share is rounded down to whole weights; of equal magnitudes, those stored first go first.
    """
    kept = torch.ones(weight.numel(), dtype=torch.bool, device=weight.device)
    kept[weight.abs().flatten().argsort(stable=True)[: int(share * weight.numel())]] = False
    return kept.view_as(weight)
