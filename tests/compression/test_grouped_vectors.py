"""Quantized biases and norms: grouped as rows of matrices, and selected, retrained and packed like matrices."""

import dataclasses
from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch
from torch import Tensor, nn

import pocketmt.compression.stage as stage_module
from pocketmt.compression.planning import make_plan
from pocketmt.compression.retraining.factory import make_trainer, parameter_trainer
from pocketmt.errors import ConfigurationError, ModelFileError
from pocketmt.model_file import TransformerArchitecture, open_model
from pocketmt.model_file.metadata import ModelMetadata
from pocketmt.packing.contents import ModelContents
from pocketmt.packing.model_file import pack
from pocketmt.packing.reference.network import load_reference
from pocketmt.quantization import Uniform, fake_quantize
from pocketmt.quantization.registry import scheme_from_options
from pocketmt.quantization.row_groups import RowGroup, decode, decoded_weights
from pocketmt.recipes.matrices import VECTOR_KINDS, matching_vectors, vector_lengths
from pocketmt.recipes.schema import Recipe, Retraining
from pocketmt.training.trained_model import read_trained_model
from tests.compression.tiny_run import compress, write_tiny_run
from tests.small_network import architecture, random_transformer

SHAPE = architecture("pre", attention_bias=True)
METADATA = ModelMetadata(source_language="en", target_language="de")
BIASES = {"vectors": ["biases"], "scheme": "codebook", "bits": 8}
NORMS = {"vectors": ["norms"], "scheme": "logarithmic", "bits": 4}
METHODS: list[dict[str, Any]] = [
    {"method": "straight_through", "refit_every": 2},
    {"method": "straight_through", "parameters": "fixed"},
    {"method": "straight_through", "parameters": "trained"},
    {"method": "trained_parameters"},
    {"method": "error_feedback", "refit_every": 2},
    {"method": "periodic", "period": 2},
]


@pytest.fixture(scope="module")
def tiny_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_run(tmp_path_factory.mktemp("tiny"))


def recipe(*entries: dict[str, Any], **stage: Any) -> Recipe:
    return msgspec.convert({"name": "a test", "stages": [{"quantize": list(entries), **stage}]}, Recipe)


def retraining(**settings: Any) -> dict[str, Any]:
    return {"updates": 4, "learning_rate": {"rate": 3e-3}, "checkpoint_every": 1, **settings}


def test_longer_vectors_than_a_file_groups_stay_in_float32() -> None:
    shape = dataclasses.replace(SHAPE, vocabulary_size=66_000, output_bias=True)
    [stage] = make_plan(recipe(BIASES), shape).stages
    assert "output.bias" not in stage.vectors and "decoder.layers.0.feed_forward.inner.bias" in stage.vectors
    with pytest.raises(ConfigurationError, match=r"vectors: output\.bias has 66000 elements, at most 65536"):
        make_plan(recipe({**BIASES, "vectors": ["output.bias"]}), shape)


def test_biases_and_norms_are_all_vectors() -> None:
    names = list(vector_lengths(SHAPE))
    biases, norms = (matching_vectors(names, kind) for kind in VECTOR_KINDS)
    assert sorted(biases + norms) == sorted(names)
    assert "encoder.layers.0.self_attention.query_key_value.bias" in biases
    assert {"decoder.norm.weight", "decoder.layers.0.cross_attention_norm.bias"} <= set(norms)
    assert matching_vectors(names, "decoder.*.inner.bias") == ["decoder.layers.0.feed_forward.inner.bias"]


def test_the_pattern_of_all_matrices_matches_no_vectors() -> None:
    plain = recipe({"matrices": ["*"], "scheme": "uniform", "bits": 8})
    (stage,) = make_plan(plain, architecture("pre", attention_bias=True)).stages
    assert not stage.vectors
    assert not any(name.endswith((".bias", "norm.weight")) for name in stage.matrices)


