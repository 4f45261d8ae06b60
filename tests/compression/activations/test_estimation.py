"""Recipes with activations quantized within trained ranges: delay, validation, resuming and refused recipes."""

import dataclasses
from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch

import pocketmt.compression.stage as stage_module
from pocketmt.compression.activations.estimation import build_network, estimate_ranges
from pocketmt.compression.activations.fully_quantized import QuantizedLayerNorm, ranges
from pocketmt.compression.planning import make_plan
from pocketmt.compression.stage_result import StageResult
from pocketmt.errors import ConfigurationError, DataError
from pocketmt.model_file.activations.activation_ranges import BUCKETED
from pocketmt.models.network import TranslationNetwork
from pocketmt.models.networks import make_network
from pocketmt.quantization.row_groups import decoded_weights
from pocketmt.recipes.activations import NAIVE, STRATEGY
from pocketmt.recipes.schema import Activations, limit_updates
from pocketmt.training.data import Batch, PairEncoder, corpus_for
from pocketmt.training.objectives import TranslationObjective
from pocketmt.training.steps import DivergedError
from pocketmt.training.trained_model import TrainedModel, read_trained_model
from pocketmt.training.validation import Validation, validate
from tests.compression.tiny_run import (
    Uninterrupted,
    assert_equal,
    compress,
    events,
    recipe,
    stop_at_update,
    write_tiny_run,
)
from tests.small_network import architecture

QUANTIZE = [{"matrices": ["*"], "scheme": "affine", "bits": 8}]
BINARY = [{"matrices": ["*"], "scheme": "binary", "bits": 2}]
RETRAINING = {
    "method": "straight_through",
    "updates": 7,
    "learning_rate": {"rate": 3e-3},
    "validate_every": 3,
    "checkpoint_every": 2,
}


@pytest.fixture(scope="module")
def tiny_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_run(tmp_path_factory.mktemp("tiny"))


def during_training(**activations: Any) -> dict[str, Any]:
    return {"quantize": QUANTIZE, "activations": {"bits": 8, "delay": 2, **activations}, "retraining": RETRAINING}


def after_training(**activations: Any) -> dict[str, Any]:
    return {"quantize": QUANTIZE, "activations": {"bits": 8, "batches": 3, "trials": 4, **activations}}


def assert_same(left: StageResult, right: StageResult) -> None:
    assert_equal(left, right)
    assert left.ranges.keys() == right.ranges.keys()
    assert all(torch.equal(tensor, right.ranges[name]) for name, tensor in left.ranges.items())


def is_quantized(network: TranslationNetwork) -> bool:
    """Whether the embedding is quantized by BINARY: no row has more than four values."""
    return all(len(row.unique()) <= 4 for row in network.embedding.weight.detach())


