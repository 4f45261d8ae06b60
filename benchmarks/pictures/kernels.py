"""Speed of products of fewer bits, compared with 8 bits, over the number of rows of activations."""

from collections.abc import Mapping
from typing import Any, Final

from benchmarks.page_tables import INSTRUCTION_SETS
from benchmarks.pictures.axes import Scale, draw_x_axis, draw_y_axis
from benchmarks.pictures.curves import Curve, draw_curves, selected
from benchmarks.pictures.svg import SMALL, WIDTH, Box, Drawing
from pocketmt.errors import ConfigurationError
from pocketmt.evaluation.tables import look_up

SHAPE: Final = "2048 x 512"  # the largest matrix of a layer of `base`
PLACES: Final = {"memory": "weights from memory", "cache": "weights from a cache"}
# Name in the record -> name in the picture; "planes" are binary codes.
FAMILIES: Final = {
    "six_bit": "6 bits",
    "table4": "4 bits",
    "planes2": "2 bits",
    "planes1": "1 bit",
}
TICKS: Final = (1, 1.5, 2, 2.5, 3)


def draw_kernels(record: Mapping[str, Any]) -> str:
    """Draw the families on the best instruction set, the first one of the record.

    Raises ConfigurationError if the record has no rows, or none of a place.
    """
    rows = look_up(record, "rows")
    if not rows:
        raise ConfigurationError("the record of the kernels has no rows")
    best = look_up(rows[0], "instruction_set")
    drawing = Drawing(488, "Speed of products of fewer bits", "times as fast as the product of 8-bit weights")
    drawing.text((20, 38), "Products of fewer bits: times as fast as 8 bits", bold=True)
    name = INSTRUCTION_SETS.get(str(best), str(best).upper())
    drawing.text((20, 68), f"matrix of {SHAPE} weights, {name}; decoding reads from memory", "muted", size=SMALL)
    drawn = [row for row in rows if selected(row, instruction_set=best, shape=SHAPE)]
    highest = max((look_up(row, f"times_int8.{family}") for row in drawn for family in FAMILIES), default=1.0)
    for number, (place, title) in enumerate(PLACES.items()):
        chosen = [row for row in rows if selected(row, instruction_set=best, shape=SHAPE, weights=place)]
        if not chosen:
            raise ConfigurationError(f"the record of the kernels has no row of {best}, {SHAPE}, {place}")
        left = 20 + number * (WIDTH - 20) / 2
        _draw_panel(drawing, Box(left + 44, 142, left + 366, 412), title, chosen, highest)
    return drawing.svg()


def _draw_panel(drawing: Drawing, area: Box, title: str, rows: list[Mapping[str, Any]], highest: float) -> None:
    """Draw the curves of a panel; `highest` is the greatest value of all panels."""
    counts = [look_up(row, "count") for row in rows]
    x = Scale(min(counts), max(counts), area.left + 16, area.right, logarithmic=True)
    y = Scale(0.6, max(TICKS[-1], highest) + 0.1, area.bottom, area.top)
    drawing.text((area.left - 44, area.top - 30), title, size=SMALL, bold=True)
    draw_y_axis(drawing, area, y, TICKS)
    draw_x_axis(drawing, area, x, counts)
    drawing.text(((area.left + area.right) / 2, area.bottom + 60), "rows of activations", "muted", "middle", size=SMALL)
    drawing.line((area.left, y.place(1)), (area.right, y.place(1)), "rule")
    curves = [
        Curve(name, color, [(look_up(row, "count"), look_up(row, f"times_int8.{family}")) for row in rows])
        for color, (family, name) in enumerate(FAMILIES.items(), start=1)
    ]
    draw_curves(drawing, curves, x, y)
