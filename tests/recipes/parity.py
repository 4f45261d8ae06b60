"""Checks that the file of a recipe has the schemes of the recipe, and that the engine and PyTorch agree on it."""

from pathlib import Path

import numpy as np

from pocketmt.compression.planning import make_plan
from pocketmt.compression.run import CompressionTask, compress_run
from pocketmt.model_file import ModelFile, open_model
from pocketmt.model_file.activations.activation_quantization import StoredLogarithmicActivations
from pocketmt.packing.reference.network import load_reference
from pocketmt.recipes.matrices import matching
from pocketmt.recipes.schema import Recipe, limit_updates
from pocketmt.text.vocabulary import Vocabulary
from pocketmt.training.trained_model import read_trained_model
from tests.engine.test_schemes import relative_errors


def assert_packed_and_run_as_in_pytorch(recipe: Recipe, run: Path, folder: Path) -> None:
    """Run a recipe for two updates; compare the file with the plan, and logits of the engine with those of PyTorch."""
    path = folder / "model.pocketmt"
    size = compress_run(CompressionTask(run=run, folder=folder / "work"), limit_updates(recipe, 2), path)
    model = read_trained_model(run)
    stage = make_plan(recipe, model.architecture).stages[-1]
    rows = {name: range(len(model.weights[name])) for name in matching(list(model.weights), "embedding")}
    groups = stage.row_groups(model.weights, rows)
    with open_model(path) as file:
        assert size == path.stat().st_size
        assert set(file.matrices) == set(groups)
        for matrix, each in groups.items():
            assert [group.form.bits for group in file.matrices[matrix]] == [group.scheme.bits for group in each]
        assert (file.activation_ranges is None) == (stage.activations is None)
        manifest = file.manifest
        assert isinstance(manifest["recipe"], dict) and isinstance(manifest["training"], dict)
        assert manifest["recipe"]["name"] == recipe.name
        assert "bleu" in manifest["training"]["compression"]
    assert_parity(path, run.parent)


def assert_parity(path: Path, texts: Path) -> None:
    """Compare logits of the engine and of PyTorch for the references of the validation text."""
    with open_model(path) as file:
        vocabulary, largest = Vocabulary(file.vocabulary()), _largest_error(file)
    sources, targets = (
        [vocabulary.encode(line) for line in (texts / f"dev.{side}").read_text().splitlines()] for side in ("en", "up")
    )
    errors = relative_errors(path, load_reference(path), zip(sources, targets, strict=True))
    assert np.median(errors) < 1e-5
    assert np.max(errors) <= largest


def _largest_error(file: ModelFile) -> float:
    """Return the bound of the difference, in root mean squares of logits; tests/engine gives the reasons."""
    if file.activation_ranges is not None:
        return 0.0  # test_fully_quantized.test_logits_are_equal
    if isinstance(file.activation_quantization, StoredLogarithmicActivations):
        return 0.5  # test_products.test_parity_and_sameness
    return 10 / 127 if file.matrices else 1e-3  # test_parity.test_quantized_logits and test_fp32_logits
