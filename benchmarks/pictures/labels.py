"""Labels on their points: each label goes where it covers neither points nor other labels."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Final

from benchmarks.pictures.svg import SMALL, Box, Drawing, text_width

_GAPS: Final = (
    12.0,
    24.0,
    38.0,
    54.0,
    72.0,
    94.0,
    120.0,
)  # from the point to its label; from the second on a line joins them
_DIRECTIONS: Final = ((1, 0), (-1, 0), (0, -1), (0, 1), (1, -1), (-1, -1), (1, 1), (-1, 1))


@dataclass(frozen=True)
class Label:
    """A text that belongs to a point of the drawing."""

    point: tuple[float, float]
    text: str
    kind: str = "text"


def draw_labels(drawing: Drawing, labels: Sequence[Label], points: Sequence[tuple[float, float]], area: Box) -> None:
    """Write labels beside their points, with a line to the point if the label is not next to it.

    Args:
        drawing: the drawing, which already has the points.
        labels: in the order in which they choose their place.
        points: all points that no label may cover.
        area: the part of the drawing in which labels must stay.
    """
    taken = [Box(x - 8, y - 8, x + 8, y + 8) for x, y in points]
    chosen = []
    for label in labels:
        places = list(_places(label, area))
        others = [each for each in taken if not _inside(label.point, each)]
        costs = [
            sum(box.overlap(other) for other in taken) + 150 * _crossed(label.point, box, others) + 3 * gap
            for gap, box in places
        ]
        gap, box = places[costs.index(min(costs))]
        taken.append(box)
        chosen.append((label, box))
        if gap > _GAPS[0]:
            drawing.line(label.point, _nearest(label.point, box), "rule")
            taken += [Box(x - 5, y - 5, x + 5, y + 5) for x, y in _steps(label.point, box)[2:]]
    for label, box in chosen:  # over the lines
        drawing.text((box.left, box.bottom - 5), label.text, label.kind, size=SMALL, halo=True)


def _nearest(point: tuple[float, float], box: Box) -> tuple[float, float]:
    """Return the point of a box that is nearest to another point."""
    return min(max(point[0], box.left), box.right), min(max(point[1], box.top), box.bottom)


def _inside(point: tuple[float, float], box: Box) -> bool:
    return _nearest(point, box) == point


def _crossed(point: tuple[float, float], box: Box, others: Sequence[Box]) -> int:
    """Return how many of the boxes the line from a point to a box crosses."""
    return sum(any(_inside(place, other) for place in _steps(point, box)) for other in others)


def _steps(point: tuple[float, float], box: Box) -> list[tuple[float, float]]:
    """Return points of the line from a point to a box."""
    end = _nearest(point, box)
    shares = [number / 12 for number in range(13)]
    return [(point[0] + share * (end[0] - point[0]), point[1] + share * (end[1] - point[1])) for share in shares]


def spread(places: Sequence[float], distance: float) -> list[float]:
    """Return the places moved apart, in the same order, so that neighbours differ by at least a distance."""
    order = sorted(range(len(places)), key=lambda index: places[index])
    found = list(places)
    for _ in range(200):
        for low, high in pairwise(order):
            missing = distance - (found[high] - found[low])
            if missing > 0:
                found[low] -= missing / 2
                found[high] += missing / 2
    return found


def _places(label: Label, area: Box) -> Iterator[tuple[float, Box]]:
    """Yield the gaps and boxes to try, the best first; boxes outside the area are left out."""
    width, height = text_width(label.text, SMALL), SMALL + 2
    x, y = label.point
    for gap, (right, down) in product(_GAPS, _DIRECTIONS):
        left = x + gap if right > 0 else x - gap - width if right < 0 else x - width / 2
        top = y + down * (gap + height / 2) - height / 2 if right == 0 else y + down * gap - height / 2
        box = Box(left, top, left + width, top + height)
        if box.left >= area.left and box.right <= area.right and box.top >= area.top and box.bottom <= area.bottom:
            yield gap, box
