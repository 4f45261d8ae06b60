"""Multipliers of other toolkits, which are the reciprocals of our scales, rounded so that both ways agree."""

import numpy as np

_ONE = np.float32(1)


def reciprocal(scale: np.float32) -> np.float32:
    """Return the float32 next to 1 / scale whose own reciprocal, in float32, is the scale, if there is one.

    So a scale that came from a multiplier keeps its value when it is written and read again.
    """
    nearest = _ONE / scale
    for value in (nearest, np.nextafter(nearest, np.float32(0)), np.nextafter(nearest, np.float32(np.inf))):
        if _ONE / value == scale:
            return np.float32(value)
    return np.float32(nearest)
