"""Trained ranges in a model file: each range in its place, gamma after quantization, and refusals."""

from pathlib import Path

import pytest
import torch
from torch import Tensor

from pocketmt.compression.activations.fully_quantized import quantize_activations, ranges
from pocketmt.errors import ConfigurationError
from pocketmt.model_file import open_model
from pocketmt.model_file.metadata import ModelMetadata
from pocketmt.models.transformer import Transformer
from pocketmt.packing.activation_ranges import check_storable
from pocketmt.packing.contents import ModelContents, TrainedRanges
from pocketmt.packing.model_file import pack
from pocketmt.recipes.activations import STRATEGY, FullQuantization
from tests.small_network import architecture

METADATA = ModelMetadata(source_language="en", target_language="de")
SETTINGS = FullQuantization(4)


def numbered_ranges(model: Transformer) -> dict[str, Tensor]:
    """Ranges from the number of a place to the next, in the order of the network's modules."""
    for number, (_, each) in enumerate(ranges(model)):
        each.minimum.fill_(number + 1.0)
        each.maximum.fill_(number + 2.0)
        each.estimates.fill_(1)
    parameters = dict(model.named_parameters())
    return {name: tensor for name, tensor in model.state_dict().items() if name not in parameters}


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_every_range_and_gamma_is_stored_in_its_place(norm: str, tmp_path: Path, vocabulary: bytes) -> None:
    model = Transformer(architecture(norm, False))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("norm.weight"):
                parameter.uniform_(0.5, 1.5)
    quantize_activations(model, SETTINGS)
    trained = TrainedRanges(SETTINGS, numbered_ranges(model))
    path = tmp_path / "model.pocketmt"
    weights = dict(model.named_parameters())
    pack(path, ModelContents(weights, model.architecture, vocabulary, "float32", METADATA, activation_ranges=trained))
    with open_model(path) as file:
        stored = [file.data(name).cast("f").tolist() for name in file.tensors if name.startswith("ranges.")]
        places = [file.tensors[name].shape[0] for name in file.tensors if name.startswith("ranges.")]
        starts = sorted(
            values[place * (len(values) // count)]
            for values, count in zip(stored, places, strict=True)
            for place in range(count)
        )
        gamma = torch.tensor(file.data("decoder.layers.0.cross_attention_norm.weight").cast("f").tolist())
        relu = file.data("ranges.relu_output").cast("f").tolist()
    assert starts == [number + 1.0 for number in range(len(list(ranges(model))))]
    first = trained.ranges["encoder.layers.0.feed_forward.activation.1.minimum"]
    assert relu[:2] == [float(first), float(first) + 1.0]
    original = weights["decoder.layers.0.cross_attention_norm.weight"].detach()
    step = (original.max() - original.min()) / 15
    assert len(set(gamma.tolist())) <= 16
    assert (gamma - original).abs().max() <= step / 2 * 1.001


def test_ranges_that_were_never_estimated_are_refused(tmp_path: Path, vocabulary: bytes) -> None:
    model = Transformer(architecture("post", False))
    quantize_activations(model, SETTINGS)
    trained = TrainedRanges(SETTINGS, {**model.state_dict()})
    with pytest.raises(ConfigurationError, match="the range position was never estimated"):
        weights = dict(model.named_parameters())
        pack(
            tmp_path / "model",
            ModelContents(weights, model.architecture, vocabulary, "float32", METADATA, activation_ranges=trained),
        )


@pytest.mark.parametrize(
    ("settings", "vectors", "message"),
    [
        (FullQuantization(8, (*STRATEGY, "residual_sum")), (), "'residual_sum', none of the paper's strategy"),
        (FullQuantization(8, ("softmax_output",), ()), (), "without query_key_value"),
        (FullQuantization(8, bucketed=("relu_output",)), (), "no model file holds buckets of 'relu_output'"),
        (FullQuantization(8, modules=("encoder.*",)), (), "in some modules alone"),
        (FullQuantization(8), ("encoder.norm.weight",), "encoder.norm.weight is quantized by a scheme already"),
    ],
)
def test_what_no_file_holds_is_refused(settings: FullQuantization, vectors: tuple[str, ...], message: str) -> None:
    check_storable(FullQuantization(8), ["encoder.norm.bias"])
    with pytest.raises(ConfigurationError, match=message):
        check_storable(settings, vectors)
