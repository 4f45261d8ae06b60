"""Pruning of feed-forward nodes (Prato et al. 2020, appendix B): estimates, stages, files and refused recipes."""

import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch
from torch import Tensor

from pocketmt.compression.planning import make_plan
from pocketmt.compression.pruning.nodes import node_maxima
from pocketmt.compression.pruning.sublayers import prunable_sublayers
from pocketmt.compression.run import CompressionTask, compress_run
from pocketmt.engine import Translator
from pocketmt.engine.loading import native_model
from pocketmt.errors import ConfigurationError, DataError
from pocketmt.model_file import open_model
from pocketmt.model_file.architecture import TransformerArchitecture
from pocketmt.model_file.report import inspect_model
from pocketmt.models.activations import ACTIVATIONS
from pocketmt.models.inputs import PADDING
from pocketmt.packing.reference.network import load_reference
from pocketmt.quantization import fake_quantize
from pocketmt.quantization.row_groups import decoded_weights
from pocketmt.training.checkpoints import load_weights, save_weights
from pocketmt.training.data import make_batch
from pocketmt.training.trained_model import TrainedModel, read_trained_model
from tests.compression.tiny_run import (
    Uninterrupted,
    assert_equal,
    compress,
    events,
    recipe,
    stop_at_update,
    write_tiny_run,
)
from tests.small_network import architecture, random_transformer

