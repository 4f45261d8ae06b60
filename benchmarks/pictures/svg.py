"""Drawings as SVG: text stays text, and colours follow the reader's light or dark scheme.

A drawing has its background, so that it is legible on any page. Equal drawings give equal files.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Final, Literal

FONT_SIZE: Final = 24.0  # for a drawing of WIDTH; legible if it is shown at half its width
SMALL: Final = 22.0
WIDTH: Final = 960.0
MARGIN: Final = 20.0
FONT: Final = "-apple-system, 'Segoe UI', 'Liberation Sans', Arial, sans-serif"

# Class -> the property it colours, its light and its dark colour.
COLORS: Final = {
    "background": ("fill", "#ffffff", "#0d1117"),
    "halo": ("stroke", "#ffffff", "#0d1117"),
    "text": ("fill", "#1f2328", "#e6edf3"),
    "muted": ("fill", "#59636e", "#9198a1"),
    "grid": ("stroke", "#d1d9e0", "#2f353d"),
    "rule": ("stroke", "#59636e", "#9198a1"),
    "other": ("fill", "#b6bfc9", "#4b535d"),
    "peer-1": ("fill", "#a2abb5", "#6b747e"),
    "peer-2": ("fill", "#c8cfd6", "#495059"),
    "ours-32": ("fill", "#9fc9f5", "#2f5f96"),
    "ours-8": ("fill", "#5aa2ea", "#3f85d0"),
    "ours-4": ("fill", "#1f6fc4", "#62aaf5"),
    "ours-2": ("fill", "#0b4684", "#a9d2ff"),
    **{
        f"{kind}-{number}": (property, light, dark)
        for number, (light, dark) in enumerate(
            (
                ("#0b62c4", "#62aaf5"),
                ("#b54708", "#f0a053"),
                ("#1a7f37", "#4cc764"),
                ("#7c3fd0", "#c09bff"),
                ("#c4264a", "#ff8a93"),
                ("#0f7b83", "#43cdd6"),
            ),
            start=1,
        )
        for kind, property in (("line", "stroke"), ("point", "fill"), ("name", "fill"))
    },
}
# Relative to the font size, as in DejaVu Sans: the widest of the fonts that readers commonly have.
_WIDTHS: Final = {
    **dict.fromkeys("'ijlIJ ,.", 0.32),
    **dict.fromkeys("/:;|f-", 0.36),
    **dict.fromkeys("()[]tr!", 0.41),
    **dict.fromkeys("sz?*", 0.53),
    **dict.fromkeys("cLFkvxyP", 0.6),
    **dict.fromkeys("AVXZBRCUNHDGOQ", 0.76),
    **dict.fromkeys("wM×+−=", 0.85),
    **dict.fromkeys("mW%—", 1.0),
}
_OTHER_WIDTH: Final = 0.64
_BOLD_WIDTH: Final = 1.13  # relative to the same text that is not bold

Anchor = Literal["start", "middle", "end"]


@dataclass(frozen=True)
class Box:
    """A rectangle in the drawing, in its units."""

    left: float
    top: float
    right: float
    bottom: float

    def overlap(self, other: "Box") -> float:
        """Return the area that both cover."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(width, 0.0) * max(height, 0.0)


def text_width(text: str, size: float = FONT_SIZE, bold: bool = False) -> float:
    """Return the approximate width of a text in a wide font; most readers' fonts are narrower."""
    return size * sum(_WIDTHS.get(character, _OTHER_WIDTH) for character in text) * (_BOLD_WIDTH if bold else 1)


class Drawing:
    """An SVG under construction; its origin is the upper left corner."""

    def __init__(self, height: float, title: str, description: str) -> None:
        """Start a drawing of `WIDTH`; title and description are for readers who do not see it."""
        self.height = height
        self._title, self._description = title, description
        self._parts: list[str] = []

    def text(
        self,
        place: tuple[float, float],
        text: str,
        kind: str = "text",
        anchor: Anchor = "start",
        size: float = FONT_SIZE,
        bold: bool = False,
        halo: bool = False,
        upwards: bool = False,
    ) -> None:
        """Write a line of text; `place` is on its base line. A halo separates it from lines that it crosses."""
        x, y = place
        style = f' text-anchor="{anchor}"' if anchor != "start" else ""
        style += f' font-size="{size:g}"' if size != FONT_SIZE else ""
        style += ' font-weight="600"' if bold else ""
        style += f' transform="rotate(-90 {x:.1f} {y:.1f})"' if upwards else ""
        classes = f"{kind} halo" if halo else kind
        self._parts.append(f'<text x="{x:.1f}" y="{y:.1f}" class="{classes}"{style}>{escape(text, quote=False)}</text>')

    def line(self, start: tuple[float, float], end: tuple[float, float], kind: str, dashed: bool = False) -> None:
        """Draw a straight line."""
        self.path([start, end], kind, 1.5, dashed)

    def path(self, points: Sequence[tuple[float, float]], kind: str, width: float = 3.0, dashed: bool = False) -> None:
        """Draw a line through points."""
        steps = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dashes = ' stroke-dasharray="6 5"' if dashed else ""
        self._parts.append(f'<polyline points="{steps}" fill="none" class="{kind}" stroke-width="{width:g}"{dashes}/>')

    def bar(self, box: Box, kind: str) -> None:
        """Draw a filled rectangle."""
        width, height = box.right - box.left, box.bottom - box.top
        size = f'width="{width:.1f}" height="{height:.1f}" rx="2"'
        self._parts.append(f'<rect x="{box.left:.1f}" y="{box.top:.1f}" {size} class="{kind}"/>')

    def cell(self, box: Box, kind: str, strength: float) -> None:
        """Draw a filled square of a table of weights; `strength` is the opacity, 0 to 1."""
        size = f'width="{box.right - box.left:.1f}" height="{box.bottom - box.top:.1f}"'
        place = f'x="{box.left:.1f}" y="{box.top:.1f}"'
        self._parts.append(f'<rect {place} {size} class="{kind}" fill-opacity="{strength:.2f}"/>')

    def point(self, place: tuple[float, float], kind: str, radius: float = 6.0) -> None:
        """Draw a filled circle."""
        self._parts.append(f'<circle cx="{place[0]:.1f}" cy="{place[1]:.1f}" r="{radius:g}" class="{kind}"/>')

    def svg(self) -> str:
        """Return the text of the file."""
        size = f'width="{WIDTH:g}" height="{self.height:g}" viewBox="0 0 {WIDTH:g} {self.height:g}"'
        font = f'font-family="{FONT}" font-size="{FONT_SIZE:g}"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" {font}>'
        background = f'<rect width="{WIDTH:g}" height="{self.height:g}" rx="8" class="background"/>'
        body = "\n".join(self._parts)
        used = [name for name in COLORS if re.search(rf'class="[^"]*\b{name}\b', body) or name == "background"]
        light = "".join(f".{name}{{{COLORS[name][0]}:{COLORS[name][1]}}}" for name in used)
        dark = "".join(f".{name}{{{COLORS[name][0]}:{COLORS[name][2]}}}" for name in used)
        halo = ".halo{stroke-width:5px;stroke-linejoin:round;paint-order:stroke}"
        style = f"<style>{halo}{light}@media(prefers-color-scheme:dark){{{dark}}}</style>"
        words = f"<title>{escape(self._title)}</title>\n<desc>{escape(self._description)}</desc>"
        return f"{head}\n{words}\n{style}\n{background}\n{body}\n</svg>\n"
