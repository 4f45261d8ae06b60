"""Every built-in recipe is valid and gives a file on which the engine and PyTorch agree."""

from pathlib import Path

import pytest

from pocketmt.compression.planning import make_plan
from pocketmt.errors import ConfigurationError
from pocketmt.recipes.catalogue import LIBRARY, find_recipe, recipe_names
from tests.compression.tiny_run import write_tiny_run
from tests.recipes.parity import assert_packed_and_run_as_in_pytorch
from tests.small_network import architecture


@pytest.fixture(scope="module")
def tiny_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_run(tmp_path_factory.mktemp("tiny"))


def test_fifteen_recipes_are_built_in() -> None:
    assert recipe_names() == sorted(file.stem for file in LIBRARY.iterdir())
    assert len(recipe_names()) == 15
    assert {"8bit", "log4-distilled", "mixed-2.6-bits-distilled", "8bit-pruned-heads"} < set(recipe_names())


@pytest.mark.parametrize("name", recipe_names())
def test_a_built_in_recipe_is_packed_and_run_as_in_pytorch(name: str, tiny_run: Path, tmp_path: Path) -> None:
    recipe = find_recipe(name)
    assert recipe.name == name
    assert recipe.description
    assert_packed_and_run_as_in_pytorch(recipe, tiny_run, tmp_path)


@pytest.mark.parametrize("name", recipe_names())
def test_a_built_in_recipe_fits_every_transformer(name: str) -> None:
    make_plan(find_recipe(name), architecture("pre", attention_bias=True))


@pytest.mark.parametrize(
    ("name", "message"),
    [("9bit", "neither a file nor a built-in recipe"), ("missing.toml", r"missing\.toml: cannot be read")],
)
def test_unknown_recipes_are_refused(name: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        find_recipe(name)
