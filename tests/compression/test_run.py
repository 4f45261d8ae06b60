"""Recipes on a small network: results are quantized, resuming is exact, controls train in full precision."""

import dataclasses
import math
import os
import shutil
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch

import pocketmt.compression.stage as stage_module
from pocketmt.compression.choosing.allocation import Target
from pocketmt.compression.choosing.target import compress_run_to
from pocketmt.compression.run import CompressionTask, compress_run, score_run
from pocketmt.cores import available_cores
from pocketmt.errors import ConfigurationError, DataError, ModelFileError
from pocketmt.folder_lock import LockedError, locked
from pocketmt.quantization import fake_quantize
from pocketmt.quantization.registry import scheme_from_options
from pocketmt.quantization.row_groups import decoded_weights
from pocketmt.recipes.schema import Recipe, Retraining
from pocketmt.training.checkpoints import load_weights, save_weights
from pocketmt.training.configuration import Model
from pocketmt.training.trained_model import read_trained_model
from pocketmt.training.validation import Validation
from tests.compression.tiny_run import (
    RATE,
    Uninterrupted,
    assert_equal,
    compress,
    events,
    one_stage,
    recipe,
    stop_at_update,
    write_tiny_run,
)

MIXED_STAGES: list[dict[str, Any]] = [
    {
        "quantize": [
            {"matrices": ["embedding"], "scheme": "binary", "bits": 3, "frequency_ratio": 2},
        ],
        "retraining": {"method": "periodic", "period": 2, "updates": 5, "learning_rate": RATE, "checkpoint_every": 2},
    },
    {
        "quantize": [
            {"matrices": ["decoder.*"], "scheme": "binary", "bits": 2, "options": {"method": "greedy"}},
            {"matrices": ["encoder.self_attention"], "scheme": "logarithmic", "bits": 4, "granularity": "matrix"},
        ],
        "retraining": {
            "method": "error_feedback",
            "updates": 7,
            "learning_rate": RATE,
            "validate_every": 3,
            "checkpoint_every": 2,
            "refit_every": 3,
            "objective": "mixed",
        },
    },
]


@pytest.fixture(scope="module")
def tiny_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_run(tmp_path_factory.mktemp("tiny"))


def test_without_retraining_every_matrix_is_quantized_by_its_scheme(tiny_run: Path, tmp_path: Path) -> None:
    model = read_trained_model(tiny_run)
    result, groups = compress(
        model, recipe({"quantize": [{"matrices": ["*"], "scheme": "uniform", "bits": 8}]}), tmp_path / "work"
    )
    uniform = scheme_from_options("uniform", bits=8)
    for name, weight in decoded_weights(result.weights, result.quantized, groups).items():
        original = model.weights[name]
        assert torch.equal(weight, fake_quantize(uniform, original) if original.dim() == 2 else original), name
    assert [event["event"] for event in events(tmp_path / "work")] == ["start", "validation"]


@pytest.mark.parametrize(
    "plan",
    [
        one_stage("logarithmic", 4, method="straight_through", refit_every=3),
        one_stage("binarization_flexible", 1, ["encoder.*"], method="straight_through", parameters="trained"),
        one_stage("codebook", 2, method="trained_parameters", objective="word_distillation"),
        one_stage("logarithmic", 4, method="error_feedback"),
        one_stage("binary", 2, method="periodic", period=2),
    ],
    ids=lambda plan: type(plan.stages[0].retraining).__name__,
)
def test_each_method_lowers_the_loss_and_ends_with_quantized_weights(
    tiny_run: Path, tmp_path: Path, plan: Recipe
) -> None:
    model = read_trained_model(tiny_run)
    result, groups = compress(model, plan, tmp_path / "work")
    weights = decoded_weights(result.weights, result.quantized, groups)
    assert result.scores["update"] == 4  # it learns, so the last validation is the best
    for name, matrix in result.quantized.items():
        assert not torch.equal(weights[name], fake_quantize(groups[name][0].scheme, model.weights[name]))
        assert len(matrix[0].codes) == len(model.weights[name])
        if groups[name][0].scheme.granularity == "matrix":
            assert len(set(weights[name].flatten().tolist())) <= 2 ** groups[name][0].scheme.bits
    moved = [name for name, weight in weights.items() if not torch.equal(weight, model.weights[name])]
    assert set(moved) == set(weights)


def test_dropout_scale_is_a_factor_of_the_rates_of_the_run(tiny_run: Path, tmp_path: Path) -> None:
    model = read_trained_model(tiny_run)
    assert model.configuration is not None and model.configuration.model.dropout == 0.1
    without = msgspec.structs.replace(model.configuration, model=Model(dropout=0.0))
    plain, scaled = (one_stage("uniform", 8, method="straight_through", dropout_scale=scale) for scale in (1.0, 0.0))
    never, _ = compress(dataclasses.replace(model, configuration=without), plain, tmp_path / "never")
    switched_off, _ = compress(model, scaled, tmp_path / "off")
    with_dropout, _ = compress(model, plain, tmp_path / "with")
    assert_equal(never, switched_off)
    assert with_dropout.scores != never.scores


