"""Recipes of the benchmarks: each is valid, and runs from a trained model to a file that the engine runs as PyTorch."""

import json
from pathlib import Path

import pytest

from benchmarks.recipe_files import RECIPES, RENAMED, find_recipe, read_renamed_record, recipe_names
from pocketmt.compression.planning import make_plan
from pocketmt.compression.run import CompressionTask, compress_run, score_run
from pocketmt.errors import ConfigurationError
from pocketmt.recipes import catalogue
from pocketmt.recipes.schema import limit_updates
from tests.compression.tiny_run import write_tiny_run
from tests.recipes.parity import assert_packed_and_run_as_in_pytorch
from tests.small_network import architecture

NAMES = sorted({*recipe_names()} - {*catalogue.recipe_names()})
# They quantize attention scores and more, or the products of attention, which no model file can hold.
SCORED_ONLY = ("prato/8bit-naive", "aji/log4-every-dot-product", "aji/log4-every-dot-product-scale-4")
# With r = 8 the first cluster of the small test vocabulary is empty.
EMPTY_CLUSTER = ("chung/embedding-1.1-bits", "chung/mixed-2.1-bits")


@pytest.fixture(scope="module")
def tiny_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_run(tmp_path_factory.mktemp("tiny"))


def test_built_in_recipes_and_those_of_the_folder_have_names() -> None:
    assert len(NAMES) == len(list(RECIPES.rglob("*.toml")))
    assert {"fp32-continued", "aji/log4-error-feedback", "aji/log4-biases/after-training"} < set(NAMES)
    assert find_recipe("8bit") == catalogue.find_recipe("8bit")
    with pytest.raises(ConfigurationError, match="neither a file nor a built-in recipe"):
        find_recipe("aji/log5")


@pytest.mark.parametrize("name", NAMES)
def test_a_recipe_has_its_name_and_fits_every_transformer(name: str) -> None:
    recipe = find_recipe(name)
    assert recipe.name == name
    assert recipe.description
    make_plan(recipe, architecture("pre", attention_bias=True))


@pytest.mark.parametrize("name", [name for name in NAMES if name not in (*SCORED_ONLY, *EMPTY_CLUSTER)])
def test_a_recipe_is_packed_and_run_as_in_pytorch(name: str, tiny_run: Path, tmp_path: Path) -> None:
    assert_packed_and_run_as_in_pytorch(find_recipe(name), tiny_run, tmp_path)


@pytest.mark.parametrize("name", SCORED_ONLY)
def test_a_recipe_whose_result_no_file_can_hold_runs_and_is_scored(name: str, tiny_run: Path, tmp_path: Path) -> None:
    recipe = find_recipe(name)
    scores = score_run(CompressionTask(run=tiny_run, folder=tmp_path / "work"), limit_updates(recipe, 2))
    assert scores["loss"] > 0
    with pytest.raises(ConfigurationError, match=f"the recipe {name}: .* or give --folder"):
        compress_run(CompressionTask(run=tiny_run, folder=tmp_path / "none"), recipe, tmp_path / "model.pocketmt")
    assert not (tmp_path / "none").exists()


def test_records_are_read_with_the_names_of_today(tmp_path: Path) -> None:
    record = {
        "rows": [{"recipe": "uniform8", "weights": "uniform8", "against": {"baseline": "q-8bit"}}],
        "tables": {"q2": [{"form": "q-naive-8bit"}]},
    }
    (tmp_path / "record.json").write_text(json.dumps(record))
    assert read_renamed_record(tmp_path / "record.json") == {
        "rows": [{"recipe": "8bit", "weights": "uniform8", "against": {"baseline": "prato/8bit"}}],
        "tables": {"prato-table-2": [{"form": "prato/8bit-naive"}]},
    }


def test_a_new_name_of_a_recipe_is_not_an_old_name() -> None:
    renamed = json.loads(RENAMED.read_text(encoding="utf-8"))
    assert not {*renamed} & {*recipe_names()}
