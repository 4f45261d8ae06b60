"""Every recipe that comes along is valid, and runs from a trained model to a file with the schemes that it names.

What the engine computes from that file is what PyTorch does from the same codes.
"""

from pathlib import Path

import numpy as np
import pytest

from pocketmt.errors import ConfigurationError
from pocketmt.model_file import ModelFile, open_model
from pocketmt.model_file.products import Products
from pocketmt.recipes.description.catalogue import LIBRARY, find_recipe, recipe_names
from pocketmt.recipes.description.plan import make_plan
from pocketmt.recipes.description.schema import limit_updates
from pocketmt.recipes.reference.network import load_reference
from pocketmt.recipes.run_folder import compress_run, score_run
from pocketmt.recipes.trained_model import read_trained_model
from pocketmt.text.vocabulary import Vocabulary
from tests.engine.test_schemes import relative_errors
from tests.recipes.conftest import architecture
from tests.recipes.tiny_run import write_tiny_run


@pytest.fixture(scope="module")
def tiny_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_run(tmp_path_factory.mktemp("tiny"))


def test_the_library_is_there() -> None:
    assert {"fp32-continued", "uniform8", "l-log4-error-feedback", "b4-mixed-2.6-bits"} < set(recipe_names())
    assert recipe_names() == sorted(file.stem for file in LIBRARY.iterdir())


# They quantize attention scores and more, which no file holds: there is nothing that the engine could run.
SCORED_ALONE = ["q-naive-8bit"]


@pytest.mark.parametrize("name", SCORED_ALONE)
def test_a_recipe_whose_outcome_no_file_holds_runs_and_is_scored(name: str, tiny_run: Path, tmp_path: Path) -> None:
    recipe = find_recipe(name)
    assert recipe.name == name
    assert recipe.description
    scores = score_run(tiny_run, limit_updates(recipe, 2), tmp_path / "work")
    assert scores["loss"] > 0
    with pytest.raises(ConfigurationError, match=f"the recipe {name}: .* or give --folder"):
        compress_run(tiny_run, recipe, tmp_path / "none", tmp_path / "model.pocketmt")
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("name", sorted({*recipe_names()} - {*SCORED_ALONE}))
def test_a_recipe_of_the_library_is_packed_and_run_as_in_pytorch(name: str, tiny_run: Path, tmp_path: Path) -> None:
    recipe = find_recipe(name)
    assert recipe.name == name
    assert recipe.description
    size = compress_run(tiny_run, limit_updates(recipe, 2), tmp_path / "work", tmp_path / "model.pocketmt")
    plan = make_plan(recipe, read_trained_model(tiny_run).architecture)[-1]
    with open_model(tmp_path / "model.pocketmt") as file:
        assert size == (tmp_path / "model.pocketmt").stat().st_size
        assert set(file.matrices) == set(plan.matrices)
        for matrix, division in plan.matrices.items():
            assert {group.bits for group in file.matrices[matrix]} == {scheme.bits for scheme in division.schemes}
        assert (file.activations is None) == (plan.activations is None)
        manifest = file.manifest
        assert isinstance(manifest["recipe"], dict) and isinstance(manifest["training"], dict)
        assert manifest["recipe"]["name"] == name
        assert "bleu" in manifest["training"]["compression"]
    assert_parity(tmp_path / "model.pocketmt", tiny_run.parent)


def largest_error(file: ModelFile) -> float:
    """What tests/engine asks of a file of this kind, and says why; in root mean squares of the logits."""
    if file.activations is not None:
        return 0.0  # test_fully_quantized.test_logits_are_equal
    if isinstance(file.products, Products):
        return 0.5  # test_products.test_parity_and_sameness
    return 10 / 127 if file.matrices else 1e-3  # test_parity.test_quantized_logits and test_fp32_logits


def assert_parity(path: Path, texts: Path) -> None:
    """The engine gives the validation text's target sides the logits that PyTorch does from the same file."""
    with open_model(path) as file:
        vocabulary, largest = Vocabulary.from_bytes(file.vocabulary()), largest_error(file)
    sources, targets = (
        [vocabulary.encode(line) for line in (texts / f"dev.{side}").read_text().splitlines()] for side in ("en", "up")
    )
    errors = relative_errors(path, load_reference(path), zip(sources, targets, strict=True))
    assert np.median(errors) < 1e-5
    assert np.max(errors) <= largest


@pytest.mark.parametrize("name", recipe_names())
def test_a_recipe_of_the_library_fits_every_transformer(name: str) -> None:
    make_plan(find_recipe(name), architecture("pre", attention_bias=True))


@pytest.mark.parametrize(
    ("name", "message"),
    [("uniform88", "neither a file nor a recipe that comes along"), ("missing.toml", r"missing\.toml: cannot be read")],
)
def test_what_is_no_recipe(name: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        find_recipe(name)