@pytest.mark.parametrize("objective", ["references", "word_distillation"])
def test_mixed_precision_learns_as_float32_does_within_bfloat16_rounding(
    tiny_run: Path, tmp_path: Path, objective: str
) -> None:
    model = read_trained_model(tiny_run)
    losses = {}
    for precision in ("float32", "bfloat16-mixed"):
        plan = one_stage("logarithmic", 4, method="straight_through", precision=precision, objective=objective)
        result, groups = compress(model, plan, tmp_path / precision)
        assert all(weight.dtype is torch.float32 for weight in result.weights.values())
        decoded = decoded_weights(result.weights, result.quantized, groups)
        assert len(set(decoded["embedding.weight"][0].tolist())) <= 16
        losses[precision] = result.scores["loss"]
    assert losses["float32"] != losses["bfloat16-mixed"]
    assert losses["float32"] == pytest.approx(losses["bfloat16-mixed"], rel=0.01)


@pytest.mark.parametrize("stopped", range(1, 12, 2))
def test_stopped_at_any_update_it_resumes_to_the_same_result(
    tiny_run: Path, tmp_path: Path, stopped: int, uninterrupted: Uninterrupted, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = read_trained_model(tiny_run)
    plan = recipe(*MIXED_STAGES)
    whole, log = uninterrupted.compress(model, plan)
    stop_at_update(stopped, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        compress(model, plan, tmp_path / "stopped")
    resumed, _ = compress(model, plan, tmp_path / "stopped")
    assert_equal(whole, resumed)
    assert events(log) == events(tmp_path / "stopped")


@pytest.mark.parametrize(
    "retraining",
    [
        {"method": "straight_through", "refit_every": 3},
        {"method": "straight_through", "parameters": "trained"},
        {"method": "trained_parameters"},
    ],
)
def test_the_state_of_each_method_is_resumed(
    tiny_run: Path, tmp_path: Path, retraining: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = read_trained_model(tiny_run)
    plan = one_stage("codebook", 2, updates=6, checkpoint_every=2, **retraining)
    whole, _ = compress(model, plan, tmp_path / "whole")
    validate = stage_module.StageRun.validate
    with monkeypatch.context() as stopping, pytest.raises(ZeroDivisionError):
        stopping.setattr(
            stage_module.StageRun, "validate", lambda run: validate(run) if run.progress.update < 6 else 1 / 0
        )
        compress(model, plan, tmp_path / "stopped")
    resumed, _ = compress(model, plan, tmp_path / "stopped")
    assert_equal(whole, resumed)


@pytest.mark.parametrize(
    ("losses", "best"),
    [([5.0, 3.0, 3.1], 2), ([5.0, 3.1, 3.0], 4), ([3.0, 3.0, 5.0], 0), ([math.nan] * 3, 0), ([math.nan, 9.0, 8.9], 4)],
)
def test_the_validation_with_the_lowest_loss_is_kept_whatever_its_bleu(
    tiny_run: Path, tmp_path: Path, losses: list[float], best: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    validations = iter([Validation(loss, bleu) for loss, bleu in zip(losses, [30.0, 10.0, 20.0], strict=True)])
    monkeypatch.setattr(stage_module, "validate", lambda *arguments: next(validations))
    plan = one_stage("uniform", 8, method="straight_through", validate_every=2)
    result, _ = compress(read_trained_model(tiny_run), plan, tmp_path / "work")
    assert result.scores["update"] == best


def test_the_log_is_json_where_a_validation_is_not_finite(
    tiny_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    validations = iter([Validation(math.nan, 0.0), Validation(math.inf, 0.0), Validation(2.0, 0.0)])
    monkeypatch.setattr(stage_module, "validate", lambda *arguments: next(validations))
    plan = one_stage("uniform", 8, method="straight_through", validate_every=2)
    result, _ = compress(read_trained_model(tiny_run), plan, tmp_path / "work")
    assert result.scores["loss"] == 2.0
    log = (tmp_path / "work" / "log.jsonl").read_text()
    assert "Infinity" not in log and "NaN" not in log
    assert [event["loss"] for event in events(tmp_path / "work") if event["event"] == "validation"] == [None, None, 2.0]


def test_a_finished_compression_is_not_repeated(tiny_run: Path, tmp_path: Path) -> None:
    model = read_trained_model(tiny_run)
    plan = one_stage("uniform", 8, method="straight_through")
    first, _ = compress(model, plan, tmp_path / "work")
    before = (tmp_path / "work" / "checkpoint.pt").stat().st_mtime_ns
    second, _ = compress(model, plan, tmp_path / "work")
    assert_equal(first, second)
    assert (tmp_path / "work" / "checkpoint.pt").stat().st_mtime_ns == before


def test_what_a_killed_compression_has_left_unfinished_is_removed(tiny_run: Path, tmp_path: Path) -> None:
    task = CompressionTask(run=tiny_run, folder=tmp_path / "work")
    plan = recipe({"quantize": [{"matrices": ["*"], "scheme": "uniform", "bits": 8}]})
    for name in (".best.0.pt", "translations/.teacher.pocketmt", "smaller/translations/.teacher.pocketmt", ".mine"):
        unfinished = tmp_path / "work" / f"{name}.0a1b2c3d.unfinished"
        unfinished.parent.mkdir(parents=True, exist_ok=True)
        unfinished.touch()
    compress_run(task, plan, tmp_path / "out.pocketmt")
    assert [path.name for path in (tmp_path / "work").rglob("*.unfinished")] == [".mine.0a1b2c3d.unfinished"]


def test_the_control_trains_in_full_precision(tiny_run: Path, tmp_path: Path) -> None:
    model = read_trained_model(tiny_run)
    plan = recipe({"retraining": {"method": "none", "updates": 3, "learning_rate": RATE}})
    result, groups = compress(model, plan, tmp_path / "work")
    assert not result.quantized and not groups
    assert all(not torch.equal(weight, model.weights[name]) for name, weight in result.weights.items())


def test_after_divergence_the_best_validation_is_kept(tiny_run: Path, tmp_path: Path) -> None:
    model = read_trained_model(tiny_run)
    plan = one_stage("uniform", 8, method="straight_through", updates=9, learning_rate={"rate": 1e30})
    result, _ = compress(model, plan, tmp_path / "work")
    assert [event["event"] for event in events(tmp_path / "work")] == ["start", "validation", "diverged"]
    assert result.scores["update"] == 0
    assert all(bool(weight.isfinite().all()) for weight in result.weights.values())


@pytest.mark.parametrize("keep_start", [True, False])
def test_a_worse_retrained_network_is_kept_only_where_the_recipe_says_so(
    tiny_run: Path, tmp_path: Path, keep_start: bool
) -> None:
    # The rate is so high that training only makes it worse.
    settings: dict[str, Any] = {"learning_rate": {"rate": 10}, "validate_every": 2, "keep_start": keep_start}
    result, _ = compress(
        read_trained_model(tiny_run), one_stage("uniform", 8, method="straight_through", **settings), tmp_path / "work"
    )
    losses = {event["update"]: event["loss"] for event in events(tmp_path / "work") if event["event"] == "validation"}
    assert losses[0] < min(losses[2], losses[4])
    kept = 0 if keep_start else min((2, 4), key=lambda update: losses[update])
    assert result.scores["update"] == kept


def test_the_folder_of_another_compression_is_refused(tiny_run: Path, tmp_path: Path) -> None:
    model = read_trained_model(tiny_run)
    compress(model, one_stage("uniform", 8, method="straight_through"), tmp_path / "work")
    with pytest.raises(ConfigurationError, match="another recipe or of another model"):
        compress(model, one_stage("uniform", 8, method="straight_through", batch_tokens=50), tmp_path / "work")
    with pytest.raises(ConfigurationError, match=r"another recipe or of another model.*updates is 4 there and 3 here"):
        compress(model, one_stage("uniform", 8, method="straight_through", updates=3), tmp_path / "work")
    falling = {"rate": 3e-3, "schedule": "linear"}
    for updates in (4, 5):
        plan = one_stage("uniform", 8, method="straight_through", updates=updates, learning_rate=falling)
        with pytest.raises(ConfigurationError, match="another recipe") if updates == 5 else nullcontext():
            compress(model, plan, tmp_path / "falling")


def test_a_finished_compression_is_extended_to_the_same_result(tiny_run: Path, tmp_path: Path) -> None:
    model = read_trained_model(tiny_run)
    assert model.configuration is not None
    settings: dict[str, Any] = {"method": "straight_through", "validate_every": 3}
    compress(model, one_stage("uniform", 8, updates=3, **settings), tmp_path / "extended")
    # How long the model itself was trained does not change how it is compressed.
    training = msgspec.structs.replace(model.configuration.training, maximum_updates=7)
    configuration = msgspec.structs.replace(model.configuration, training=training)
    later = dataclasses.replace(model, configuration=configuration)
    longer = one_stage("uniform", 8, updates=6, **settings)
    longer = msgspec.structs.replace(longer, paper="Table 3", description="described better")
    extended, _ = compress(later, longer, tmp_path / "extended")
    whole, _ = compress(model, one_stage("uniform", 8, updates=6, **settings), tmp_path / "whole")
    assert_equal(extended, whole)
    assert events(tmp_path / "extended") == events(tmp_path / "whole")


def test_a_refused_compression_leaves_nothing(tiny_run: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty.en"
    empty.write_text("\n")
    sequence = one_stage("uniform", 8, method="straight_through", objective="sequence_distillation")
    task = CompressionTask(run=tiny_run, folder=tmp_path / "work", source_text=empty)
    with pytest.raises(DataError, match="every line is empty"):
        compress_run(task, sequence, tmp_path / "out.pocketmt")
    assert os.listdir(tmp_path) == ["empty.en"]
    plan = one_stage("uniform", 8, method="straight_through", updates=2)
    task = dataclasses.replace(task, source_text=None)
    assert compress_run(task, plan, tmp_path / "out.pocketmt") > 0


def test_a_locked_folder_is_refused(tiny_run: Path, tmp_path: Path) -> None:
    task = CompressionTask(run=tiny_run, folder=tmp_path / "work")
    plan = one_stage("uniform", 8, method="straight_through", updates=2)
    target = Target(loss_increase=0.1)
    with locked(tmp_path / "work"):
        with pytest.raises(LockedError, match=rf"in use by process {os.getpid()} on"):
            compress_run(task, plan, tmp_path / "out.pocketmt")
        with pytest.raises(LockedError):
            score_run(task, plan)
        with pytest.raises(LockedError):
            compress_run_to(target, task, tmp_path / "out.pocketmt")
    assert os.listdir(tmp_path) == []


def test_without_text_only_stages_that_need_none_run(tiny_run: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(tiny_run, run)
    (run / "configuration.json").unlink()
    model = read_trained_model(run)
    after_training = recipe({"quantize": [{"matrices": ["*"], "scheme": "affine", "bits": 4}]})
    result, _ = compress(model, after_training, tmp_path / "work")
    assert "bleu" not in result.scores
    with pytest.raises(DataError, match="the recipe needs text, but none is known"):
        compress(model, one_stage("uniform", 8, method="straight_through"), tmp_path / "another")
    clusters = {"matrices": ["embedding"], "scheme": "binary", "bits": 2, "frequency_ratio": 2}
    with pytest.raises(DataError, match="the recipe needs text, but none is known"):
        compress(model, recipe({"quantize": [clusters]}), tmp_path / "another")
    assert not (tmp_path / "another").exists()


def test_weights_that_are_not_finite_are_refused(tiny_run: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(tiny_run, run)
    weights, metadata = load_weights(run / "model.safetensors")
    weights["embedding.weight"][3, 2] = float("nan")
    save_weights(run / "model.safetensors", weights, metadata)
    with pytest.raises(ModelFileError, match=r"model\.safetensors: .*embedding\.weight.* NaN"):
        read_trained_model(run)


@pytest.mark.parametrize(
    ("change", "message"),
    [({"type": "gru"}, "'gru', expected 'transformer' or 'lstm'"), ({"encoder_layers": 2}, "is missing")],
)
def test_another_architecture_is_refused(tiny_run: Path, tmp_path: Path, change: dict[str, Any], message: str) -> None:
    run = tmp_path / "run"
    shutil.copytree(tiny_run, run)
    weights, metadata = load_weights(run / "model.safetensors")
    metadata["architecture"] |= change
    save_weights(run / "model.safetensors", weights, metadata)
    with pytest.raises((ConfigurationError, ModelFileError), match=message):
        read_trained_model(run)


def test_retraining_types_are_all_tested() -> None:
    # A new method must be added to the tests above.
    assert {each.__struct_config__.tag for each in Retraining.__args__} == {
        "none",
        "straight_through",
        "trained_parameters",
        "error_feedback",
        "periodic",
    }


@pytest.mark.skipif(available_cores() == 1, reason="this process has one core, on which one device is used")
@pytest.mark.usefixtures("quick_processes")
@pytest.mark.parametrize("method", ["straight_through", "trained_parameters", "error_feedback"])
def test_two_processes_retrain_by_the_same_code(tiny_run: Path, tmp_path: Path, method: str) -> None:
    model = read_trained_model(tiny_run)
    assert model.configuration is not None
    training = msgspec.structs.replace(model.configuration.training, devices=2)
    model = dataclasses.replace(model, configuration=msgspec.structs.replace(model.configuration, training=training))
    result, groups = compress(model, one_stage("codebook", 2, method=method), tmp_path / "work")
    assert result.scores["update"] == 4
    weights = decoded_weights(result.weights, result.quantized, groups)
    assert all(len(set(weights[name].flatten().tolist())) <= 4 for name in groups)
