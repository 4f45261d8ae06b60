"""A deep LSTM made small by recipes, packed, and loaded as its reference [L7]."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch

from pocketmt.errors import ConfigurationError
from pocketmt.model_file import open_model
from pocketmt.recipes.choosing.allocation import choose_recipe
from pocketmt.recipes.choosing.sensitivity import measure_sensitivity
from pocketmt.recipes.description.matrices import kinds_of, matrix_names
from pocketmt.recipes.description.plan import make_plan
from pocketmt.recipes.description.schema import Recipe
from pocketmt.recipes.packing.model_file import About, pack
from pocketmt.recipes.reference.network import load_reference
from pocketmt.recipes.retraining.compression import compress
from pocketmt.recipes.retraining.outcome import decoded_weights
from pocketmt.recipes.run_folder import compress_run
from pocketmt.recipes.trained_model import TrainedModel, read_trained_model
from pocketmt.training.data import load_corpus
from tests.recipes.activations.test_products import loss_of
from tests.recipes.tiny_run import lstm, write_tiny_run

ABOUT = About(source_language="en", target_language="up")
RETRAINING = {"method": "error_feedback", "updates": 4, "learning_rate": {"rate": 3e-3}}
STRAIGHT_THROUGH = {**RETRAINING, "method": "straight_through"}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> TrainedModel:
    return read_trained_model(write_tiny_run(tmp_path_factory.mktemp("tiny"), network=lstm))


def recipe(*stages: dict[str, Any]) -> Recipe:
    return msgspec.convert({"name": "a test", "stages": list(stages)}, Recipe)


def everything(scheme: str, bits: int) -> dict[str, Any]:
    return {"matrices": ["*"], "scheme": scheme, "bits": bits}


RECIPES: dict[str, tuple[dict[str, Any], ...]] = {
    "log 4 bit": ({"quantize": [everything("logarithmic", 4)]},),
    "log 4 bit, error feedback": ({"quantize": [everything("logarithmic", 4)], "retraining": RETRAINING},),
    "binary 3 bit": ({"quantize": [everything("binary", 3)], "retraining": STRAIGHT_THROUGH},),
    "by parts": (
        {"quantize": [{"matrices": ["embedding"], "scheme": "binary", "bits": 3, "frequency_ratio": 2}]},
        {
            "quantize": [
                {"matrices": ["encoder.recurrent", "decoder.recurrent"], "scheme": "logarithmic", "bits": 4},
                {"matrices": ["decoder.cross_attention", "decoder.readout"], "scheme": "uniform", "bits": 8},
            ],
            "retraining": STRAIGHT_THROUGH,
        },
    ),
    "compensated": ({"quantize": [everything("affine", 4)], "retraining": {"method": "error_compensation"}},),
}


@pytest.mark.parametrize("stages", RECIPES.values(), ids=RECIPES.keys())
def test_what_a_recipe_makes_is_packed_and_computed(
    model: TrainedModel, tmp_path: Path, stages: tuple[dict[str, Any], ...]
) -> None:
    outcome, groups = compress(model, recipe(*stages), tmp_path / "work")
    file = tmp_path / "model.pocketmt"
    vocabulary = model.vocabulary_file.read_bytes()
    pack(file, outcome.weights, model.architecture, vocabulary, {**groups}, ABOUT, outcome.quantized)
    with open_model(file) as opened:
        assert opened.architecture == model.architecture
        assert set(opened.matrices) == set(groups)
    reference = load_reference(file)
    weights = decoded_weights(outcome.weights, outcome.quantized, groups)
    held = dict(reference.named_modules())
    for name in groups:
        layer = reference.projection if name == "embedding.weight" else held[name.removesuffix(".weight")]
        torch.testing.assert_close(layer.weight(), weights[name], rtol=1e-6, atol=1e-7)  # type: ignore[union-attr, operator]


PRODUCTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "log 4 bit": (everything("logarithmic", 4), {"scheme": "logarithmic", "bits": 4, "scale": 1.0}),
    "calibrated 8 bit": (everything("uniform", 8), {"scheme": "uniform", "sentences": 6}),
}


@pytest.mark.parametrize(("quantize", "products"), PRODUCTS.values(), ids=PRODUCTS.keys())
def test_the_file_computes_what_was_scored(
    model: TrainedModel, tmp_path: Path, quantize: dict[str, Any], products: dict[str, Any]
) -> None:
    path, run = tmp_path / "model.pocketmt", model.vocabulary_file.parent
    stage = {"quantize": [quantize], "products": products, "retraining": STRAIGHT_THROUGH}
    compress_run(run, recipe(stage), tmp_path / "work", path)
    with open_model(path) as file:
        training: Any = file.manifest["training"]
    assert model.configuration is not None
    corpus = load_corpus(model.configuration.data, model.vocabulary_file)
    assert loss_of(load_reference(path), corpus) == pytest.approx(training["compression"]["loss"], abs=1e-3)


def test_parts_of_a_transformer_are_refused(model: TrainedModel) -> None:
    stage = {"quantize": [{"matrices": ["encoder.feed_forward"], "scheme": "binary", "bits": 2}]}
    expected = r"matches no matrix of the network: give one of embedding, decoder\.cross_attention, encoder\.recurrent"
    with pytest.raises(ConfigurationError, match=expected):
        make_plan(recipe(stage), model.architecture)


def test_quantized_activations_are_refused(model: TrainedModel) -> None:
    stage = {"quantize": [everything("affine", 8)], "activations": {"bits": 8}}
    with pytest.raises(ConfigurationError, match="fully quantized networks are Transformers"):
        make_plan(recipe(stage), model.architecture)


def test_a_recipe_for_a_size_divides_its_own_parts(model: TrainedModel, tmp_path: Path) -> None:
    found = choose_recipe(model, tmp_path, size=24_000)
    stage, vectors = found.stages
    assert [entry.vectors for entry in vectors.quantize] == [["*"]]
    assert [entry.matrices for entry in stage.quantize] == [[kind] for kind in kinds_of(model.architecture)]
    assert len(make_plan(found, model.architecture)[0].matrices) == len(matrix_names(model.architecture))


def test_its_parts_are_scored_one_by_one(model: TrainedModel) -> None:
    found = measure_sensitivity(model, bits=(1,), sentences=2)
    sizes = {score.part: score.weights for score in found.scores}
    assert set(sizes) == {
        *("embedding", "encoder", "encoder.recurrent"),
        *("decoder", "decoder.recurrent", "decoder.cross_attention", "decoder.readout"),
    }
    assert sizes["encoder"] == sizes["encoder.recurrent"]
    assert sum(sizes[part] for part in ("embedding", "encoder", "decoder")) == sum(
        weight.numel() for weight in model.weights.values() if weight.dim() == 2
    )