def test_vectors_of_one_length_are_one_matrix_in_every_stage() -> None:
    first = {"quantize": [{"matrices": ["embedding"], "scheme": "uniform", "bits": 8}, BIASES]}
    stages = [first, {"quantize": [NORMS]}]
    shape = architecture("post")
    weights = random_transformer(shape).state_dict()
    plan = make_plan(msgspec.convert({"name": "x", "stages": stages}, Recipe), shape)
    one, two = (stage.row_groups(weights, {}) for stage in plan.stages)
    assert list(one) == ["embedding.weight", "vectors.0", "vectors.1"]
    inner = ("encoder.layers.0.feed_forward.inner.bias", "encoder.layers.1.feed_forward.inner.bias")
    assert one["vectors.0"][0].vectors == (*inner, "decoder.layers.0.feed_forward.inner.bias")
    assert len(one["vectors.1"][0].vectors) == 3
    assert list(two) == [*one, "vectors.2"]
    assert len(two["vectors.2"][0].vectors) == 2 * (2 * 2 + 3)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        (
            [{**BIASES, "vectors": ["bias"]}],
            r"quantize\[0\]\.vectors: 'bias' matches no vector .*: give one of biases,",
        ),
        ([{**BIASES, "vectors": ["embedding.weight"]}], "matches no vector"),
        ([{"matrices": ["*.bias"], "scheme": "uniform", "bits": 8}], "matches no matrix"),
        (
            [BIASES, {**NORMS, "vectors": ["*"]}],
            r"quantize\[1\]: encoder.*bias already has a scheme from .*\[0\]",
        ),
        ([{**BIASES, "frequency_ratio": 2, "scheme": "binary", "bits": 2}], "only the embedding's rows are words"),
        ([{**NORMS, "bits": 8}], "logarithmic: bits is 8"),
    ],
)
def test_invalid_entries_are_refused(entries: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        make_plan(recipe(*entries), architecture())


@pytest.mark.parametrize("entry", [{**BIASES, "matrices": ["*"]}, {"scheme": "uniform", "bits": 8}])
def test_an_entry_is_about_matrices_or_vectors(entry: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError, match="give `matrices` or `vectors`, one of the two"):
        recipe(entry)


def test_schemes_that_a_method_cannot_retrain_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="the scheme logarithmic has no parameters to train"):
        make_plan(recipe(NORMS, retraining=retraining(method="trained_parameters")), architecture())


@pytest.mark.parametrize("settings", METHODS, ids=str)
def test_vectors_are_retrained_as_the_rows_of_a_matrix(settings: dict[str, Any]) -> None:
    chosen: Retraining = msgspec.convert(retraining(**settings), Retraining)
    scheme = scheme_from_options("codebook", bits=2)
    generator = torch.Generator().manual_seed(1)
    start = torch.randn(3, 7, generator=generator)
    parameters = {name: nn.Parameter(row.clone()) for name, row in zip("abc", start, strict=True)}
    grouped = parameter_trainer(chosen, "vectors.0", (RowGroup(scheme, vectors=("a", "b", "c")),), parameters, None)
    matrix = make_trainer(chosen, (RowGroup(scheme),), nn.Parameter(start.clone()))

    def held() -> Tensor:
        return torch.stack([parameter.detach() for parameter in parameters.values()])

    for update in range(1, 6):
        gradient = torch.randn(3, 7, generator=generator)
        for trainer in (grouped, matrix):
            trainer.before_forward(update)
        assert torch.equal(held(), matrix.weight)
        matrix.weight.grad = gradient.clone()
        for parameter, row in zip(parameters.values(), gradient, strict=True):
            parameter.grad = row.clone()
        for trainer, moved in ((grouped, list(parameters.values())), (matrix, [matrix.weight])):
            trainer.after_backward()
            for parameter in (*moved, *trainer.learnable_parameters()):
                if parameter.grad is not None:
                    parameter.detach().sub_(0.1 * parameter.grad)
                    parameter.grad = None
            trainer.after_step(update)
        assert torch.equal(held(), matrix.weight)
        assert torch.equal(grouped.full_precision(), matrix.full_precision())
        assert torch.equal(decode(grouped.groups, grouped.quantized()), decode(matrix.groups, matrix.quantized()))


@pytest.mark.parametrize("settings", [each for each in METHODS if each != METHODS[2]], ids=str)
def test_retrained_biases_are_the_values_of_their_codes(
    tiny_run: Path, tmp_path: Path, settings: dict[str, Any]
) -> None:
    model = read_trained_model(tiny_run)
    generator = torch.Generator().manual_seed(2)
    biases = {
        name: torch.randn(weight.shape, generator=generator)
        for name, weight in model.weights.items()
        if name.endswith("er.bias")
    }
    model = dataclasses.replace(model, weights={**model.weights, **biases})  # those of a new network are zeros
    result, groups = compress(model, recipe(BIASES, retraining=retraining(**settings)), tmp_path / "work")
    weights = decoded_weights(result.weights, result.quantized, groups)
    assert weights.keys() == result.weights.keys() == model.weights.keys()
    assert list(groups) == ["vectors.0", "vectors.1"]
    for name in groups:
        expected = decode(groups[name], result.quantized[name])
        for vector, row in zip(groups[name][0].vectors, expected, strict=True):
            assert torch.equal(weights[vector], row)
            assert not torch.equal(row, model.weights[vector])