DEAD = [0, 3, 4, 20, 23]  # of 24 nodes
NODES = {"method": "feed_forward_nodes", "matrices": ["encoder.feed_forward"], "threshold": 0.025, "batches": 3}
INNER = "encoder.layers.0.feed_forward.inner"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose encoder has nodes that are never active but have ordinary weights."""
    run = write_tiny_run(tmp_path_factory.mktemp("tiny"))
    weights, metadata = load_weights(run / "model.safetensors")
    weights[f"{INNER}.bias"][DEAD] = -50.0
    save_weights(run / "model.safetensors", weights, metadata)
    return run


@pytest.fixture
def model(run: Path) -> TrainedModel:
    return read_trained_model(run)


def quantize(scheme: str, bits: int, **more: Any) -> dict[str, Any]:
    return {"quantize": [{"matrices": ["*"], "scheme": scheme, "bits": bits, **more}]}


def left() -> list[int]:
    return [node for node in range(24) if node not in DEAD]


@pytest.mark.parametrize(("norm", "activation"), [("pre", "relu"), ("post", "relu"), ("post", "swish")])
def test_maxima_are_of_activations_at_all_positions_of_the_text(norm: str, activation: str) -> None:
    shape = dataclasses.replace(architecture(norm), decoder_layers=2, tied_decoder_layers=True, activation=activation)
    activate = ACTIVATIONS[activation]()
    network = random_transformer(shape)
    layers = [each for each in prunable_sublayers(shape) if each.is_feed_forward]
    pairs = [([5, 6, 7, 8], [9, 10]), ([11], [12, 13, 14])]
    batches = [make_batch(pairs, shape, "cpu"), make_batch(pairs[1:], shape, "cpu")]
    found = node_maxima(network, layers, batches)
    expected: dict[str, Tensor] = {}
    for batch in batches:
        outputs: dict[str, list[Tensor]] = {each.name: [] for each in layers}
        for name, seen in outputs.items():
            network.get_submodule(f"{name}.inner").register_forward_hook(lambda *each, seen=seen: seen.append(each[2]))
        network(batch.source, batch.target_inputs)
        for name, seen in outputs.items():
            tokens = batch.source if name.startswith("encoder") else batch.target_inputs
            text = [(row, column) for row, column in (tokens != PADDING).nonzero().tolist()]
            highest = torch.stack([activate(output[at]) for output in seen for at in text]).amax(dim=0)
            expected[name] = 0.9 * expected[name] + 0.1 * highest if name in expected else highest
    assert found.keys() == expected.keys()
    for name, maxima in found.items():
        torch.testing.assert_close(maxima, expected[name])


def test_only_inactive_nodes_are_removed(model: TrainedModel, tmp_path: Path) -> None:
    unpruned, _ = compress(model, recipe(quantize("uniform", 8)), tmp_path / "whole")
    result, groups = compress(model, recipe(quantize("uniform", 8), {"prune": [NODES]}), tmp_path / "work")
    for name, weight in result.weights.items():
        expected = model.weights[name]
        if name.startswith(INNER):
            expected = expected[left()]
        elif name == "encoder.layers.0.feed_forward.outer.weight":
            expected = expected[:, left()]
        assert torch.equal(weight, expected), name
    assert result.scores["loss"] == pytest.approx(unpruned.scores["loss"], rel=1e-6)
    assert len(decoded_weights(result.weights, result.quantized, groups)[f"{INNER}.weight"]) == 19
    assert [each for each in events(tmp_path / "work") if each["event"] == "pruned"] == [
        {"event": "pruned", "update": 0, "stage": 1, "name": "2", "encoder_feed_forward": [19]}
    ]


@pytest.mark.parametrize(
    ("scheme", "bits", "options"),
    [
        ("uniform", 8, {}),
        ("affine", 6, {"granularity": "row"}),
        ("affine", 4, {"granularity": "matrix"}),
        ("logarithmic", 4, {"granularity": "row"}),
        ("codebook", 3, {}),
        ("binary", 2, {}),
    ],
)
def test_slicing_keeps_codes_unchanged(
    model: TrainedModel, tmp_path: Path, scheme: str, bits: int, options: dict[str, Any]
) -> None:
    whole, groups = compress(model, recipe(quantize(scheme, bits, **options)), tmp_path / "whole")
    plan = recipe(quantize(scheme, bits, **options), {"prune": [{**NODES, "criterion": "weight_norm", **RATIO}]})
    result, pruned_groups = compress(model, plan, tmp_path / "work")
    weights = decoded_weights(whole.weights, whole.quantized, groups)
    pruned = decoded_weights(result.weights, result.quantized, pruned_groups)
    inner, outer = weights[f"{INNER}.weight"], weights["encoder.layers.0.feed_forward.outer.weight"]
    stay = sorted((inner.abs().sum(dim=1) + outer.abs().sum(dim=0)).argsort()[6:].tolist())
    assert torch.equal(pruned[f"{INNER}.weight"], inner[stay])
    assert torch.equal(pruned["encoder.layers.0.feed_forward.outer.weight"], outer[:, stay])
    assert torch.equal(pruned["embedding.weight"], weights["embedding.weight"])


RATIO = {"ratio": 0.27, "threshold": None, "batches": None}  # 6.48 of 24 nodes


def native_logits(path: Path, source: list[int], target: list[int]) -> Tensor:
    with open_model(path) as file:
        model = native_model(file)
    return torch.frombuffer(bytearray(model.logits(source, target)), dtype=torch.float32).view(len(target) + 1, -1)


@pytest.mark.parametrize(
    "stages",
    [
        [{"prune": [NODES]}],
        [quantize("uniform", 8), {"prune": [{**NODES, "matrices": ["*.feed_forward.*"], **RATIO}]}],
        [{"prune": [NODES], **quantize("logarithmic", 4)}],
        [{**quantize("affine", 8), "activations": {"bits": 8, "batches": 2, "trials": 2}}, {"prune": [NODES]}],
        [{"prune": [NODES]}, {**quantize("affine", 8), "activations": {"bits": 8, "batches": 2, "trials": 2}}],
    ],
    ids=["fp32", "fixed ratio of 8 bits", "4 bits", "fully quantized, then pruned", "pruned, then fully quantized"],
)
def test_the_engine_runs_the_smaller_network(run: Path, tmp_path: Path, stages: list[dict[str, Any]]) -> None:
    path = tmp_path / "model.pocketmt"
    compress_run(CompressionTask(run=run, folder=tmp_path / "work"), recipe(*stages), path)
    reference = load_reference(path)
    shape = reference.architecture
    assert isinstance(shape, TransformerArchitecture)
    assert shape.encoder_feed_forward in ((19,), (18,))
    assert len(reference.state_dict()["encoder.layers.0.feed_forward_norm.weight"]) == 16
    errors = []
    for source, target in (([5, 9, 7], [11, 12, 13]), ([8, 21], [6])):
        with torch.inference_mode():
            decoded = reference(torch.tensor([[*source, 2]]), torch.tensor([[1, *target]]))
            expected = reference.logits(decoded)[0]
        difference = native_logits(path, source, target) - expected
        errors.append((difference.abs() / expected.square().mean().sqrt()).flatten())
    assert torch.cat(errors).median() < 1e-5
    assert torch.cat(errors).max() < 10 / 127
    assert Translator(path).translate(["red cat"])
    report = inspect_model(path)
    assert f"encoder_feed_forward {list(shape.encoder_feed_forward)}" in report.to_text()
    assert json.loads(report.to_json())["architecture"]["encoder_feed_forward"]


def test_a_layer_whose_every_node_is_dead_keeps_one(run: Path, tmp_path: Path) -> None:
    model = read_trained_model(run)
    weights = {**model.weights, f"{INNER}.bias": torch.full((24,), -50.0)}
    weights[f"{INNER}.bias"][7] = 1.0
    result, _ = compress(
        dataclasses.replace(model, weights=weights),
        recipe({"prune": [{**NODES, "threshold": 1000.0}]}),
        tmp_path / "work",
    )
    assert torch.equal(result.weights[f"{INNER}.weight"], model.weights[f"{INNER}.weight"][7:8])


TRAINED = {
    "method": "straight_through",
    "updates": 4,
    "learning_rate": {"rate": 3e-3},
    "validate_every": 2,
    "checkpoint_every": 1,
}


@pytest.mark.parametrize("stopped", [4, 5, 8])
def test_stopped_at_any_update_it_resumes_to_the_same_result(
    model: TrainedModel, tmp_path: Path, stopped: int, uninterrupted: Uninterrupted, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = recipe(
        {"retraining": {**TRAINED, "method": "none"}},
        {"prune": [NODES, {**NODES, "matrices": ["decoder.feed_forward"], **RATIO}], **quantize("uniform", 8)},
        {"retraining": TRAINED},
    )
    whole, log = uninterrupted.compress(model, plan)
    stop_at_update(stopped, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        compress(model, plan, tmp_path / "stopped")
    resumed, _ = compress(model, plan, tmp_path / "stopped")
    assert_equal(whole, resumed)
    assert events(log) == events(tmp_path / "stopped")
    assert whole.weights["decoder.layers.0.feed_forward.inner.weight"].shape == (18, 16)


def test_a_run_stopped_before_its_first_checkpoint_prunes_the_same_nodes(
    model: TrainedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = recipe({"prune": [NODES], "retraining": {**TRAINED, "method": "none"}})
    whole, _ = compress(model, plan, tmp_path / "whole")
    with monkeypatch.context() as stopping, pytest.raises(ZeroDivisionError):
        stopping.setattr("pocketmt.compression.stage.StageRun.go", lambda run: 1 / 0)
        compress(model, plan, tmp_path / "stopped")
    monkeypatch.setattr("pocketmt.compression.node_pruning.node_maxima", lambda *arguments: 1 / 0)  # must not run again
    resumed, _ = compress(model, plan, tmp_path / "stopped")
    assert_equal(whole, resumed)
    assert events(tmp_path / "whole") == events(tmp_path / "stopped")


def test_nodes_chosen_before_the_first_checkpoint_are_forgotten(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a checkpoint the folder accepts another recipe, which must not begin with the nodes of the first one."""
    task = CompressionTask(run=run, folder=tmp_path / "work")
    plans = [
        recipe(
            {
                "prune": [{**NODES, "criterion": "weight_norm", **RATIO, "ratio": ratio}],
                "retraining": {**TRAINED, "method": "none"},
            }
        )
        for ratio in (0.75, 0.25)
    ]
    monkeypatch.setattr("pocketmt.compression.stage.StageRun.go", lambda run: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        compress_run(task, plans[0], tmp_path / "pruned.pocketmt")
    monkeypatch.undo()
    compress_run(task, plans[1], tmp_path / "pruned.pocketmt")
    with open_model(tmp_path / "pruned.pocketmt") as file:
        assert file.architecture.parameter_shapes()[f"{INNER}.weight"] == (18, 16)


def test_the_uncompressed_model_is_the_teacher_of_the_pruned_one(model: TrainedModel, tmp_path: Path) -> None:
    plan = recipe({"prune": [NODES], "retraining": {**TRAINED, "method": "none", "objective": "word_distillation"}})
    result, _ = compress(model, plan, tmp_path / "work")
    assert len(result.weights[f"{INNER}.bias"]) == 19
    assert not torch.equal(result.weights[f"{INNER}.bias"], model.weights[f"{INNER}.bias"][left()])


def test_biases_are_grouped_by_their_lengths_after_pruning(model: TrainedModel, tmp_path: Path) -> None:
    biases = {"quantize": [{"vectors": ["biases"], "scheme": "uniform", "bits": 8}]}
    result, groups = compress(model, recipe({"prune": [NODES]}, biases), tmp_path / "work")
    vector_groups = {name: group[0].vectors for name, group in groups.items()}
    assert vector_groups["vectors.0"] == (f"{INNER}.bias",)
    decoded = decoded_weights(result.weights, result.quantized, groups)[f"{INNER}.bias"]
    expected = fake_quantize(groups["vectors.0"][0].scheme, model.weights[f"{INNER}.bias"][None, left()])
    assert torch.equal(decoded, expected[0])
    with pytest.raises(ConfigurationError, match=r"stages\[1\]\.prune: .*inner\.bias is quantized by an earlier"):
        make_plan(recipe(biases, {"prune": [NODES]}), model.architecture)


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        (
            [{"prune": [{**NODES, "matrices": ["encoder.*"]}]}],
            r"prune\[0\]\.matrices: .*attention.* belongs to none of the feed-forward layers",
        ),
        ([{"prune": [{**NODES, "matrices": [f"{INNER}.weight"]}]}], r"inner\.weight is only a part of one of the feed"),
        (
            [{"prune": [{**NODES, "matrices": ["encoder.ffn"]}]}],
            r"'encoder\.ffn' matches no .*encoder\.feed_for",
        ),
        (
            [{"activations": {"bits": 8, "bucketed": ["relu_output"]}}, {"prune": [NODES]}],
            r"stages\[1\]\.prune: relu_output has a range for every node",
        ),
    ],
)
def test_invalid_stages_are_refused(stages: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        make_plan(recipe(*stages), architecture())


def test_pruning_random_weights_is_refused() -> None:
    stage = {"prune": [NODES], "retraining": {**TRAINED, "method": "none"}}
    with pytest.raises(ConfigurationError, match=r"stages\[0\]\.prune: start is 'random'"):
        make_plan(recipe(stage, start="random"), architecture())
    make_plan(recipe(stage), architecture())


@pytest.mark.parametrize(
    "entry",
    [
        {"threshold": None},
        {"ratio": 0.1},
        {"criterion": "weight_norm"},
        {"criterion": "weight_norm", "threshold": None, "ratio": 0.1},
        {"ratio": 1.0, "threshold": None},
        {"share": 0.1},
    ],
)
def test_contradictory_settings_are_refused(entry: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        recipe({"prune": [{**NODES, **entry}]})


def test_without_text_nodes_are_selected_by_weights_only(run: Path, tmp_path: Path) -> None:
    copy = tmp_path / "run"
    shutil.copytree(run, copy)
    (copy / "configuration.json").unlink()
    model = read_trained_model(copy)
    with pytest.raises(DataError, match="the recipe needs text, but none is known"):
        compress(model, recipe({"prune": [NODES]}), tmp_path / "work")
    by_norm = {**NODES, "criterion": "weight_norm", **RATIO}
    result, _ = compress(model, recipe({"prune": [by_norm]}), tmp_path / "work")
    assert result.weights[f"{INNER}.weight"].shape == (18, 16)
