"""Panels of bars with their names and numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from benchmarks.pictures.svg import MARGIN, SMALL, WIDTH, Box, Drawing, text_width

ROW: Final = 33.0  # from bar to bar
GAP: Final = 14.0  # between groups of bars
TITLE: Final = 44.0  # height of a panel's title
NOTE: Final = 29.0  # from line to line of the notes
GUTTER: Final = 28.0  # between columns


@dataclass(frozen=True)
class Bar:
    """A bar with the text before it and the text after it."""

    name: str
    kind: str
    value: float  # 0 or more
    number: str
    bold: bool = False

    @property
    def name_width(self) -> float:
        """Width of the text before the bar, with the space between them."""
        return text_width(self.name, SMALL, self.bold) + 8

    @property
    def number_width(self) -> float:
        """Width of the text after the bar, with the space between them."""
        return text_width(self.number, SMALL, self.bold) + 6


@dataclass(frozen=True)
class Panel:
    """Groups of bars under a title."""

    title: str
    groups: Sequence[Sequence[Bar]]

    @property
    def bars(self) -> list[Bar]:
        """The bars of all groups."""
        return [bar for group in self.groups for bar in group]

    @property
    def height(self) -> float:
        """Height in the drawing."""
        return TITLE + ROW * len(self.bars) + GAP * len(self.groups)


def draw_panels(title: str, notes: Sequence[str], panels: Sequence[Panel]) -> str:
    """Draw panels in two columns under a title and lines of notes."""
    tops = [58 + NOTE * len(notes)]
    for first in range(0, len(panels), 2):
        tops.append(tops[-1] + max(panel.height for panel in panels[first : first + 2]) + 10)
    drawing = Drawing(tops[-1], title, "; ".join(panel.title for panel in panels))
    drawing.text((MARGIN, 38), title, bold=True)
    for number, note in enumerate(notes):
        drawing.text((MARGIN, 68 + NOTE * number), note, "muted", size=SMALL)
    name_width = max(bar.name_width for panel in panels for bar in panel.bars)
    column = (WIDTH - 2 * MARGIN - GUTTER) / 2
    for number, panel in enumerate(panels):
        left = MARGIN + number % 2 * (column + GUTTER)
        draw_bars(drawing, Box(left, tops[number // 2], left + column, 0), panel, name_width)
    return drawing.svg()


def draw_bars(drawing: Drawing, area: Box, panel: Panel, name_width: float) -> None:
    """Draw a panel from the top of an area to as far as it needs; the bars start after a width for their names."""
    drawing.text((area.left, area.top + 26), panel.title, size=SMALL, bold=True)
    start = area.left + name_width
    # The longest bars that leave room for their numbers.
    scale = min((area.right - start - bar.number_width) / bar.value for bar in panel.bars if bar.value > 0)
    top = area.top + TITLE
    for group in panel.groups:
        for bar in group:
            end = start + scale * bar.value
            drawing.bar(Box(start, top + 4, end, top + ROW - 4), bar.kind)
            drawing.text((start - 8, top + 24), bar.name, anchor="end", size=SMALL, bold=bar.bold)
            drawing.text((end + 6, top + 24), bar.number, size=SMALL, bold=bar.bold)
            top += ROW
        top += GAP
