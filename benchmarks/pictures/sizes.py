"""BLEU of compressed models over the size of their files: a labelled point for each recipe."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from benchmarks.pictures.axes import Scale, byte_count, draw_x_axis, draw_y_axis
from benchmarks.pictures.labels import Label, draw_labels
from benchmarks.pictures.svg import MARGIN, SMALL, WIDTH, Box, Drawing
from pocketmt.errors import ConfigurationError
from pocketmt.evaluation.tables import look_up
from pocketmt.recipes.catalogue import recipe_names

UNCOMPRESSED: Final = "fp32-continued"


@dataclass(frozen=True)
class Range:
    """Ends and ticks of an axis."""

    lowest: float
    highest: float
    ticks: tuple[float, ...]


SMALL_BYTES: Final = Range(1.3e6, 48e6, (2e6, 4e6, 8e6, 16e6, 32e6))
SMALL_BLEU: Final = Range(35.4, 37.0, (35.5, 36.0, 36.5, 37.0))
TINY_BYTES: Final = Range(2.8e5, 12e6, (5e5, 1e6, 2e6, 4e6, 8e6))
TINY_BLEU: Final = Range(33.2, 36.6, (34, 35, 36))


def draw_small(record: Mapping[str, Any]) -> str:
    """Draw every recipe on the larger model; ConfigurationError if the record has no uncompressed model."""
    drawing = Drawing(620, "Quality over file size", "BLEU of each recipe over the size of its file, larger model")
    drawing.text((MARGIN, 38), "BLEU of the model of 8.9 million weights, by file size", bold=True)
    drawing.text((MARGIN, 68), "dashed: the uncompressed model", "muted", size=SMALL)
    rows = _scored(record)
    recipes = [row["recipe"] for row in rows]
    _draw_panel(drawing, Box(74, 100, WIDTH - 36, 568), rows, recipes, (SMALL_BYTES, SMALL_BLEU))
    return drawing.svg()


def draw_tiny(record: Mapping[str, Any]) -> str:
    """Draw every recipe of the smaller model that keeps 30 BLEU; errors as of `draw_small`."""
    scored = _scored(record)
    rows = [row for row in scored if _bleu(row) >= TINY_BLEU.lowest]
    drawing = Drawing(840, "Quality over file size", "BLEU of each recipe over the size of its file, small model")
    drawing.text((MARGIN, 38), "BLEU of the model of 2.1 million weights, by file size", bold=True)
    hidden = len(scored) - len(rows)
    for number, note in enumerate(
        (
            "dashed: the uncompressed model; grey: recipes of the papers' tables,",
            f"of which {hidden}, below {TINY_BLEU.lowest:g} BLEU, are not shown",
        )
    ):
        drawing.text((MARGIN, 68 + 29 * number), note, "muted", size=SMALL)
    _draw_panel(drawing, Box(74, 128, WIDTH - 36, 788), rows, recipe_names(), (TINY_BYTES, TINY_BLEU))
    return drawing.svg()


def _scored(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows with scores of the test sets, each with the size of its smaller file, without float32's copy."""
    rows = [dict(row) for row in look_up(record, "rows") if "tests" in row and row["recipe"] != "float32"]
    if UNCOMPRESSED not in {row["recipe"] for row in rows}:
        raise ConfigurationError(f"the record has no scores of {UNCOMPRESSED}")
    return [{**row, "least_bytes": min(row["bytes"], row["entropy_coded_bytes"])} for row in rows]


def _bleu(row: Mapping[str, Any]) -> float:
    return float(look_up(row, "tests.bleu"))


def _draw_panel(
    drawing: Drawing,
    area: Box,
    rows: Sequence[Mapping[str, Any]],
    recipes: Sequence[str],
    ranges: tuple[Range, Range],
) -> None:
    """Draw a point for each row, labels for some recipes, and a line for the BLEU of the uncompressed model."""
    of_bytes, of_bleu = ranges
    x = Scale(of_bytes.lowest, of_bytes.highest, area.left, area.right, logarithmic=True)
    y = Scale(of_bleu.lowest, of_bleu.highest, area.bottom, area.top)
    draw_y_axis(drawing, area, y, of_bleu.ticks)
    draw_x_axis(drawing, area, x, of_bytes.ticks, byte_count)
    places = {row["recipe"]: (x.place(row["least_bytes"]), y.place(_bleu(row))) for row in rows}
    level = places[UNCOMPRESSED][1]
    drawing.line((area.left, level), (area.right, level), "line-1", dashed=True)
    named = [recipe for recipe in places if recipe in (UNCOMPRESSED, *recipes)]
    for recipe, place in places.items():
        if recipe not in named:
            drawing.point(place, "other", radius=4.5)
    for recipe in named:
        drawing.point(places[recipe], "point-1")
    named.sort(key=lambda recipe: places[recipe])
    labels = [Label(places[recipe], "uncompressed" if recipe == UNCOMPRESSED else recipe, "text") for recipe in named]
    room = Box(area.left + 4, area.top - 12, area.right + 20, area.bottom - 4)
    draw_labels(drawing, labels, list(places.values()), room, [level, *map(y.place, of_bleu.ticks)])
