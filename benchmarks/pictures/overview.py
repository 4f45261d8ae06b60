"""The picture of README's first screen: quality over size, and speed compared with other engines."""

from collections.abc import Mapping
from typing import Any, Final

from benchmarks.pictures.axes import Scale, byte_count, draw_x_axis, draw_y_axis
from benchmarks.pictures.bars import Panel, draw_bars
from benchmarks.pictures.labels import Label, draw_labels
from benchmarks.pictures.peers import Place, bars
from benchmarks.pictures.sizes import UNCOMPRESSED as TRAINED_ON
from benchmarks.pictures.svg import MARGIN, SMALL, WIDTH, Box, Drawing
from pocketmt.errors import ConfigurationError
from pocketmt.evaluation.tables import look_up

UNCOMPRESSED: Final = "float32"
PLACE: Final = Place("base, random weights", "self-attention", False, "one by one, greedy")
BARS: Final = ("ours-8", "ours-4")
TICKS: Final = (42, 43, 44)
SPEED: Final = Box(496, 44, WIDTH - MARGIN, 0)
SPEED_NOTES: Final = (
    "one at a time, one core, 60 million",
    "random weights, forced length;",
    "in brackets: times as fast as",
    "the faster of the other two;",
    "4 bit: log scale; left: affine",
)


def draw_overview(sizes: Mapping[str, Any], peers: Mapping[str, Any]) -> str:
    """Draw both panels; ConfigurationError if a record lacks the uncompressed model or the case."""
    drawing = Drawing(388, "Quality over size, and speed", "BLEU over file size; time a sentence of three engines")
    drawing.text((MARGIN, 38), "Quality by file size", bold=True)
    drawing.text((MARGIN, 68), "BLEU, everyday sentences", "muted", size=SMALL)
    _draw_sizes(drawing, sizes, Box(66, 96, 450, 336))
    drawing.text((SPEED.left, 38), "Milliseconds a sentence", bold=True)
    (group,) = (group for group in bars(peers, PLACE) if any(bar.kind == "ours-4" for bar in group))
    shown = [bar for bar in group if not bar.kind.startswith("ours") or bar.kind in BARS]
    draw_bars(drawing, SPEED, Panel("", [shown]), max(bar.name_width for bar in shown))
    for number, line in enumerate(SPEED_NOTES):
        drawing.text((SPEED.left, 262 + 27 * number), line, "muted", size=SMALL)
    return drawing.svg()


def points(record: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the name and row of each point: the uncompressed model, then the record's best recipe at each size.

    Raises ConfigurationError if the record has no scores of the uncompressed model.
    """
    whole = [row for row in look_up(record, "rows") if row["recipe"] == UNCOMPRESSED and "tests" in row]
    if not whole:
        raise ConfigurationError(f"the record has no scores of {UNCOMPRESSED}")
    best = [row for row in look_up(record, "frontier") if row["recipe"] not in (UNCOMPRESSED, TRAINED_ON)]
    return [(_name(row), row) for row in (whole[0], *best)]


def _name(row: Mapping[str, Any]) -> str:
    bits = float(look_up(row, "bits"))
    # Scales and vectors add up to a quarter of a bit to whole codes.
    name = f"{bits:.0f} bits" if abs(bits - round(bits)) < 0.25 else f"{bits:.1f} bits"
    return f"{name}, retrained" if look_up(row, "updates") else name


def _draw_sizes(drawing: Drawing, record: Mapping[str, Any], area: Box) -> None:
    x = Scale(0.8e6, 20e6, area.left, area.right, logarithmic=True)
    y = Scale(41.4, 44.6, area.bottom, area.top)
    draw_y_axis(drawing, area, y, TICKS)
    draw_x_axis(drawing, area, x, (1e6, 4e6, 16e6), byte_count)
    named = points(record)
    places = [
        (x.place(min(row["bytes"], row["entropy_coded_bytes"])), y.place(float(look_up(row, "tests.bleu"))))
        for _, row in named
    ]
    for place in places:
        drawing.point(place, "point-1", radius=7)
    labels = [Label(place, name) for place, (name, _) in zip(places, named, strict=True)]
    draw_labels(
        drawing, labels, places, Box(area.left + 4, area.top - 12, area.right + 16, area.bottom), [*map(y.place, TICKS)]
    )
