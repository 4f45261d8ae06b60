"""Panels of bars with their names and numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from benchmarks.pictures.svg import SMALL, WIDTH, Box, Drawing

ROW: Final = 31.0  # from bar to bar
GAP: Final = 14.0  # between groups of bars
TITLE: Final = 40.0  # height of a panel's title
NUMBER: Final = 112.0  # width of the number after the longest bar


@dataclass(frozen=True)
class Bar:
    """A bar with the text before it and the text after it."""

    name: str
    kind: str
    value: float  # 0 or more
    number: str
    bold: bool = False


@dataclass(frozen=True)
class Panel:
    """Groups of bars under a title."""

    title: str
    groups: Sequence[Sequence[Bar]]

    @property
    def height(self) -> float:
        """Height in the drawing."""
        return TITLE + ROW * sum(map(len, self.groups)) + GAP * len(self.groups)


def draw_panels(lines: tuple[str, str], panels: Sequence[Panel], name_width: float) -> str:
    """Draw panels in two columns under a title and a note; names of bars have the given width."""
    tops = [84.0]
    for first in range(0, len(panels), 2):
        tops.append(tops[-1] + max(panel.height for panel in panels[first : first + 2]) + 10)
    drawing = Drawing(tops[-1], lines[0], "; ".join(panel.title for panel in panels))
    drawing.text((20, 36), lines[0], bold=True)
    drawing.text((20, 64), lines[1], "muted", size=SMALL)
    for number, panel in enumerate(panels):
        left = 20 + (number % 2) * (WIDTH / 2 - 6)
        draw_bars(drawing, Box(left, tops[number // 2], left + WIDTH / 2 - 32, 0), panel, name_width)
    return drawing.svg()


def draw_bars(drawing: Drawing, area: Box, panel: Panel, name_width: float) -> None:
    """Draw a panel from the top of an area to as far as it needs."""
    drawing.text((area.left, area.top + 24), panel.title, size=SMALL, bold=True)
    longest = max(bar.value for group in panel.groups for bar in group)
    start, room = area.left + name_width, area.right - area.left - name_width - NUMBER
    top = area.top + TITLE
    for group in panel.groups:
        for bar in group:
            end = start + room * bar.value / longest
            drawing.bar(Box(start, top + 4, end, top + ROW - 4), bar.kind)
            drawing.text((start - 8, top + 22), bar.name, anchor="end", size=SMALL, bold=bar.bold)
            drawing.text((end + 6, top + 22), bar.number, size=SMALL, bold=bar.bold)
            top += ROW
        top += GAP
