"""Error compensation in a network: it uses the inputs of layers, and their outputs change less."""

import math
from pathlib import Path

import msgspec
import pytest
import torch

from pocketmt.compression.error_compensation import INPUT_SHARE, collect_hessians, compensate
from pocketmt.compression.planning import make_plan
from pocketmt.errors import ConfigurationError
from pocketmt.models.transformer import Transformer
from pocketmt.quantization.error_compensation import output_error
from pocketmt.quantization.registry import scheme_from_options
from pocketmt.quantization.row_groups import RowGroup, decode, quantize
from pocketmt.recipes.schema import Recipe
from pocketmt.training.data import Pair, make_batch
from pocketmt.training.steps import DivergedError
from pocketmt.training.trained_model import read_trained_model
from tests.compression.tiny_run import compress, write_tiny_run
from tests.small_network import architecture, random_transformer

PAIRS: list[Pair] = [([5, 6, 7], [8, 9]), ([10, 11, 12, 13, 14], [15]), ([16], [17, 18, 19, 20])] * 5
INNER = "encoder.layers.0.feed_forward.inner.weight"
KEY_VALUE = "decoder.layers.0.cross_attention.key_value.weight"
EMBEDDING = "embedding.weight"


@pytest.fixture
def network() -> Transformer:
    return random_transformer(architecture("pre"))


def test_hessians_are_of_the_inputs_of_a_layer(network: Transformer) -> None:
    found = collect_hessians(network, [KEY_VALUE], PAIRS[:3])
    rows = torch.cat(
        [network.encode(make_batch([pair], network.architecture, "cpu").source)[0][0] for pair in PAIRS[:3]]
    ).double()
    torch.testing.assert_close(found[KEY_VALUE], rows.t() @ rows)
    assert len(rows) == 4 + 6 + 2  # with the end of each sentence
    assert not network.get_submodule(KEY_VALUE.removesuffix(".weight"))._forward_pre_hooks


def test_a_network_that_computes_nan_is_refused(network: Transformer) -> None:
    network.get_parameter(f"{INNER.removesuffix('.inner.weight')}_norm.bias").data[2] = math.nan
    groups = (RowGroup(scheme_from_options("affine", bits=4)),)
    with pytest.raises(DivergedError, match=rf"inputs of {INNER} are not finite"):
        compensate(network, {INNER: groups}, PAIRS)


def test_compensation_reduces_the_change_of_outputs(network: Transformer) -> None:
    groups = (RowGroup(scheme_from_options("affine", bits=4)),)
    found = compensate(network, {INNER: groups}, PAIRS)
    weight = network.state_dict()[INNER]
    hessian = collect_hessians(network, [INNER], PAIRS)[INNER]
    plain, compensated = (
        output_error(weight, decode(groups, each), hessian).sum() for each in (quantize(groups, weight), found[INNER])
    )
    assert compensated < 0.9 * plain


@torch.no_grad()
def test_the_tied_embedding_is_compensated_for_its_logits(network: Transformer) -> None:
    divided = (
        RowGroup(scheme_from_options("binary", bits=2), tuple(range(0, 60, 2))),
        RowGroup(scheme_from_options("binary", bits=1), tuple(range(1, 60, 2))),
    )
    embedding = network.state_dict()[EMBEDDING].double()
    found = compensate(network, {EMBEDDING: divided}, PAIRS)[EMBEDDING]
    batches = [make_batch([pair], network.architecture, "cpu") for pair in PAIRS[:3]]
    states = torch.cat([network(batch.source, batch.target_inputs).flatten(0, -2) for batch in batches]).double()
    plain, compensated = (
        (states @ (embedding - decode(divided, each)).t()).square().sum()
        for each in (quantize(divided, embedding), found)
    )
    assert compensated < 0.9 * plain
    hessian = collect_hessians(network, [EMBEDDING], PAIRS[:3])[EMBEDDING]
    outputs = states.t() @ states
    torch.testing.assert_close(
        hessian, outputs + INPUT_SHARE * outputs.diagonal().mean() * torch.eye(len(outputs)).double()
    )


def test_compensation_is_a_stage_of_a_recipe(tmp_path: Path) -> None:
    model = read_trained_model(write_tiny_run(tmp_path))
    stages = [
        {
            "quantize": [{"matrices": [pattern], "scheme": "logarithmic", "bits": 3}],
            "retraining": {"method": "error_compensation", "sentences": 20},
        }
        for pattern in ("decoder.*", "encoder.*")
    ]
    recipe = msgspec.convert({"name": "x", "stages": stages}, Recipe)
    result, groups = compress(model, recipe, tmp_path / "work")
    assert set(result.quantized) == set(groups)
    name = "encoder.layers.0.feed_forward.outer.weight"
    assert not torch.equal(
        decode(groups[name], result.quantized[name]), decode(groups[name], quantize(groups[name], model.weights[name]))
    )
    again, _ = compress(model, recipe, tmp_path / "again")
    assert all(
        torch.equal(again.quantized[name][0].codes, matrix[0].codes) for name, matrix in result.quantized.items()
    )


@pytest.mark.parametrize("quantize", [[], [{"vectors": ["*"], "scheme": "codebook", "bits": 8}]])
def test_compensation_without_a_matrix_is_refused(quantize: list[dict[str, object]]) -> None:
    stage = {"quantize": quantize, "retraining": {"method": "error_compensation"}}
    recipe = msgspec.convert({"name": "x", "stages": [stage]}, Recipe)
    with pytest.raises(ConfigurationError, match=r"stages\[0\]: no matrix is quantized, so there"):
        make_plan(recipe, architecture())
