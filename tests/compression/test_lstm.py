"""A deep LSTM (Aji and Heafield 2020, section 4.1) compressed by recipes, packed, and loaded as its reference."""

from pathlib import Path
from typing import Any

import pytest
import torch

from pocketmt.compression.choosing.allocation import Target, choose_recipe
from pocketmt.compression.choosing.sensitivity import measure_sensitivity
from pocketmt.compression.planning import make_plan
from pocketmt.compression.run import CompressionTask, compress_run
from pocketmt.errors import ConfigurationError
from pocketmt.model_file import open_model
from pocketmt.model_file.metadata import ModelMetadata
from pocketmt.packing.contents import ModelContents
from pocketmt.packing.model_file import pack
from pocketmt.packing.reference.network import load_reference
from pocketmt.quantization.row_groups import decoded_weights
from pocketmt.recipes.matrices import kinds_of, matrix_names
from pocketmt.training.data import PairEncoder, corpus_for
from pocketmt.training.trained_model import TrainedModel, read_trained_model
from tests.compression.activations.test_matrix_inputs import loss_of
from tests.compression.tiny_run import compress, lstm, recipe, write_tiny_run

METADATA = ModelMetadata(source_language="en", target_language="up")
RETRAINING = {"method": "error_feedback", "updates": 4, "learning_rate": {"rate": 3e-3}}
STRAIGHT_THROUGH = {**RETRAINING, "method": "straight_through"}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> TrainedModel:
    return read_trained_model(write_tiny_run(tmp_path_factory.mktemp("tiny"), network=lstm))


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
def test_compressed_lstms_are_packed_and_loaded(
    model: TrainedModel, tmp_path: Path, stages: tuple[dict[str, Any], ...]
) -> None:
    result, groups = compress(model, recipe(*stages), tmp_path / "work")
    file = tmp_path / "model.pocketmt"
    vocabulary = model.vocabularies.source.model
    pack(file, ModelContents(result.weights, model.architecture, vocabulary, {**groups}, METADATA, result.quantized))
    with open_model(file) as opened:
        assert opened.architecture == model.architecture
        assert set(opened.matrices) == set(groups)
    reference = load_reference(file)
    weights = decoded_weights(result.weights, result.quantized, groups)
    held = dict(reference.named_modules())
    for name in groups:
        layer = reference.projection if name == "embedding.weight" else held[name.removesuffix(".weight")]
        torch.testing.assert_close(layer.weight(), weights[name], rtol=1e-6, atol=1e-7)  # type: ignore[union-attr, operator]


PRODUCTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "log 4 bit": (everything("logarithmic", 4), {"scheme": "logarithmic", "bits": 4, "scale": 1.0}),
    "calibrated 8 bit": (everything("uniform", 8), {"scheme": "static", "sentences": 6}),
}


@pytest.mark.parametrize(("quantize", "products"), PRODUCTS.values(), ids=PRODUCTS.keys())
def test_the_file_computes_what_was_scored(
    model: TrainedModel, tmp_path: Path, quantize: dict[str, Any], products: dict[str, Any]
) -> None:
    path, run = tmp_path / "model.pocketmt", model.name
    stage = {"quantize": [quantize], "matrix_inputs": products, "retraining": STRAIGHT_THROUGH}
    compress_run(CompressionTask(run=run, folder=tmp_path / "work"), recipe(stage), path)
    with open_model(path) as file:
        training: Any = file.manifest["training"]
    assert model.configuration is not None
    corpus = corpus_for(model.configuration.data, PairEncoder(model.vocabularies))
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


def test_a_target_size_chooses_bits_for_the_parts_of_an_lstm(model: TrainedModel, tmp_path: Path) -> None:
    found = choose_recipe(model, tmp_path, Target(size=24_000))
    stage, vectors = found.stages
    assert [entry.vectors for entry in vectors.quantize] == [["*"]]
    assert [entry.matrices for entry in stage.quantize] == [[kind] for kind in kinds_of(model.architecture)]
    assert len(make_plan(found, model.architecture).stages[0].matrices) == len(matrix_names(model.architecture))


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