def test_a_stopped_run_resumes_to_the_same_vectors(
    tiny_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = read_trained_model(tiny_run)
    plan = recipe(BIASES, NORMS, retraining=retraining(method="error_feedback"))
    whole, _ = compress(model, plan, tmp_path / "whole")
    validate = stage_module.StageRun.validate
    monkeypatch.setattr(
        stage_module.StageRun, "validate", lambda run: validate(run) if run.progress.update < 4 else 1 / 0
    )
    with pytest.raises(ZeroDivisionError):
        compress(model, plan, tmp_path / "stopped")
    monkeypatch.undo()
    resumed, _ = compress(model, plan, tmp_path / "stopped")
    assert all(torch.equal(weight, resumed.weights[name]) for name, weight in whole.weights.items())
    for name, (group,) in whole.quantized.items():
        assert torch.equal(group.codes, resumed.quantized[name][0].codes)


def test_error_compensation_does_not_change_the_codes_of_vectors(tiny_run: Path, tmp_path: Path) -> None:
    model = read_trained_model(tiny_run)
    matrices = {"matrices": ["encoder.*"], "scheme": "affine", "bits": 4}
    plan = recipe(matrices, NORMS, retraining={"method": "error_compensation", "sentences": 4})
    result, groups = compress(model, plan, tmp_path / "work")
    weights = decoded_weights(result.weights, result.quantized, groups)
    scheme = scheme_from_options("logarithmic", bits=4)
    for vector in groups["vectors.0"][0].vectors:
        assert torch.equal(weights[vector], fake_quantize(scheme, model.weights[vector][None])[0])


def pack_with(path: Path, vocabulary: bytes, schemes: dict[str, Any], shape: TransformerArchitecture = SHAPE) -> int:
    model = random_transformer(shape)
    return pack(
        path, ModelContents(model.state_dict(), model.architecture, vocabulary, {**schemes, "*": "float32"}, METADATA)
    )


def vector_groups(entry: dict[str, Any], shape: TransformerArchitecture = SHAPE) -> dict[str, tuple[RowGroup, ...]]:
    (stage,) = make_plan(recipe(entry), shape).stages
    return stage.row_groups(random_transformer(shape).state_dict(), {})


def test_the_file_holds_the_codes_of_vectors_and_is_smaller(tmp_path: Path, vocabulary: bytes) -> None:
    path = tmp_path / "model.pocketmt"
    plain = pack_with(path, vocabulary, {})
    state = load_reference(path).state_dict()
    chosen = vector_groups({**NORMS, "vectors": ["*"]})
    size = pack_with(path, vocabulary, chosen)
    assert size == path.stat().st_size
    elements = sum(state[vector].numel() for groups in chosen.values() for vector in groups[0].vectors)
    codes = sum(len(groups[0].vectors) * -(-state[groups[0].vectors[0]].numel() // 2) for groups in chosen.values())
    assert codes < elements  # of 4 bytes each
    assert plain - size > 4 * elements - 2 * codes
    packed = load_reference(path).state_dict()
    for name, tensor in state.items():
        expected = fake_quantize(chosen["vectors.0"][0].scheme, tensor[None])[0] if tensor.dim() == 1 else tensor
        assert torch.equal(packed[name], expected), name
    with open_model(path) as file:
        assert file.vector_groups == {name: groups[0].vectors for name, groups in chosen.items()}


def test_vectors_share_a_codebook_of_256_values(tmp_path: Path, vocabulary: bytes) -> None:
    shape = dataclasses.replace(architecture(), encoder_layers=6, feed_forward_dimension=128, model_dimension=64)
    chosen = vector_groups(BIASES, shape)
    plain = pack_with(tmp_path / "plain.pocketmt", vocabulary, {}, shape)
    shared = pack_with(tmp_path / "shared.pocketmt", vocabulary, chosen, shape)
    every = [vector for groups in chosen.values() for vector in groups[0].vectors]
    scheme = scheme_from_options("codebook", bits=8)
    single = {f"vectors.{index}": (RowGroup(scheme, vectors=(vector,)),) for index, vector in enumerate(every)}
    alone = pack_with(tmp_path / "alone.pocketmt", vocabulary, single, shape)
    codes, tables, boundaries = 7 * (64 + 128), 2 * (256 + 4), 2 * 3 * 64
    assert shared < plain - 4 * codes + codes + tables + boundaries
    assert alone > plain


@pytest.mark.parametrize(
    ("names", "group", "error", "message"),
    [
        (("encoder.norm.weight",), "vectors.1", ConfigurationError, "must be named 'vectors.0'"),
        (("encoder.norm",), "vectors.0", ModelFileError, "'encoder.norm' is not a vector"),
        (("encoder.norm.weight", "encoder.norm.weight"), "vectors.0", ModelFileError, "stands twice"),
        (
            ("encoder.norm.weight", "decoder.layers.0.feed_forward.inner.bias"),
            "vectors.0",
            ModelFileError,
            "inner.bias' has 21 elements",
        ),
    ],
)
def test_vector_groups_that_files_cannot_hold_are_refused(
    tmp_path: Path, vocabulary: bytes, names: tuple[str, ...], group: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        pack_with(tmp_path / "model.pocketmt", vocabulary, {group: (RowGroup(Uniform(), vectors=names),)})
    assert not (tmp_path / "model.pocketmt").exists()
