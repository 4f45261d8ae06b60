"""Learning rates over updates."""

import math


def inverse_square_root(update: int, peak: float, warmup_updates: int) -> float:
    """Rate of an update, from 1: linear up to `peak` at `warmup_updates`, then peak * sqrt(warmup_updates / update).

    Vaswani et al. 2017, eq. 3, written with its peak.
    """
    return peak * min(update / warmup_updates, math.sqrt(warmup_updates / update))
