"""The layout of the pictures of the documentation: no text on other text, on a point, a bar or a line, or cut off.

Widths of texts are those of a wide font, so that a reader's font needs no more room.
"""

import re
import xml.etree.ElementTree
from itertools import combinations, pairwise

import pytest

from benchmarks.data import ROOT
from benchmarks.pictures.__main__ import PICTURES
from benchmarks.pictures.svg import FONT_SIZE, WIDTH, Box, text_width

Element = xml.etree.ElementTree.Element


def elements(name: str, tag: str) -> list[Element]:
    text = (ROOT / "docs" / "pictures" / name).read_text(encoding="utf-8")
    return list(xml.etree.ElementTree.fromstring(text).iter(f"{{http://www.w3.org/2000/svg}}{tag}"))


def numbers(element: Element, *names: str) -> list[float]:
    return [float(element.attrib[name]) for name in names]


def text_box(element: Element) -> Box:
    """Return the box of a text from the top of its capitals to the bottom of its descenders."""
    x, base = numbers(element, "x", "y")
    size = float(element.get("font-size", FONT_SIZE))
    width = text_width(element.text or "", size, "font-weight" in element.attrib)
    left = x - {"start": 0, "middle": width / 2, "end": width}[element.get("text-anchor", "start")]
    if "rotate(-90" in element.get("transform", ""):
        return Box(x - 0.73 * size, base + x - left - width, x + 0.22 * size, base + x - left)
    return Box(left, base - 0.73 * size, left + width, base + 0.22 * size)


def texts(name: str) -> dict[str, Box]:
    """Return the boxes of all texts; equal texts differ by their number."""
    shown = [element for element in elements(name, "text") if element.text]
    return {f"{number}: {element.text}": text_box(element) for number, element in enumerate(shown)}


def points(name: str) -> list[Box]:
    found = [numbers(element, "cx", "cy", "r") for element in elements(name, "circle")]
    return [Box(x - radius, y - radius, x + radius, y + radius) for x, y, radius in found]


def bars(name: str) -> list[Box]:
    """Return the bars, without the background."""
    found = [numbers(each, "x", "y", "width", "height") for each in elements(name, "rect") if "x" in each.attrib]
    return [Box(x, y, x + width, y + height) for x, y, width, height in found]


def curve_parts(name: str) -> list[Box]:
    """Return boxes along the lines that have a colour; those of the axes and to labels may pass a text."""
    parts = []
    for element in elements(name, "polyline"):
        if element.attrib["class"].startswith("line-"):
            corners = [tuple(map(float, corner.split(","))) for corner in element.attrib["points"].split(" ")]
            for (x, y), (next_x, next_y) in pairwise(corners):
                shares = [step / 200 for step in range(201)]
                places = [(x + share * (next_x - x), y + share * (next_y - y)) for share in shares]
                parts += [Box(a - 1, b - 1, a + 1, b + 1) for a, b in places]
    return parts


def covered(name: str, boxes: list[Box]) -> list[str]:
    """Return the texts that cover one of the boxes."""
    return [text for text, box in texts(name).items() if any(box.overlap(other) for other in boxes)]


@pytest.mark.parametrize("name", PICTURES)
def test_no_text_overlaps_another(name: str) -> None:
    pairs = combinations(texts(name).items(), 2)
    assert not [(one, other) for (one, box), (other, other_box) in pairs if box.overlap(other_box)]


@pytest.mark.parametrize("name", PICTURES)
def test_no_text_covers_a_point_a_bar_or_a_curve(name: str) -> None:
    assert not covered(name, points(name))
    assert not covered(name, bars(name))
    assert not covered(name, curve_parts(name))


@pytest.mark.parametrize("name", PICTURES)
def test_nothing_is_cut_off_by_an_edge(name: str) -> None:
    text = (ROOT / "docs" / "pictures" / name).read_text(encoding="utf-8")
    height = float(re.findall(r'viewBox="0 0 \d+ (\d+)"', text)[0])
    boxes = {**texts(name), **{f"mark {number}": box for number, box in enumerate([*points(name), *bars(name)])}}
    assert not [
        each
        for each, box in boxes.items()
        if min(box.left, box.top) < 4 or box.right > WIDTH - 4 or box.bottom > height - 4
    ]


@pytest.mark.parametrize("name", PICTURES)
def test_texts_are_legible_at_half_width(name: str) -> None:
    assert all(float(element.get("font-size", FONT_SIZE)) >= 22 for element in elements(name, "text"))
