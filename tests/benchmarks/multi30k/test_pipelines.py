"""The configurations and recipes of benchmarks/multi30k/pipelines are valid."""

import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.data import ROOT
from pocketmt.compression.planning import make_plan
from pocketmt.models.presets import preset
from pocketmt.recipes.schema import read_recipe
from pocketmt.training.configuration import read_configuration

PIPELINES = ROOT / "benchmarks" / "multi30k" / "pipelines"
EVERYDAY = ("everyday-authentic", "everyday-distilled", "everyday-plain")


@pytest.mark.parametrize("path", sorted(PIPELINES.glob("*.toml")), ids=lambda path: path.stem)
def test_each_is_a_recipe_or_a_configuration(path: Path) -> None:
    if "stages" in tomllib.loads(path.read_text(encoding="utf-8")):
        assert read_recipe(path).name == path.stem
    else:
        corpus = "tatoeba" if path.stem.startswith("everyday") else "multi30k"
        assert read_configuration(path).data.validation_source.endswith(f"/{corpus}/val.en")


@pytest.mark.parametrize("names", [("nano-authentic", "nano-distilled"), EVERYDAY])
def test_students_differ_only_in_their_text(names: Sequence[str]) -> None:
    first, *others = (read_configuration(PIPELINES / f"{name}.toml") for name in names)
    for other in others:
        assert (other.model, other.training) == (first.model, first.training)
        assert other.data.training_files != first.data.training_files
        assert other.data.vocabulary == first.data.vocabulary


def test_the_recipe_suits_its_model() -> None:
    (stage,) = make_plan(read_recipe(PIPELINES / "tiny-2-bits.toml"), preset("tiny", 6000, "pre")).stages
    shapes = preset("tiny", 6000, "pre").parameter_shapes()
    assert {name for name, sizes in shapes.items() if len(sizes) == 2} <= set(stage.matrices)
