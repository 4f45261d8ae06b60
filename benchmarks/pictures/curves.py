"""Lines through points, each with its name at its end."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.pictures.axes import Scale
from benchmarks.pictures.labels import spread
from benchmarks.pictures.svg import SMALL, Drawing

LINE_HEIGHT = 27.0  # between names


@dataclass(frozen=True)
class Curve:
    """A line through points, with its name and the number of its colour."""

    name: str
    color: int
    points: Sequence[tuple[float, float]]


def draw_curves(drawing: Drawing, curves: Sequence[Curve], x: Scale, y: Scale) -> None:
    """Draw lines with their points, and their names at the right end, moved apart where they would overlap."""
    places = [[(x.place(a), y.place(b)) for a, b in curve.points] for curve in curves]
    for curve, line in zip(curves, places, strict=True):
        drawing.path(line, f"line-{curve.color}")
        for place in line:
            drawing.point(place, f"point-{curve.color}", radius=5)
    ends = [line[-1] for line in places]
    for curve, place, height in zip(curves, ends, spread([place[1] for place in ends], LINE_HEIGHT), strict=True):
        drawing.text((place[0] + 12, height + 7), curve.name, f"name-{curve.color}", size=SMALL)


def selected(row: Mapping[str, object], **wanted: object) -> bool:
    """Return whether a row has these values."""
    return all(row.get(name) == value for name, value in wanted.items())
