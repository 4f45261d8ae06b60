"""Labels on their points: each label goes where it covers neither points nor other labels."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

from benchmarks.pictures.svg import SMALL, Box, Drawing, text_width

_GAPS: Final = (12.0, 26.0, 44.0, 64.0, 90.0)  # from the point to its label; from the second on a line joins them
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
    for label in labels:
        places = list(_places(label, area))
        costs = [sum(box.overlap(other) for other in taken) for _, box in places]
        gap, box = places[costs.index(min(costs))]
        taken.append(box)
        if gap > _GAPS[0]:
            x, y = label.point
            near = (min(max(x, box.left), box.right), min(max(y, box.top), box.bottom))
            drawing.line(label.point, near, "grid")
        drawing.text((box.left, box.bottom - 5), label.text, label.kind, size=SMALL)


def spread(places: Sequence[float], distance: float) -> list[float]:
    """Return the places moved apart, in the same order, so that neighbours differ by at least a distance."""
    order = sorted(range(len(places)), key=lambda index: places[index])
    found = list(places)
    for _ in range(200):
        for low, high in zip(order, order[1:], strict=False):
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
