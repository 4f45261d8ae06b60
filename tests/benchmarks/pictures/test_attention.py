"""The picture of attention weights: a panel for each model, a cell for each weight that is not tiny."""

import re
from typing import Any
from xml.etree import ElementTree

import pytest

from benchmarks.pictures.attention import HEADINGS, draw_attention_weights
from pocketmt.errors import ConfigurationError


def model(name: str, difference: float, weights: list[list[float]]) -> dict[str, Any]:
    return {"model": name, "difference": difference, "weights": weights}


def record(*names: str) -> dict[str, Any]:
    weights = [[0.5, 0.5, 0.0], [0.001, 0.0, 0.8]]
    models = [model(name, 0.1 * number, weights) for number, name in enumerate(names)]
    return {"kind": "cross", "queries": ["▁Ein", "</s>"], "keys": ["▁A", "s", "</s>"], "models": models}


def test_a_panel_for_each_model_has_its_weights_as_opacity() -> None:
    picture = draw_attention_weights(record("run/recipes/control/300-1.pocketmt", "cheong/codebook-4bit.pocketmt"))
    ElementTree.fromstring(picture)
    assert re.findall(r'fill-opacity="([0-9.]+)"', picture) == ["0.62", "0.62", "1.00"] * 2  # of the strongest, 0.8
    texts = re.findall(r">([^<>\n]+)</text>", picture)
    assert texts == [
        HEADINGS["cross"],
        *("full precision", "Ein", "&lt;/s&gt;", "A", "s", "&lt;/s&gt;"),
        *("4 bits, k-means", "distance 0.10", "A", "s", "&lt;/s&gt;"),
    ]


def test_a_second_row_of_panels_names_its_rows_again() -> None:
    picture = draw_attention_weights(record(*["codebook-4bit.pocketmt"] * 4))
    assert picture.count(">Ein</text>") == 2
    assert picture.count(">A</text>") == 2  # below the lowest panel of each column


def test_an_unknown_model_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"without a title: other\.pocketmt"):
        draw_attention_weights(record("other.pocketmt"))
