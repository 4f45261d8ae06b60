"""Axes of a panel: scales, ticks and grid lines."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.pictures.svg import SMALL, Box, Drawing


@dataclass(frozen=True)
class Scale:
    """A mapping of values to places in the drawing, linear or logarithmic."""

    lowest: float
    highest: float
    start: float  # place of the lowest value
    end: float
    logarithmic: bool = False

    def place(self, value: float) -> float:
        """Return the place of a value."""
        low, high, here = (math.log(each) if self.logarithmic else each for each in (self.lowest, self.highest, value))
        return self.start + (here - low) / (high - low) * (self.end - self.start)


def plain_number(value: float) -> str:
    """Return a number of a tick, with a minus sign."""
    return f"{value:g}".replace("-", "−")


def byte_count(value: float) -> str:
    """Return a number of bytes with its unit, such as "500 kB" or "2 MB"."""
    return f"{value / 1e6:g} MB" if value >= 1e6 else f"{value / 1e3:g} kB"


def draw_x_axis(
    drawing: Drawing, area: Box, scale: Scale, ticks: Sequence[float], name: Callable[[float], str] = plain_number
) -> None:
    """Draw the lower side of a panel with its ticks."""
    drawing.line((area.left, area.bottom), (area.right, area.bottom), "rule")
    for tick in ticks:
        place = scale.place(tick)
        drawing.line((place, area.bottom), (place, area.bottom + 6), "rule")
        drawing.text((place, area.bottom + 28), name(tick), "muted", "middle", size=SMALL)


def draw_y_axis(
    drawing: Drawing, area: Box, scale: Scale, ticks: Sequence[float], name: Callable[[float], str] = plain_number
) -> None:
    """Draw a grid line for each tick of the left side of a panel."""
    for tick in ticks:
        place = scale.place(tick)
        drawing.line((area.left, place), (area.right, place), "grid")
        drawing.text((area.left - 8, place + 7), name(tick), "muted", "end", size=SMALL)
