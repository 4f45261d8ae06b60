"""Recipes that train from random weights: the run provides sizes, text and the teacher, but no weights."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch

from pocketmt.compression.planning import make_plan
from pocketmt.compression.stage_result import StageResult
from pocketmt.errors import ConfigurationError, DataError
from pocketmt.models.networks import make_network
from pocketmt.recipes.schema import Recipe
from pocketmt.training.checkpoints import load_checkpoint, save_checkpoint
from pocketmt.training.trained_model import TrainedModel, read_trained_model
from tests.compression.tiny_run import assert_equal, compress, events, stop_at_update, write_tiny_run
from tests.small_network import architecture

LOG4 = [{"matrices": ["*"], "scheme": "logarithmic", "bits": 4}]
RETRAINING = {
    "method": "error_feedback",
    "updates": 5,
    "learning_rate": {"rate": 3e-3, "schedule": "inverse_square_root", "warmup_updates": 2},
    "checkpoint_every": 2,
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> TrainedModel:
    return read_trained_model(write_tiny_run(tmp_path_factory.mktemp("tiny")))


def recipe(*stages: dict[str, Any], start: str = "random", seed: int = 1) -> Recipe:
    return msgspec.convert({"name": "a test", "start": start, "seed": seed, "stages": list(stages)}, Recipe)


def log4(**retraining: Any) -> dict[str, Any]:
    return {"quantize": LOG4, "retraining": {**RETRAINING, **retraining}}


def with_weights_of(model: TrainedModel, seed: int) -> TrainedModel:
    torch.manual_seed(seed)
    return dataclasses.replace(model, weights=make_network(model.architecture).state_dict())


def same_weights(left: StageResult, right: StageResult) -> bool:
    return all(torch.equal(weight, right.weights[name]) for name, weight in left.weights.items())


def test_the_seed_determines_the_initial_weights(model: TrainedModel, tmp_path: Path) -> None:
    random, _ = compress(model, recipe(log4(), seed=7), tmp_path / "random")
    same, _ = compress(with_weights_of(model, 7), recipe(log4(), seed=7, start="trained"), tmp_path / "same")
    assert_equal(random, same)


def test_the_weights_of_the_run_are_not_used(model: TrainedModel, tmp_path: Path) -> None:
    first, _ = compress(model, recipe(log4()), tmp_path / "first")
    second, _ = compress(with_weights_of(model, 5), recipe(log4()), tmp_path / "second")
    assert_equal(first, second)
    another, _ = compress(model, recipe(log4(), seed=2), tmp_path / "another")
    assert not same_weights(first, another)


def test_the_trained_model_is_the_teacher(model: TrainedModel, tmp_path: Path) -> None:
    taught = recipe(log4(objective="word_distillation"))
    first, _ = compress(model, taught, tmp_path / "first")
    second, _ = compress(with_weights_of(model, 5), taught, tmp_path / "second")
    assert not same_weights(first, second)


@pytest.mark.parametrize("stopped", [1, 2, 4, 6, 8])
def test_stopped_at_any_update_it_resumes_to_the_same_result(
    model: TrainedModel, tmp_path: Path, stopped: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    activations = {"bits": 8, "delay": 2}
    quantized = {
        "quantize": [{"matrices": ["*"], "scheme": "affine", "bits": 8}],
        "activations": activations,
        "retraining": {**RETRAINING, "method": "straight_through"},
    }
    plan = recipe({"retraining": {**RETRAINING, "method": "none", "updates": 3}}, quantized)
    whole, _ = compress(model, plan, tmp_path / "whole")
    stop_at_update(stopped, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        compress(model, plan, tmp_path / "stopped")
    resumed, _ = compress(model, plan, tmp_path / "stopped")
    assert_equal(whole, resumed)
    assert events(tmp_path / "whole") == events(tmp_path / "stopped")


def test_a_folder_written_before_a_key_existed_can_be_resumed(model: TrainedModel, tmp_path: Path) -> None:
    plan = recipe(log4(), start="trained")
    first, _ = compress(model, plan, tmp_path / "work")
    file = tmp_path / "work" / "compression.json"
    fingerprint = json.loads(file.read_text())
    del fingerprint["recipe"]["start"]
    file.write_text(json.dumps(fingerprint))
    again, _ = compress(model, plan, tmp_path / "work")
    assert_equal(first, again)
    with pytest.raises(ConfigurationError, match="another recipe or of another model"):
        compress(model, recipe(log4()), tmp_path / "work")
    file.write_text('{"recipe": ')
    with pytest.raises(ConfigurationError, match="another recipe or of another model"):
        compress(model, plan, tmp_path / "work")


def test_a_checkpoint_of_another_version_is_refused(model: TrainedModel, tmp_path: Path) -> None:
    plan = recipe(log4())
    compress(model, plan, tmp_path / "work")
    checkpoint = tmp_path / "work" / "checkpoint.pt"
    state = load_checkpoint(checkpoint)
    state["position"]["best_bleu"] = 3.0
    save_checkpoint(checkpoint, state)
    with pytest.raises(DataError, match=r"checkpoint\.pt: another version .*best_bleu.*: remove .*work to start again"):
        compress(model, plan, tmp_path / "work")


@pytest.mark.parametrize(
    "stages",
    [
        [{"quantize": LOG4}],
        [{"quantize": LOG4}, {"retraining": RETRAINING}],
        [{"quantize": LOG4, "retraining": {"method": "error_compensation"}}],
        [{"activations": {"bits": 8, "trials": 2}}],
    ],
)
def test_random_weights_are_trained_before_anything_else(stages: list[dict[str, Any]]) -> None:
    with pytest.raises(ConfigurationError, match=r"stages\[0\]: start is 'random', .* \[stages.retraining\]"):
        make_plan(recipe(*stages), architecture())
    make_plan(recipe(*stages, start="trained"), architecture())


def test_an_unknown_start_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="start"):
        recipe(log4(), start="zero")
