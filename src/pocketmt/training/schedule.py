"""Learning-rate schedules."""

import math


def inverse_square_root(update: int, peak: float, warmup_updates: int) -> float:
    """Return the learning rate of an update, counted from 1.

    It rises linearly to `peak` at `warmup_updates`, and is then peak * sqrt(warmup_updates / update). This is eq. 3 of
    Vaswani et al. 2017, with its largest value as a parameter.
    """
    return peak * min(update / warmup_updates, math.sqrt(warmup_updates / update))


def training_rate(update: int, peak: float, warmup_updates: int, updates: int, decay_updates: int) -> float:
    """Return the learning rate of an update, counted from 1, of a training run.

    It follows `inverse_square_root` until `updates` - `decay_updates`, which is after the warm-up. From there it falls
    linearly to 0 just after the last update (Hägele et al. 2024, section 3: the decay may begin at any update).
    """
    decay_start = updates - decay_updates
    if update <= decay_start:
        return inverse_square_root(update, peak, warmup_updates)
    rate = inverse_square_root(decay_start, peak, warmup_updates)
    return rate * (updates + 1 - update) / (updates + 1 - decay_start)


def stage_rate(
    schedule: str, update: int, updates: int, rate: float, warmup_updates: int, constant_updates: int
) -> float:
    """Return the learning rate of an update, counted from 1, of a stage of retraining.

    It rises linearly from 0 to `rate` at `warmup_updates`, and stays there until `constant_updates`. From there

    - "constant" keeps it,
    - "inverse_square_root" is rate * sqrt(decay_start / update). Without warm-up this is eq. 3 of Chung et al. 2020,
      appendix A.4: its c_lr * d^-0.5 * steps_peak^-0.5 is `rate`, and its steps_peak is `constant_updates`. (The paper
      prints d^0.5; Vaswani et al. 2017, eq. 3, has d^-0.5.)
    - "linear" falls to 0 just after the last update of the stage.
    """
    decay_start = max(warmup_updates, constant_updates, 1)
    if update < warmup_updates:
        return rate * update / warmup_updates
    if schedule == "constant" or update <= decay_start:
        return rate
    if schedule == "inverse_square_root":
        return rate * math.sqrt(decay_start / update)
    return rate * (updates + 1 - update) / (updates + 1 - decay_start)
