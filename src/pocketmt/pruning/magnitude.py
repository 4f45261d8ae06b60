"""Iterative magnitude pruning: the smallest weights become zero, step by step (Cheong and Daniel 2019, section 3.2)."""

import torch
from torch import Tensor


def share_at(update: int, from_share: float, to_share: float, steps: int, period: int) -> float:
    """Return the share of a matrix's weights that is zero after an update.

    It is X at the start and grows by (Y - X) / steps every `period` updates. Source: Cheong and Daniel 2019, section
    4.3, with 9 steps and a period of 1001.

    Args:
        update: number of the update; 0 before the first.
        from_share: X, 0 to 1.
        to_share: Y, 0 to 1.
        steps: number of times that the share grows.
        period: updates between steps.
    """
    done = min(update // period, steps)
    return to_share if done == steps else from_share + (to_share - from_share) * done / steps


def largest(weight: Tensor, share: float) -> Tensor:
    """Return which weights stay, bool of the weight's shape: all but a share of the smallest magnitudes.

    The share is rounded down to whole weights; of equal magnitudes, the first are removed first.
    """
    kept = torch.ones(weight.numel(), dtype=torch.bool, device=weight.device)
    kept[weight.abs().flatten().argsort(stable=True)[: int(share * weight.numel())]] = False
    return kept.view_as(weight)