def forward_passes(
    stages: list[dict[str, Any]], model: TrainedModel, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> list[tuple[bool, bool]]:
    """Run a recipe; returns for each update whether the forward pass quantized activations, and whether weights."""
    seen: list[tuple[bool, bool]] = []
    loss = TranslationObjective.__call__

    def watching(objective: TranslationObjective, batch: Batch) -> Any:
        network: Any = objective.model.module
        norms = [module for module in network.modules() if isinstance(module, QuantizedLayerNorm)]
        quantizing = {each.quantizing for _, each in ranges(network)} | {norm.quantizing for norm in norms}
        assert len(quantizing) == 1
        seen.append((*quantizing, is_quantized(network)))  # type: ignore[arg-type]
        computed = loss(objective, batch)
        assert int(network.state_dict()["encoder.input.estimates"]) == len(seen)
        return computed

    monkeypatch.setattr(TranslationObjective, "__call__", watching)
    compress(model, recipe(*stages), folder)
    return seen


def test_nothing_is_quantized_before_the_delay_is_over(
    tiny_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = {**during_training(delay=3), "quantize": BINARY}
    seen = forward_passes([stage], read_trained_model(tiny_run), tmp_path / "work", monkeypatch)
    assert seen == [(False, False)] * 3 + [(True, True)] * 4


def test_matrices_of_earlier_stages_stay_quantized_during_the_delay(
    tiny_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stages: list[dict[str, Any]] = [
        {"quantize": BINARY},
        {"activations": {"bits": 8, "delay": 2}, "retraining": RETRAINING},
    ]
    seen = forward_passes(stages, read_trained_model(tiny_run), tmp_path / "work", monkeypatch)
    assert seen == [(False, True)] * 2 + [(True, True)] * 5


@pytest.mark.parametrize("stage", [during_training(), after_training()], ids=["during training", "after training"])
def test_validation_scores_the_quantized_network_and_leaves_its_ranges_alone(
    tiny_run: Path, tmp_path: Path, stage: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    scored = 0

    def watching(network: TranslationNetwork, *arguments: Any) -> Validation:
        nonlocal scored
        scored += 1
        before = {name: (each.minimum.clone(), each.maximum.clone()) for name, each in ranges(network)}
        assert before
        assert all(each.quantizing and each.estimates for _, each in ranges(network))
        assert is_quantized(network)
        scores = validate(network, *arguments)
        for name, each in ranges(network):
            assert torch.equal(each.minimum, before[name][0]) and torch.equal(each.maximum, before[name][1]), name
        return scores

    monkeypatch.setattr(stage_module, "validate", watching)
    compress(read_trained_model(tiny_run), recipe({**stage, "quantize": BINARY}), tmp_path / "work")
    logged = [event for event in events(tmp_path / "work") if event["event"] == "validation"]
    assert scored == len(logged) == 4
    if "retraining" in stage:
        assert [event["update"] for event in logged] == [2, 3, 6, 7]  # the first after the delay


def test_the_stage_result_computes_what_was_scored(tiny_run: Path, tmp_path: Path) -> None:
    model = read_trained_model(tiny_run)
    plan = recipe(during_training(bits=4))
    result, groups = compress(model, plan, tmp_path / "work")
    settings = make_plan(plan, model.architecture).stages[-1].activations
    network = build_network(model.architecture, settings)
    network.load_state_dict({**decoded_weights(result.weights, result.quantized, groups), **result.ranges})
    assert model.configuration is not None
    corpus = corpus_for(model.configuration.data, PairEncoder(model.vocabularies))
    scores = validate(network, corpus, model.configuration.training.batch_tokens * 4)
    assert {"loss": scores.loss, "bleu": scores.bleu}.items() <= result.scores.items()
    plain = make_network(model.architecture)
    plain.load_state_dict(decoded_weights(result.weights, result.quantized, groups))
    assert validate(plain, corpus, 400).loss != pytest.approx(scores.loss, rel=1e-3)


@pytest.mark.parametrize("stopped", range(1, 10, 2))
def test_stopped_at_any_update_it_resumes_to_the_same_result(
    tiny_run: Path, tmp_path: Path, stopped: int, uninterrupted: Uninterrupted, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = read_trained_model(tiny_run)
    plan = recipe(during_training(), {"retraining": {**RETRAINING, "updates": 3}})
    whole, log = uninterrupted.compress(model, plan)
    stop_at_update(stopped, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        compress(model, plan, tmp_path / "stopped")
    resumed, _ = compress(model, plan, tmp_path / "stopped")
    assert_same(whole, resumed)
    assert events(log) == events(tmp_path / "stopped")


def test_a_seed_of_any_size_is_accepted(tiny_run: Path, tmp_path: Path) -> None:
    plan = msgspec.structs.replace(recipe(after_training(bits=4)), seed=20261127123456)
    result, _ = compress(read_trained_model(tiny_run), plan, tmp_path / "work")
    assert result.ranges


def test_estimation_after_training_keeps_weights_and_the_best_trial(tiny_run: Path, tmp_path: Path) -> None:
    model = read_trained_model(tiny_run)
    result, _ = compress(model, recipe(after_training(bits=4)), tmp_path / "work")
    assert all(torch.equal(weight, model.weights[name]) for name, weight in result.weights.items())
    trials = [event for event in events(tmp_path / "work") if event["event"] == "validation"]
    assert [event["trial"] for event in trials] == [0, 1, 2, 3]
    assert len({event["loss"] for event in trials}) == 4
    best = min(trials, key=lambda event: event["loss"])
    assert result.scores["trial"] == best["trial"]
    assert result.scores["loss"] == best["loss"]
    assert all(int(value) >= 3 for name, value in result.ranges.items() if name.endswith("estimates"))


@pytest.mark.parametrize("stopped", [0, 1, 3])
def test_only_an_interrupted_trial_is_repeated(
    tiny_run: Path, tmp_path: Path, stopped: int, uninterrupted: Uninterrupted, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = read_trained_model(tiny_run)
    plan = recipe(after_training(bits=4), {"retraining": RETRAINING})
    whole, log = uninterrupted.compress(model, plan)
    begun = 0

    def stopping(*arguments: Any) -> None:
        nonlocal begun
        begun += 1
        estimate_ranges(*arguments)
        if begun == stopped + 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(stage_module, "estimate_ranges", stopping)
    with pytest.raises(KeyboardInterrupt):
        compress(model, plan, tmp_path / "stopped")
    resumed, _ = compress(model, plan, tmp_path / "stopped")
    assert begun == 4 + 1
    assert_same(whole, resumed)
    assert events(log) == events(tmp_path / "stopped")


def test_a_later_stage_keeps_the_ranges(tiny_run: Path, tmp_path: Path) -> None:
    model = read_trained_model(tiny_run)
    first, _ = compress(model, recipe(after_training()), tmp_path / "first")
    second, _ = compress(model, recipe(after_training(), {"retraining": RETRAINING}), tmp_path / "second")
    name = "encoder.input.estimates"
    assert first.ranges.keys() == second.ranges.keys()
    assert int(second.ranges[name]) == int(first.ranges[name]) + int(second.scores["update"])


def test_activations_can_be_quantized_without_weights(tiny_run: Path, tmp_path: Path) -> None:
    # As in Prato et al. 2020, Table 3: one operation, weights in full precision.
    activations = {"bits": 8, "operations": ["relu_output"], "delay": 1}
    stage = {"activations": activations, "retraining": {**RETRAINING, "method": "none"}}
    result, groups = compress(read_trained_model(tiny_run), recipe(stage), tmp_path / "work")
    assert not groups
    assert {name.rpartition(".")[0] for name in result.ranges} == {
        f"{stack}.layers.0.feed_forward.activation.1" for stack in ("encoder", "decoder")
    }


def test_in_comparisons_the_kept_update_is_a_quantized_one(tiny_run: Path, tmp_path: Path) -> None:
    stage = during_training(delay=2)
    stage["retraining"] = {**RETRAINING, "learning_rate": {"rate": 10}, "validate_every": 1, "updates": 4}
    result, _ = compress(read_trained_model(tiny_run), recipe(stage), tmp_path / "free")
    stage["retraining"]["keep_start"] = False
    compared, _ = compress(read_trained_model(tiny_run), recipe(stage), tmp_path / "compared")
    assert result.scores["update"] <= 2 < compared.scores["update"]


def test_divergence_in_a_comparison_leaves_what_began_it(tiny_run: Path, tmp_path: Path) -> None:
    stage = during_training(delay=1)
    stage["retraining"] = {**RETRAINING, "learning_rate": {"rate": 1e30}, "keep_start": False, "validate_every": 9}
    result, _ = compress(read_trained_model(tiny_run), recipe(stage), tmp_path / "work")
    assert result.scores["update"] == 1
    assert [event["event"] for event in events(tmp_path / "work")][-1] == "diverged"


def test_divergence_before_the_first_validation_is_an_error(tiny_run: Path, tmp_path: Path) -> None:
    stage = during_training(delay=5)
    stage["retraining"] = {**RETRAINING, "learning_rate": {"rate": 1e30}, "validate_every": 9}
    with pytest.raises(DivergedError, match="before its first validation: lower"):
        compress(read_trained_model(tiny_run), recipe(stage), tmp_path / "work")


def test_estimation_without_text_is_refused(tiny_run: Path, tmp_path: Path) -> None:
    model = dataclasses.replace(read_trained_model(tiny_run), configuration=None)
    with pytest.raises(DataError, match="the recipe needs text, but none is known"):
        compress(model, recipe(after_training()), tmp_path / "work")
    assert not (tmp_path / "work").exists()


@pytest.mark.usefixtures("quick_processes")
def test_two_processes_retrain_by_the_same_code(tiny_run: Path, tmp_path: Path) -> None:
    model = read_trained_model(tiny_run)
    assert model.configuration is not None
    training = msgspec.structs.replace(model.configuration.training, devices=2)
    model = dataclasses.replace(model, configuration=msgspec.structs.replace(model.configuration, training=training))
    result, _ = compress(model, recipe(after_training(), {"retraining": RETRAINING}), tmp_path / "work")
    assert "bleu" in result.scores


@pytest.mark.parametrize(
    ("activations", "operations", "bucketed", "clamped_gradient"),
    [
        ({}, STRATEGY, BUCKETED, ("layer_norm_denominator",)),
        ({"operations": "naive", "bucketed": False, "clamped_gradient": False}, NAIVE, (), ()),
        (
            {"operations": ["relu_output", "query_key_value"], "bucketed": ["query_key_value"]},
            ("relu_output", "query_key_value"),
            ("query_key_value",),
            ("layer_norm_denominator",),
        ),
        ({"clamped_gradient": True}, STRATEGY, BUCKETED, NAIVE),
    ],
)
def test_settings_are_what_the_recipe_says(
    activations: dict[str, Any],
    operations: tuple[str, ...],
    bucketed: tuple[str, ...],
    clamped_gradient: tuple[str, ...],
) -> None:
    (stage,) = make_plan(recipe(during_training(**activations)), architecture()).stages
    assert stage.activations is not None
    assert stage.activations.operations == operations
    assert stage.activations.bucketed == bucketed
    assert stage.activations.clamped_gradient == clamped_gradient


def test_a_quick_run_still_quantizes() -> None:
    limited = limit_updates(recipe({**during_training(delay=6)}, {"retraining": RETRAINING}), 3)
    first, _ = make_plan(limited, architecture()).stages
    assert first.estimation is not None and first.estimation.delay == 1
    (stage,) = limit_updates(recipe(after_training()), 2).stages
    assert isinstance(stage.activations, Activations)
    assert (stage.activations.batches, stage.activations.trials) == (2, 2)


ERROR_FEEDBACK = {**RETRAINING, "method": "error_feedback"}


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        ([during_training(operations=["softmax"])], r"stages\[0\].activations: unknown operation 'softmax': choose"),
        ([during_training(clamped_gradient=["softmax"])], r"stages\[0\].activations: unknown operation 'softmax'"),
        ([during_training(bucketed=["residual_sum"])], r"'residual_sum' cannot have buckets: choose among"),
        (
            [during_training(modules=["encoder.*", "encodr.*"])],
            r"stages\[0\].activations.modules: 'encodr.\*' matches no place .* such as 'decoder.",
        ),
        (
            [during_training(operations=["relu_output"], modules=["*norm*"])],
            r"activations.modules: '\*norm\*' matches no",
        ),
        (
            [during_training(operations=["relu_output"], clamped_gradient=["softmax_output"])],
            r"activations.clamped_gradient: 'softmax_output' is not among the operations",
        ),
        (
            [during_training(operations=["relu_output"], bucketed=["query_key_value"])],
            r"activations.bucketed: 'query_key_value' is not among the operations",
        ),
        ([during_training(delay=7)], r"delay: quantization would start after 7 of 7 updates"),
        ([during_training(delay=None)], r"delay: quantization would start after 100 of 7 updates"),
        ([during_training(trials=3)], r"batches and trials are for quantization after training"),
        ([after_training(delay=3)], r"stages\[0\].activations.delay: it counts updates of retraining"),
        ([during_training(), during_training()], r"stages\[1\].quantize\[0\]: embedding.weight already has a scheme"),
        (
            [after_training(), {"activations": {"bits": 8}}],
            r"stages\[1\].activations: an earlier stage quantizes activations",
        ),
        ([{**during_training(), "retraining": ERROR_FEEDBACK}], r"stages\[0\].retraining: .* 'straight_through'"),
        ([after_training(), {"retraining": ERROR_FEEDBACK}], r"stages\[1\].retraining: .* 'straight_through'"),
        (
            [{**after_training(), "retraining": {"method": "error_compensation"}}],
            r"stages\[0\].activations: batches and trials",
        ),
        (
            [{"quantize": QUANTIZE, "activations": {"bits": 8}, "retraining": {"method": "error_compensation"}}],
            r"stages\[0\].retraining: .* 'straight_through'",
        ),
    ],
)
def test_invalid_stages_are_refused(stages: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        make_plan(recipe(*stages), architecture())


@pytest.mark.parametrize("change", [{"bits": 9}, {"bits": 1}, {"operations": "all"}, {"delays": 3}, {"trials": 0}])
def test_invalid_settings_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError, match=r"activations"):
        recipe(during_training(**change))
