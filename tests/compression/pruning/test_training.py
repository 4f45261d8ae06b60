"""Pruning during a stage: group lasso (Behnke et al. 2021, section 3.1) and magnitude pruning.

Magnitude pruning is that of Cheong and Daniel 2019, section 3.2.
"""

import dataclasses
import math
from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch
from torch import Tensor

from benchmarks.recipe_files import find_recipe
from pocketmt.compression.planning import make_plan
from pocketmt.compression.run import CompressionTask, compress_run
from pocketmt.errors import ConfigurationError
from pocketmt.model_file import open_model
from pocketmt.packing.reference.network import load_reference
from pocketmt.quantization.row_groups import decoded_weights
from pocketmt.recipes.pruning import Magnitude
from pocketmt.recipes.schema import Recipe, limit_updates
from pocketmt.training.steps import DivergedError
from pocketmt.training.trained_model import TrainedModel, read_trained_model
from tests.compression.pruning.test_nodes import native_logits, quantize
from tests.compression.tiny_run import (
    Uninterrupted,
    assert_equal,
    compress,
    events,
    lstm,
    recipe,
    stop_at_update,
    write_tiny_run,
)
from tests.small_network import architecture

ENCODER = ["encoder.self_attention", "encoder.feed_forward"]
LASSO = {"method": "group_lasso", "matrices": ENCODER, "granularity": "rows_and_columns", "strength": 0.5}
MAGNITUDE = {"method": "magnitude", "matrices": ["*"], "from_share": 0.2, "to_share": 0.5, "steps": 3, "period": 2}
TRAINING = {"method": "none", "updates": 8, "learning_rate": {"rate": 3e-3}, "validate_every": 2, "checkpoint_every": 1}
LATER = {"retraining": {**TRAINING, "updates": 3}}
QKV = "encoder.layers.0.self_attention.query_key_value.weight"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_run(tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def model(run: Path) -> TrainedModel:
    return read_trained_model(run)


def lasso(**changes: Any) -> dict[str, Any]:
    return {"prune": [{**LASSO, **changes}], "retraining": TRAINING}


def magnitude(**changes: Any) -> dict[str, Any]:
    return {"prune": [{**MAGNITUDE, **changes}], "retraining": TRAINING}


def group_norms(weights: dict[str, Tensor]) -> float:
    inner, outer = (weights[f"encoder.layers.0.feed_forward.{each}.weight"] for each in ("inner", "outer"))
    return float(inner.norm(dim=1).sum() + outer.norm(dim=0).sum())


def test_the_penalty_makes_groups_small(model: TrainedModel, tmp_path: Path) -> None:
    with_penalty, _ = compress(model, recipe(lasso(dead_below=1e-9)), tmp_path / "with")
    without, _ = compress(model, recipe({"retraining": TRAINING}), tmp_path / "without")
    assert group_norms(with_penalty.weights) < 0.95 * group_norms(without.weights)
    assert with_penalty.weights[QKV].shape == (48, 16)  # no group was dead
    decoder = "decoder.layers.0.feed_forward.inner.weight"
    assert with_penalty.weights[decoder].norm() > 0.95 * without.weights[decoder].norm()


@pytest.mark.parametrize("granularity", ["heads", "rows_and_columns"])
def test_dead_groups_are_removed_and_later_stages_continue(
    model: TrainedModel, tmp_path: Path, granularity: str
) -> None:
    weights = {name: weight.clone() for name, weight in model.weights.items()}
    head = [row for part in (0, 16, 32) for row in range(part, part + 8)]
    weights[QKV][head] = 0.0  # three quarters of the first head's connections
    weights["encoder.layers.0.feed_forward.inner.weight"][:4] = 0.0
    weights["encoder.layers.0.feed_forward.outer.weight"][:, 4:9] = 0.0
    learning = {**TRAINING, "learning_rate": {"rate": 1e-6}}
    first = {"prune": [{**LASSO, "granularity": granularity}], "retraining": learning}
    model = dataclasses.replace(model, weights=weights)
    dead, _ = compress(model, recipe(first), tmp_path / "one")
    assert dead.weights[QKV].shape == (24, 16)
    assert dead.weights["encoder.layers.0.self_attention.output.weight"].shape == (16, 8)
    second_head = weights[QKV][[*range(8, 16), *range(24, 32), *range(40, 48)]]
    torch.testing.assert_close(dead.weights[QKV], second_head, atol=1e-4, rtol=0)
    assert dead.weights["encoder.layers.0.feed_forward.inner.bias"].shape == (15,)
    pruned = [event for event in events(tmp_path / "one") if event["event"] == "pruned"]
    assert pruned == [
        {"event": "pruned", "update": 8, "stage": 0, "name": "1", "encoder_heads": [1], "encoder_feed_forward": [15]}
    ]
    trained, groups = compress(model, recipe(first, LATER, quantize("uniform", 8)), tmp_path / "three")
    assert trained.weights[QKV].shape == (24, 16) and not torch.equal(trained.weights[QKV], dead.weights[QKV])
    assert decoded_weights(trained.weights, trained.quantized, groups)[QKV].shape == (24, 16)


def test_a_dead_sub_layer_keeps_its_strongest_unit(model: TrainedModel, tmp_path: Path) -> None:
    result, _ = compress(model, recipe(lasso(dead_below=1e6)), tmp_path / "work")
    assert result.weights[QKV].shape == (24, 16)
    assert result.weights["encoder.layers.0.feed_forward.inner.weight"].shape == (1, 16)
    assert math.isfinite(result.scores["loss"])


def test_the_result_is_the_end_of_the_stage_not_its_best_validation(model: TrainedModel, tmp_path: Path) -> None:
    result, _ = compress(model, recipe(lasso(strength=100.0)), tmp_path / "work")
    validations = [event for event in events(tmp_path / "work") if event["event"] == "validation"]
    assert [event["update"] for event in validations] == [0, 2, 4, 6, 8]
    assert result.scores["update"] == 8
    shares, _ = compress(model, recipe(magnitude()), tmp_path / "magnitude")
    assert shares.scores["update"] in (6, 8)  # the first with all steps done, or a better one


def test_divergence_before_pruning_is_an_error(model: TrainedModel, tmp_path: Path) -> None:
    stage = {**lasso(), "retraining": {**TRAINING, "learning_rate": {"rate": 1e30}}}
    with pytest.raises(DivergedError, match="stage 1 diverged"):
        compress(model, recipe(stage), tmp_path / "work")


def zeros(weights: dict[str, Tensor], model: TrainedModel) -> dict[str, int]:
    return {name: int((weights[name] == 0).sum()) for name, weight in model.weights.items() if weight.dim() == 2}


def test_half_of_every_matrix_becomes_zero_and_stays_so(model: TrainedModel, tmp_path: Path) -> None:
    result, groups = compress(model, recipe(magnitude(), LATER, quantize("uniform", 8)), tmp_path / "work")
    half = {name: weight.numel() // 2 for name, weight in model.weights.items() if weight.dim() == 2}
    assert zeros(result.weights, model) == half
    decoded = decoded_weights(result.weights, result.quantized, groups)
    for name in half:
        assert not decoded[name][result.weights[name] == 0].any()
        assert not torch.equal(result.weights[name], model.weights[name])
    first, _ = compress(model, recipe(magnitude()), tmp_path / "first")
    for name in half:
        assert torch.equal(first.weights[name] == 0, result.weights[name] == 0), name


def test_zeros_stay_in_a_stage_that_prunes_a_smaller_share(model: TrainedModel, tmp_path: Path) -> None:
    stages = magnitude(to_share=0.6), magnitude(from_share=0.0, to_share=0.3)
    result, _ = compress(model, recipe(*stages), tmp_path / "work")
    first, _ = compress(model, recipe(stages[0]), tmp_path / "first")
    assert zeros(result.weights, model) == zeros(first.weights, model)
    assert not torch.equal(result.weights[QKV], first.weights[QKV])


@pytest.mark.parametrize("method", ["straight_through", "error_feedback", "periodic"])
def test_zeros_stay_in_retraining_of_any_method(model: TrainedModel, tmp_path: Path, method: str) -> None:
    retraining = {**TRAINING, "updates": 3, "method": method, **({"period": 2} if method == "periodic" else {})}
    stage = {**quantize("uniform", 8), "retraining": retraining}
    result, groups = compress(model, recipe(magnitude(matrices=["encoder.*"]), stage), tmp_path / "work")
    first, _ = compress(model, recipe(magnitude(matrices=["encoder.*"])), tmp_path / "first")
    decoded = decoded_weights(result.weights, result.quantized, groups)
    for name in (QKV, "encoder.layers.0.feed_forward.outer.weight"):
        assert not decoded[name][first.weights[name] == 0].any()
        assert not torch.equal(result.weights[name], first.weights[name])
    assert (result.weights["embedding.weight"] != 0).any()


@pytest.mark.parametrize("stopped", [3, 8, 9])
@pytest.mark.parametrize("stage", [lasso(dead_below=0.2), magnitude()], ids=["lasso", "magnitude"])
def test_stopped_at_any_update_it_resumes_to_the_same_result(
    model: TrainedModel,
    tmp_path: Path,
    stopped: int,
    stage: dict[str, Any],
    uninterrupted: Uninterrupted,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan = recipe(stage, LATER)
    whole, log = uninterrupted.compress(model, plan)
    stop_at_update(stopped, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        compress(model, plan, tmp_path / "stopped")
    resumed, _ = compress(model, plan, tmp_path / "stopped")
    assert_equal(whole, resumed)
    assert events(log) == events(tmp_path / "stopped")


@pytest.mark.parametrize("bits", [32, 8])
def test_the_engine_runs_a_network_pruned_by_group_lasso(run: Path, tmp_path: Path, bits: int) -> None:
    path = tmp_path / "model.pocketmt"
    stages = [lasso(dead_below=0.2), *([quantize("uniform", 8)] if bits == 8 else [])]
    compress_run(CompressionTask(run=run, folder=tmp_path / "work"), recipe(*stages), path)
    reference = load_reference(path)
    assert {"encoder_heads", "encoder_feed_forward"} & reference.architecture.to_json().keys()
    with torch.inference_mode():
        decoded = reference(torch.tensor([[5, 9, 7, 2]]), torch.tensor([[1, 11, 12]]))
        expected = reference.logits(decoded)[0]
    difference = (native_logits(path, [5, 9, 7], [11, 12]) - expected).abs() / expected.square().mean().sqrt()
    assert difference.median() < 1e-5 and difference.max() < 10 / 127
    with open_model(path) as file:
        assert file.architecture == reference.architecture


def test_the_file_omits_zeros_and_the_engine_restores_them(run: Path, tmp_path: Path) -> None:
    path, whole = tmp_path / "model.pocketmt", tmp_path / "whole.pocketmt"
    stage = magnitude(from_share=0.5, to_share=0.8, matrices=["embedding", "encoder.*"])
    compress_run(CompressionTask(run=run, folder=tmp_path / "work"), recipe(stage), path)
    reference = load_reference(path)
    with open_model(path) as file:
        sparse = list(file.sparse)
    assert "embedding.weight" in sparse and QKV in sparse
    assert not any(name.startswith("decoder") for name in sparse)
    weights = reference.state_dict()
    assert int((weights["embedding.weight"] == 0).sum()) == int(0.8 * weights["embedding.weight"].numel())
    with torch.inference_mode():
        expected = reference.logits(reference(torch.tensor([[5, 9, 7, 2]]), torch.tensor([[1, 11, 12]])))[0]
    torch.testing.assert_close(native_logits(path, [5, 9, 7], [11, 12]), expected, atol=1e-4, rtol=0)
    compress_run(CompressionTask(run=run, folder=tmp_path / "unpruned"), recipe({"retraining": TRAINING}), whole)
    zeros = sum(int((weights[name] == 0).sum()) for name in sparse)
    bits = sum(weights[name].numel() for name in sparse)
    assert whole.stat().st_size - path.stat().st_size == pytest.approx(4 * zeros - bits / 8, abs=2000)  # and the header


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        ([{"prune": [LASSO]}], r"stages\[0\]\.prune\[0\]: group_lasso prunes while the stage trains in full precision"),
        ([{"prune": [MAGNITUDE]}], r"prune\[0\]: magnitude prunes while"),
        ([magnitude(period=3)], r"prune\[0\]: 3 steps of 3 updates take more than the stage's 8"),
        ([lasso(matrices=["embedding"])], r"embedding\.weight belongs to none of the attentions or feed-"),
        ([lasso(matrices=["encoder.layers.0.self_attention.o*"])], r"output\.weight is only a part of one of the att"),
        ([{"prune": [LASSO, LASSO], "retraining": TRAINING}], r"prune\[1\]: .* is already pruned by an earlier entry"),
        ([{"prune": [LASSO, MAGNITUDE], "retraining": TRAINING}], r"prune\[1\]: .* cannot share a stage"),
        (
            [lasso(), {"activations": {"bits": 8}}],
            r"stages\[0\]\.prune: encoder\.layers\.0\.self_attention may lose heads",
        ),
        ([magnitude(), quantize("logarithmic", 4)], r"stages\[1\]: .* were pruned to zero, which logarithmic does not"),
        (
            [magnitude(), {**quantize("uniform", 8), "retraining": {"method": "error_compensation"}}],
            r"stages\[1\]: .* which error_compensation does not preserve: quantize it by uniform",
        ),
        ([quantize("uniform", 8), lasso()], r"stages\[1\]\.retraining: method 'none' trains in full precision"),
    ],
)
def test_invalid_stages_are_refused(stages: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        make_plan(recipe(*stages), architecture())


NODES = {"method": "feed_forward_nodes", "matrices": ["*"], "criterion": "weight_norm", "ratio": 0.5}


@pytest.mark.parametrize("entry", [LASSO, NODES])
def test_lstms_are_pruned_by_magnitude_alone(entry: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=rf"prune\[0\]: {entry['method']} removes heads and nodes of Transf"):
        make_plan(recipe({"prune": [entry], "retraining": TRAINING}), lstm(16, 40))
    assert make_plan(recipe(magnitude()), lstm(16, 40)).stages[0].sparse


def test_error_compensation_allows_sparse_matrices_that_an_earlier_stage_quantized() -> None:
    compensated = {"quantize": [{"matrices": ["decoder.feed_forward"], "scheme": "affine", "bits": 4}]}
    stages = make_plan(
        recipe(
            magnitude(matrices=["encoder.feed_forward"]),
            {"quantize": [{"matrices": ["encoder.feed_forward"], "scheme": "uniform", "bits": 8}]},
            {**compensated, "retraining": {"method": "error_compensation"}},
        ),
        architecture(),
    ).stages
    assert stages[2].compensation is not None and stages[2].sparse


@pytest.mark.parametrize("changes", [{"to_share": 0.1}, {"to_share": 1.0}, {"period": 0}, {"from_share": -0.1}])
def test_invalid_shares_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        recipe(magnitude(**changes))


def test_a_quick_run_takes_fewer_and_shorter_steps() -> None:
    whole = recipe(magnitude(steps=4, period=2))
    for most in (1, 2, 3, 7, 8, 100):
        trial: Recipe = limit_updates(whole, most)
        make_plan(trial, architecture())
        entries = trial.stages[0].prune
        assert entries
        assert isinstance(entries[0], Magnitude)
        assert entries[0].steps * entries[0].period <= most
    assert limit_updates(whole, 8) == whole


def test_a_limit_keeps_the_share_of_the_updates_after_the_last_step() -> None:
    (stage,) = limit_updates(find_recipe("cheong/magnitude-80-percent"), 450).stages
    assert stage.prune
    (pruning,) = stage.prune
    assert isinstance(pruning, Magnitude)
    assert (pruning.steps, pruning.period) == (9, 45)  # 9 steps of 200 in 2,000 updates before
