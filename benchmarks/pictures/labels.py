"""Labels on their points: each label goes where it covers neither points nor other labels."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from random import Random
from typing import Final

from benchmarks.pictures.svg import SMALL, Anchor, Box, Drawing, text_width

# From the point to its label; from the second on a line joins them.
_GAPS: Final = (12.0, 18.0, 24.0, 30.0, 38.0, 46.0, 54.0, 64.0, 76.0, 90.0, 106.0, 124.0)
# Sides of the point: 1 is right of it or below, -1 left or above, 0.9 is above or below and almost all to the right.
_DIRECTIONS: Final = (
    *((1, 0), (-1, 0), (0, -1), (0, 1), (0.9, -1), (0.9, 1), (-0.9, -1), (-0.9, 1)),
    *product((0.45, -0.45), (-1, 1)),
    *product((1, -1), (-1, 1, -0.5, 0.5, -1.5, 1.5)),
)
_HEIGHT: Final = SMALL + 2
_OVERLAP: Final = 1000.0  # cost of each overlap, beside its area
_CROSSING: Final = 60.0  # cost of each line of the panel under a label
_RADIUS: Final = 7.0  # of points with labels, at most
_OTHER_RADIUS: Final = 5.0  # of other points, at most
_SPACE: Final = 2.0  # from a label to other points in its row
_DOUBT: Final = 150.0  # cost of each other labelled point that a label seems to belong to
_FAR: Final = 21.0  # from a label to labelled points in its row that it does not seem to belong to
_JOINED: Final = 40.0  # cost of a line to a label, beside its length
_ORDERS: Final = 30  # in which the labels choose
_SWEEPS: Final = 20  # most times that all labels choose again


@dataclass(frozen=True)
class Label:
    """A text that belongs to a point of the drawing."""

    point: tuple[float, float]
    text: str
    kind: str = "text"


@dataclass(frozen=True)
class _Place:
    """A place of a label: its box, and boxes along the line to its point, if it has one.

    The anchor is the part of the text that stays in its place in fonts of other widths: the side of its point.
    """

    gap: float
    box: Box
    line: tuple[Box, ...] = ()
    anchor: Anchor = "start"

    @property
    def covered(self) -> tuple[Box, ...]:
        """All boxes that the label takes here, with space between neighbours in a row."""
        return (Box(self.box.left - 5, self.box.top, self.box.right + 5, self.box.bottom), *self.line)

    def cost(self, others: Sequence[Box]) -> float:
        """Return the cost of what the label covers of other boxes."""
        areas = [one.overlap(other) for one in (self.box, *self.line) for other in others]
        return sum(_OVERLAP + area for area in areas if area)


def draw_labels(
    drawing: Drawing,
    labels: Sequence[Label],
    points: Sequence[tuple[float, float]],
    area: Box,
    lines: Sequence[float] = (),
) -> None:
    """Write labels beside their points, with a line to the point if the label is not next to it.

    Args:
        drawing: the drawing, which already has the points.
        labels: what to write.
        points: all points that no label may cover.
        area: the part of the drawing in which labels must stay.
        lines: heights of horizontal lines that labels avoid.
    """
    named = {label.point for label in labels}
    marks = [(_square(point, _RADIUS if point in named else _OTHER_RADIUS), point in named) for point in points]
    chosen = _choose([_ranked(label, marks, area, lines) for label in labels])
    for label, place in zip(labels, chosen, strict=True):
        if place.line:
            drawing.line(label.point, _nearest(label.point, place.box), "rule")
    for label, place in zip(labels, chosen, strict=True):  # over the lines
        box = place.box
        x = {"start": box.left, "middle": (box.left + box.right) / 2, "end": box.right}[place.anchor]
        drawing.text((x, box.bottom - 6), label.text, label.kind, place.anchor, size=SMALL, halo=True)


_Ranked = Sequence[tuple[float, _Place]]  # the places of a label with what they cost by themselves, cheapest first


def _choose(ranked: Sequence[_Ranked]) -> list[_Place]:
    """Return a place for each label: the cheapest of the choices in different orders, the same in each run."""
    orders = Random(0)
    found = [_choose_in(orders.sample(range(len(ranked)), len(ranked)), ranked) for _ in range(_ORDERS)]
    _, best = min(found, key=lambda each: each[0])
    return [best[number] for number in range(len(ranked))]


def _choose_in(order: Sequence[int], ranked: Sequence[_Ranked]) -> tuple[float, dict[int, _Place]]:
    """Return what the choice costs, and it: each label takes the cheapest place, again until none moves."""
    chosen: dict[int, _Place] = {}
    costs: dict[int, float] = {}
    for _ in range(_SWEEPS):
        before = dict(chosen)
        for number in order:
            taken = [box for other, place in chosen.items() if other != number for box in place.covered]
            costs[number], chosen[number] = _cheapest(ranked[number], taken)
        if chosen == before:
            break
    return sum(costs.values()), chosen


def _cheapest(places: _Ranked, taken: Sequence[Box]) -> tuple[float, _Place]:
    """Return the place that costs least beside the boxes that others take, and its cost."""
    least, best = places[0][0] + places[0][1].cost(taken), places[0][1]
    for own, place in places[1:]:
        if own >= least:
            break
        cost = own + place.cost(taken)
        if cost < least:
            least, best = cost, place
    return least, best


def _ranked(label: Label, marks: Sequence[tuple[Box, bool]], area: Box, lines: Sequence[float]) -> _Ranked:
    """Return the places of a label in the area, with what they cost by themselves, cheapest first.

    Marks are the boxes of all points, and whether they have a label.
    """
    named = [mark for mark, has_label in marks if has_label and mark != _square(label.point, _RADIUS)]
    every = [*named, *(mark for mark, has_label in marks if not has_label)]
    found = []
    for place in _places(label, area):
        box = place.box
        cost = 3 * place.gap + (_JOINED if place.line else 0)
        cost += _CROSSING * sum(box.top < y < box.bottom for y in lines)
        cost += replace(place, box=Box(box.left - _SPACE, box.top, box.right + _SPACE, box.bottom)).cost(every)
        cost += _DOUBT * sum(_is_doubtful(box, label.point, mark) for mark in named)
        found.append((cost, place))
    return sorted(found, key=lambda each: each[0])


def _is_doubtful(box: Box, own: tuple[float, float], mark: Box) -> bool:
    """Return whether a label in a box seems to belong to a mark, which is in its row, rather than to its own point."""
    x, y = (mark.left + mark.right) / 2, (mark.top + mark.bottom) / 2
    at_own = abs(x - own[0]) < _RADIUS and box.top <= own[1] <= box.bottom
    near = box.left - _FAR < x < box.right + _FAR and box.top < y < box.bottom
    return near and not at_own


def _square(center: tuple[float, float], half: float) -> Box:
    """Return a square with half of its width."""
    return Box(center[0] - half, center[1] - half, center[0] + half, center[1] + half)


def _nearest(point: tuple[float, float], box: Box) -> tuple[float, float]:
    """Return the place beside a box that is nearest to a point outside it."""
    return min(max(point[0], box.left - 4), box.right + 4), min(max(point[1], box.top), box.bottom)


def _line(point: tuple[float, float], box: Box) -> tuple[Box, ...]:
    """Return boxes along the line from a point to a box, without the one at the point."""
    end = _nearest(point, box)
    across, down = end[0] - point[0], end[1] - point[1]
    count = max(round(max(abs(across), abs(down)) / 8), 2)
    centers = [(point[0] + across * step / count, point[1] + down * step / count) for step in range(1, count + 1)]
    return tuple(_square(center, 4) for center in centers)


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


def _places(label: Label, area: Box) -> Iterator[_Place]:
    """Yield the places to try, the best first; those outside the area are left out."""
    width = text_width(label.text, SMALL)
    x, y = label.point
    for gap, (right, down) in product(_GAPS, _DIRECTIONS):
        beside = abs(right) == 1
        left = x - width * (1 - right) / 2 + (right * gap if beside else 0)
        center = y + down * (gap if beside else gap + _HEIGHT / 2)
        box = Box(left, center - _HEIGHT / 2, left + width, center + _HEIGHT / 2)
        if box.left >= area.left and box.right <= area.right and box.top >= area.top and box.bottom <= area.bottom:
            anchor: Anchor = "start" if right > 0 else "end" if right < 0 else "middle"
            yield _Place(gap, box, _line(label.point, box) if gap > _GAPS[0] else (), anchor)
