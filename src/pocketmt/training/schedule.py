"""Learning rates over updates."""

import math


def inverse_square_root(update: int, peak: float, warmup_updates: int) -> float:
    """Rate of an update, from 1: linear up to `peak` at `warmup_updates`, then peak * sqrt(warmup_updates / update).

    Vaswani et al. 2017, eq. 3, written with its peak.
    """
    return peak * min(update / warmup_updates, math.sqrt(warmup_updates / update))


def training_rate(update: int, peak: float, warmup_updates: int, updates: int, cooldown_updates: int) -> float:
    """Rate of an update, from 1, of a training run: `inverse_square_root`, and over its last updates down to 0.

    From `updates` - `cooldown_updates`, which is behind the warm-up, the rate falls in a straight line from what it is
    there to 0 just behind the run's last update (Hägele et al. 2024, section 3: the cool-down may begin wherever a run
    is to end).
    """
    turn = updates - cooldown_updates
    if update <= turn:
        return inverse_square_root(update, peak, warmup_updates)
    return inverse_square_root(turn, peak, warmup_updates) * (updates + 1 - update) / (updates + 1 - turn)


def stage_rate(
    schedule: str, update: int, updates: int, rate: float, warmup_updates: int, constant_updates: int
) -> float:
    """Rate of an update, from 1, of a stage of retraining.

    It rises linearly from 0 to `rate` at `warmup_updates`, stays there until `constant_updates`, and then

    - "constant" goes on as it is,
    - "inverse_square_root" is rate * sqrt(turn / update), turn being where it begins to fall: without warm-up this is
      [B4], eq. 3, whose c_lr * d^-0.5 * steps_peak^-0.5 is `rate` and whose steps_peak is `constant_updates`,
    - "linear" falls to 0 just behind the stage's last update.
    """
    turn = max(warmup_updates, constant_updates, 1)
    if update < warmup_updates:
        return rate * update / warmup_updates
    if schedule == "constant" or update <= turn:
        return rate
    if schedule == "inverse_square_root":
        return rate * math.sqrt(turn / update)
    return rate * (updates + 1 - update) / (updates + 1 - turn)
