"""The picture of README's first screen: quality over size, and speed compared with other engines."""

from collections.abc import Mapping
from typing import Any, Final

from benchmarks.pictures.axes import Scale, byte_count, draw_x_axis, draw_y_axis
from benchmarks.pictures.bars import Panel, draw_bars
from benchmarks.pictures.labels import Label, draw_labels
from benchmarks.pictures.peers import NAME_WIDTH, Place, bars
from benchmarks.pictures.sizes import UNCOMPRESSED
from benchmarks.pictures.svg import SMALL, WIDTH, Box, Drawing
from pocketmt.errors import ConfigurationError
from pocketmt.evaluation.tables import look_up

# Recipe -> what its point is called.
POINTS: Final = {
    UNCOMPRESSED: "32 bits",
    "8bit": "8 bits",
    "affine4-compensated": "4 bits",
    "mixed-2.6-bits-distilled": "2.7 bits",
    "mixed-2-bits-distilled": "2 bits",
    "entropy-1.5-bits-distilled": "1.6 bits",
}
PLACE: Final = Place("base, random weights", "self-attention", False, "one by one, greedy")
BARS: Final = ("ours-8", "ours-4")


def draw_overview(sizes: Mapping[str, Any], peers: Mapping[str, Any]) -> str:
    """Draw both panels; ConfigurationError if a record lacks a recipe or the case."""
    drawing = Drawing(372, "Quality over size, and speed", "BLEU over file size; time a sentence of three engines")
    drawing.text((20, 36), "Quality kept, by file size", bold=True)
    _draw_sizes(drawing, sizes, Box(66, 84, 452, 318))
    drawing.text((492, 36), "Speed: milliseconds a sentence", bold=True)
    (group,) = (group for group in bars(peers, PLACE) if any(bar.kind == "ours-4" for bar in group))
    shown = [bar for bar in group if not bar.kind.startswith("ours") or bar.kind in BARS]
    draw_bars(drawing, Box(492, 44, WIDTH - 16, 0), Panel("", [shown]), NAME_WIDTH)
    for number, line in enumerate(
        (
            "one at a time, one core, 60 million",
            "random weights, forced length; (×): times",
            "as fast as the faster of the other two",
        )
    ):
        drawing.text((492, 250 + 27 * number), line, "muted", size=SMALL)
    return drawing.svg()


def _draw_sizes(drawing: Drawing, record: Mapping[str, Any], area: Box) -> None:
    rows = {row["recipe"]: row for row in look_up(record, "rows") if "tests" in row}
    missing = POINTS.keys() - rows.keys()
    if missing:
        raise ConfigurationError(f"the record has no scores of {', '.join(sorted(missing))}")
    x = Scale(1.4e6, 48e6, area.left, area.right, logarithmic=True)
    y = Scale(35.4, 37.0, area.bottom, area.top)
    draw_y_axis(drawing, area, y, (35.5, 36, 36.5, 37))
    draw_x_axis(drawing, area, x, (2e6, 8e6, 32e6), byte_count)
    drawing.text((20, 64), "BLEU, 9 million weights, image captions", "muted", size=SMALL)
    places = {
        recipe: (
            x.place(min(rows[recipe]["bytes"], rows[recipe]["entropy_coded_bytes"])),
            y.place(rows[recipe]["tests"]["bleu"]),
        )
        for recipe in POINTS
    }
    drawing.line((area.left, places[UNCOMPRESSED][1]), (area.right, places[UNCOMPRESSED][1]), "line-1", dashed=True)
    for place in places.values():
        drawing.point(place, "point-1", radius=7)
    labels = [Label(places[recipe], name) for recipe, name in POINTS.items()]
    draw_labels(drawing, labels, list(places.values()), Box(area.left + 4, area.top - 20, area.right + 8, area.bottom))
