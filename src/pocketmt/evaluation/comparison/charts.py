"""Pictures of a comparison as inline SVG. They take their colors from the page, so that they suit light and dark."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

# A picture is as wide as a phone, so that its letters are as large there as on a wider screen.
WIDTH: Final = 340
_BAR: Final = 14
_LINE: Final = 18
_PARTS: Final = 6  # colors of stacked bars


@dataclass(frozen=True)
class Pair:
    """Two values with what is written beside their bars."""

    title: str
    values: tuple[float, float]
    texts: tuple[str, str]


def paired_bars(title: str, pairs: Sequence[Pair], names: tuple[str, str]) -> str:
    """Draw the two values of each pair as bars, by their own scale."""
    parts, top = [], 4
    for pair in pairs:
        largest = max(*pair.values, 1e-12)
        parts.append(_text(0, top + 11, pair.title, "strong"))
        top += _LINE
        for index, (value, text) in enumerate(zip(pair.values, pair.texts, strict=True)):
            width = 205 * value / largest
            parts.append(_bar(0, top, width, ("original", "small")[index], f"{names[index]}: {text}"))
            parts.append(_text(width + 6, top + 11, text))
            top += _LINE
        top += 8
    return _svg(title, parts, top)


def stacked_bars(title: str, bars: Mapping[str, Mapping[str, int]], unit: float, unit_name: str) -> str:
    """Draw a bar of parts for each name, and a legend of the parts."""
    largest = max(1, *(sum(each.values()) for each in bars.values()))
    names = list(dict.fromkeys(name for each in bars.values() for name in each))
    parts, top = [], 4
    for bar, sizes in bars.items():
        total = sum(sizes.values())
        parts.append(_text(0, top + 11, f"{bar}: {total / unit:,.2f} {unit_name}", "strong"))
        top += _LINE
        left = 0.0
        for name, size in sizes.items():
            width = (WIDTH - 4) * size / largest
            color = f"part{names.index(name) % _PARTS}"
            parts.append(_bar(left, top, width, color, f"{name}: {size / unit:,.3f} {unit_name}"))
            left += width
        top += _LINE + 8
    for index, name in enumerate(names):
        left, row = WIDTH / 2 * (index % 2), top + _LINE * (index // 2)
        parts.append(_bar(left, row, 12, f"part{index % _PARTS}", name))
        parts.append(_text(left + 17, row + 11, name))
    return _svg(title, parts, top + _LINE * -(-len(names) // 2))


def columns(title: str, values: Sequence[float], labels: Sequence[str], texts: Sequence[str], axis: str) -> str:
    """Draw values as columns with a text on each and a label below it; `axis` says what the labels are."""
    largest, height = max([*values, 1e-12]), 110
    step = WIDTH / max(1, len(values))
    parts = []
    for index, (value, label, text) in enumerate(zip(values, labels, texts, strict=True)):
        left, tall = index * step, height * value / largest
        parts.append(
            f'<rect class="small" x="{left + 3:.1f}" y="{18 + height - tall:.1f}" width="{step - 6:.1f}" '
            f'height="{tall:.1f}"><title>{escape(f"{label}: {text}")}</title></rect>'
        )
        parts.append(_text(left + step / 2, 14 + height - tall, text, "middle"))
        parts.append(_text(left + step / 2, 34 + height, label, "middle"))
    parts.append(_text(WIDTH / 2, 54 + height, axis, "middle"))
    return _svg(title, parts, 60 + height)


def _bar(left: float, top: float, width: float, color: str, title: str) -> str:
    return (
        f'<rect class="{color}" x="{left:.1f}" y="{top}" width="{max(width, 0.5):.1f}" height="{_BAR}">'
        f"<title>{escape(title)}</title></rect>"
    )


def _text(left: float, top: float, text: str, style: str = "") -> str:
    return f'<text class="{style}" x="{left:.1f}" y="{top:.1f}">{escape(text)}</text>'


def _svg(title: str, parts: Sequence[str], height: float) -> str:
    return (
        f'<figure><figcaption>{escape(title)}</figcaption><svg role="img" aria-label="{escape(title)}" '
        f'viewBox="0 0 {WIDTH} {height:.0f}">{"".join(parts)}</svg></figure>'
    )
