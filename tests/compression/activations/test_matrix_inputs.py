"""Recipes that quantize the inputs of quantized matrices (Aji and Heafield 2020, section 3.5), on a small network."""

import json
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import pocketmt.compression.stage as stage_module
from pocketmt.compression.activations.matrix_inputs import quantize_inputs
from pocketmt.compression.error_compensation import compensate
from pocketmt.compression.planning import make_plan
from pocketmt.compression.run import CompressionTask, compress_run
from pocketmt.errors import ConfigurationError
from pocketmt.model_file import open_model
from pocketmt.model_file.activations.activation_quantization import StoredStaticActivations
from pocketmt.model_file.report import inspect_model
from pocketmt.models.inputs import PADDING
from pocketmt.models.network import TranslationNetwork
from pocketmt.models.networks import make_network
from pocketmt.models.transformer import Transformer
from pocketmt.packing.reference.network import load_reference
from pocketmt.quantization.activations.logarithmic import LogarithmicActivations
from pocketmt.quantization.activations.static import calibrated_scale
from pocketmt.quantization.row_groups import QuantizedMatrix
from pocketmt.recipes.matrices import matrix_names
from pocketmt.text.vocabulary import EOS
from pocketmt.training.data import Batch, Corpus, PairEncoder, batches, corpus_for
from pocketmt.training.objectives import TranslationObjective
from pocketmt.training.trained_model import read_trained_model
from tests.compression.tiny_run import compress, recipe, write_tiny_run
from tests.small_network import PIECES, architecture, random_transformer

ALL: dict[str, Any] = {"matrices": ["*"], "scheme": "logarithmic", "bits": 4}
ATTENTION: dict[str, Any] = {**ALL, "matrices": ["encoder.self_attention"]}
VECTORS: dict[str, Any] = {"vectors": ["biases", "norms"], "scheme": "affine", "bits": 8}
LOGARITHMIC: dict[str, Any] = {"scheme": "logarithmic", "bits": 4}
RETRAINING: dict[str, Any] = {"method": "error_feedback", "updates": 3, "learning_rate": {"rate": 1e-3}}


@pytest.fixture(scope="module")
def tiny_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_run(tmp_path_factory.mktemp("tiny"))


def inputs_of(model: TranslationNetwork, matrices: list[str]) -> dict[str, Tensor]:
    """The input of each linear layer by matrix; that of the output projection as "embedding.weight"."""
    seen: dict[str, Tensor] = {}

    def watch(name: str, module: nn.Module) -> None:
        module.register_forward_pre_hook(lambda _, inputs: seen.__setitem__(name, inputs[0]))

    for name in matrices:
        if name != "embedding.weight":
            watch(name, model.get_submodule(name.removesuffix(".weight")))
    generator = torch.Generator().manual_seed(0)
    source, target = (torch.randint(4, PIECES, (3, length), generator=generator) for length in (6, 5))
    seen["embedding.weight"] = model(source, target)
    return seen


def on_the_scale(x: Tensor, scale: float) -> bool:
    levels = x.detach().abs() * 128 / scale
    return bool(torch.isin(levels, torch.tensor([1.0, 2, 4, 8, 16, 32, 64, 127])).all())


def test_products_of_attention_are_quantized_on_demand_and_masked_positions_keep_no_weight() -> None:
    model = random_transformer(architecture("pre"))
    quantize_inputs(model, LogarithmicActivations(4, 2.0, attention=True), [])
    attention = model.get_submodule("encoder.layers.0.self_attention.attention")
    operands: list[Tensor] = []
    for name in ("query", "softmax"):
        attention.get_submodule(name).register_forward_hook(lambda _, __, output: operands.append(output))
    tokens = torch.tensor([[5, 6, 7], [5, 6, PADDING]])
    model(tokens, tokens)
    query, weights = operands
    assert on_the_scale(query, 2.0) and on_the_scale(weights[0], 2.0)
    assert bool((weights[1, ..., 2] == 0).all()) and bool((weights[1, ..., :2] > 0).all())


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_only_inputs_of_quantized_matrices_are_quantized(norm: str) -> None:
    model = random_transformer(architecture(norm))
    names = [name for name, parameter in model.named_parameters() if parameter.dim() == 2]
    chosen = [name for name in names if "encoder" not in name]
    quantize_inputs(model, LogarithmicActivations(scale=2.0), chosen)
    for name, seen in inputs_of(model, names).items():
        assert on_the_scale(seen, 2.0) == (name in chosen), name


def test_gradients_reach_all_parameters() -> None:
    model = random_transformer(architecture())
    names = [name for name, parameter in model.named_parameters() if parameter.dim() == 2]
    quantize_inputs(model, LogarithmicActivations(), names)
    inputs_of(model, [])["embedding.weight"].square().sum().backward()  # type: ignore[no-untyped-call]
    assert all(parameter.grad is not None and bool(parameter.grad.any()) for parameter in model.parameters())


def test_a_later_stage_keeps_the_activation_quantization_and_adds_its_matrices() -> None:
    stages: list[dict[str, Any]] = [
        {"quantize": [ATTENTION], "matrix_inputs": {**LOGARITHMIC, "scale": 2.5}},
        {"quantize": [{**ALL, "matrices": ["embedding"]}]},
    ]
    first, second = make_plan(recipe(*stages), architecture()).stages
    assert first.input_quantization == second.input_quantization == LogarithmicActivations(4, 2.5)
    assert "embedding.weight" in second.matrices and "embedding.weight" not in first.matrices
    plain = recipe({"quantize": [ATTENTION]})
    assert make_plan(plain, architecture()).stages[0].input_quantization is None


def test_a_stage_may_quantize_activations_only() -> None:
    _, second = make_plan(recipe({"quantize": [ALL]}, {"matrix_inputs": LOGARITHMIC}), architecture()).stages
    assert second.input_quantization == LogarithmicActivations(4, 1.0)  # unscaled, as in section 4.3


@pytest.mark.parametrize("later", [[], [{"retraining": {**RETRAINING, "method": "straight_through"}}]])
def test_training_and_validation_quantize_activations(
    tiny_run: Path, tmp_path: Path, later: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    stages = [{"quantize": [ALL], "matrix_inputs": LOGARITHMIC, "retraining": RETRAINING}, *later]
    decoded: list[bool] = []
    forward = Transformer.decode

    def watching(model: Transformer, *arguments: Any) -> Any:
        outputs = forward(model, *arguments)
        decoded.append(on_the_scale(outputs[0], 1.0))
        return outputs

    monkeypatch.setattr(Transformer, "decode", watching)
    compress(read_trained_model(tiny_run), recipe(*stages), tmp_path / "work")
    assert len(decoded) > 6 * len(stages) and all(decoded)


def test_the_teacher_is_not_quantized(tiny_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    teachers: list[TranslationNetwork] = []
    loss = TranslationObjective.__call__

    def keeping(objective: TranslationObjective, batch: Batch) -> torch.Tensor:
        assert objective.teacher is not None
        teachers.append(objective.teacher)
        return loss(objective, batch)

    monkeypatch.setattr(TranslationObjective, "__call__", keeping)
    distilled = {**RETRAINING, "objective": "word_distillation", "updates": 1}
    stage = {"quantize": [ALL], "matrix_inputs": LOGARITHMIC, "retraining": distilled}
    compress(read_trained_model(tiny_run), recipe(stage), tmp_path / "work")
    (teacher,) = teachers
    source = torch.tensor([[5, 6, 3]])
    assert not on_the_scale(teacher(source, source), 1.0)


def test_error_compensation_uses_the_quantized_inputs(
    tiny_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    networks: list[TranslationNetwork] = []

    def keeping(network: TranslationNetwork, *others: Any) -> dict[str, QuantizedMatrix]:
        networks.append(network)
        return compensate(network, *others)

    monkeypatch.setattr(stage_module, "compensate", keeping)
    stage = {
        "quantize": [ALL],
        "matrix_inputs": LOGARITHMIC,
        "retraining": {"method": "error_compensation", "sentences": 4},
    }
    compress(read_trained_model(tiny_run), recipe(stage), tmp_path / "work")
    source = torch.tensor([[5, 6, 3]])
    assert on_the_scale(networks[0].eval()(source, source), 1.0)


@pytest.mark.parametrize("others", ["quantized", "float32"])
def test_the_file_computes_what_was_scored(tiny_run: Path, tmp_path: Path, others: str) -> None:
    path = tmp_path / "model.pocketmt"
    quantize = ALL if others == "quantized" else ATTENTION
    stage = {"quantize": [quantize], "matrix_inputs": {**LOGARITHMIC, "scale": 3.0}, "retraining": RETRAINING}
    compress_run(CompressionTask(run=tiny_run, folder=tmp_path / "work"), recipe(stage), path)
    model = read_trained_model(tiny_run)
    assert model.configuration is not None
    corpus = corpus_for(model.configuration.data, PairEncoder(model.vocabularies))
    with open_model(path) as file:
        assert file.manifest["products"] == {"scheme": "logarithmic", "bits": 4, "scale": 3.0}
        training: Any = file.manifest["training"]
    assert loss_of(load_reference(path), corpus) == pytest.approx(training["compression"]["loss"], abs=1e-3)


STATIC: dict[str, Any] = {"scheme": "static", "sentences": 6}
ALL8: dict[str, Any] = {"matrices": ["*"], "scheme": "uniform", "bits": 8}


def activation_scales(path: Path) -> dict[str, float]:
    with open_model(path) as file:
        names = [name for name in file.tensors if name.endswith(".activation_scale")]
        return {name: file.data(name).cast("f")[0] for name in names}


@pytest.mark.parametrize("retraining", [None, {**RETRAINING, "method": "straight_through"}])
def test_the_file_holds_calibrated_scales(tiny_run: Path, tmp_path: Path, retraining: dict[str, Any] | None) -> None:
    path = tmp_path / "model.pocketmt"
    stage = {"quantize": [ALL8], "matrix_inputs": STATIC} | ({} if retraining is None else {"retraining": retraining})
    compress_run(CompressionTask(run=tiny_run, folder=tmp_path / "work"), recipe(stage), path)
    model = read_trained_model(tiny_run)
    assert model.configuration is not None
    corpus = corpus_for(model.configuration.data, PairEncoder(model.vocabularies))
    with open_model(path) as file:
        assert (
            file.activation_quantization == StoredStaticActivations() and "calibrated" in inspect_model(path).to_text()
        )
        training: Any = file.manifest["training"]
    assert loss_of(load_reference(path), corpus) == pytest.approx(training["compression"]["loss"], abs=1e-3)
    # The formula, for the inputs of one matrix of the trained network.
    network = make_network(model.architecture)
    network.load_state_dict(model.weights)
    pairs = random.Random(1).sample(corpus.training, 6)
    largest = []
    for source, _ in pairs:
        encoded, _ = network.eval().encode(torch.tensor([[*source, EOS]]))
        largest.append(encoded.detach().abs().max())
    scales = activation_scales(path)
    expected = calibrated_scale(torch.stack(largest))
    assert scales["decoder.layers.0.cross_attention.key_value.weight.activation_scale"] == pytest.approx(expected)
    assert len(scales) == len(matrix_names(model.architecture))


def test_a_later_stage_adds_scales_of_its_matrices(tiny_run: Path, tmp_path: Path) -> None:
    both, once = tmp_path / "both.pocketmt", tmp_path / "once.pocketmt"
    attention = {**ALL8, "matrices": ["encoder.self_attention"]}
    rest = {**ALL8, "matrices": ["embedding", "encoder.feed_forward", "decoder.*"]}
    compress_run(
        CompressionTask(run=tiny_run, folder=tmp_path / "1"),
        recipe({"quantize": [attention], "matrix_inputs": STATIC}, {"quantize": [rest]}),
        both,
    )
    compress_run(
        CompressionTask(run=tiny_run, folder=tmp_path / "2"),
        recipe({"quantize": [ALL8], "matrix_inputs": STATIC}),
        once,
    )
    first, second = activation_scales(both), activation_scales(once)
    assert first.keys() == second.keys()
    assert {name: scale for name, scale in first.items() if "encoder.layers.0.self_attention.query" in name} == {
        name: scale for name, scale in second.items() if "encoder.layers.0.self_attention.query" in name
    }


@torch.inference_mode()
def loss_of(model: TranslationNetwork, corpus: Corpus) -> float:
    """Cross-entropy in nats per target token."""
    loss = tokens = 0.0
    for batch in batches(corpus.validation, model.architecture, 1000, seed=0, device="cpu"):
        logits = model.logits(model(batch.source, batch.target_inputs))
        of_token = nn.functional.cross_entropy(
            logits.transpose(1, 2), batch.targets, ignore_index=PADDING, reduction="sum"
        )
        loss, tokens = loss + float(of_token), tokens + batch.target_tokens
    return loss / tokens


RANGES = {"bits": 8, "batches": 2, "trials": 1}


def test_biases_and_norms_are_packed_with_quantized_activations(tiny_run: Path, tmp_path: Path) -> None:
    stage = {"quantize": [ALL, VECTORS], "matrix_inputs": LOGARITHMIC, "retraining": RETRAINING}
    compress_run(CompressionTask(run=tiny_run, folder=tmp_path / "work"), recipe(stage), tmp_path / "model.pocketmt")
    with open_model(tmp_path / "model.pocketmt") as file:
        assert file.vector_groups and file.activation_quantization is not None


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        (
            [{"quantize": [VECTORS], "matrix_inputs": LOGARITHMIC}],
            r"stages\[0\].matrix_inputs: no matrix is quantized",
        ),
        (
            [{"matrix_inputs": LOGARITHMIC}],
            r"stages\[0\].matrix_inputs: no matrix is quantized: add \[\[stages.quantize\]\]",
        ),
        (
            [{"matrix_inputs": LOGARITHMIC, "retraining": {**RETRAINING, "method": "none"}}],
            r"stages\[0\].matrix_inputs: no matrix is quantized",
        ),
        (
            [{"quantize": [ALL], "matrix_inputs": LOGARITHMIC}, {"matrix_inputs": LOGARITHMIC}],
            r"stages\[1\].matrix_inputs: an earlier stage quantizes matrix inputs: leave it out",
        ),
        (
            [{"quantize": [ALL], "matrix_inputs": LOGARITHMIC, "activations": RANGES}],
            r"stages\[0\].matrix_inputs: activations are quantized within ranges or as matrix inputs, not both",
        ),
        (
            [{"quantize": [ALL], "matrix_inputs": LOGARITHMIC}, {"activations": RANGES}],
            r"stages\[1\].activations: activations are quantized within ranges or as matrix inputs, not both",
        ),
    ],
)
def test_contradictory_recipes_are_refused(stages: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        make_plan(recipe(*stages), architecture())


def test_toml_with_an_invalid_value_is_explained_and_valid_toml_is_packed(
    commands: Path, tiny_run: Path, tmp_path: Path
) -> None:
    def pocketmt(*arguments: str) -> tuple[int, str, str]:
        command = [str(commands / "pocketmt"), *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    text = """
        name = "mine"
        [[stages]]
        [[stages.quantize]]
        matrices = ["*"]
        scheme = "logarithmic"
        bits = 4
        [stages.matrix_inputs]
        scheme = "logarithmic"
        bits = 5
    """
    (tmp_path / "mine.toml").write_text(text)
    status, _, message = pocketmt("compress", str(tiny_run), "mine.toml", "--output", "mine.pocketmt")
    assert status == 1 and message.startswith("error: mine.toml: ") and "matrix_inputs" in message and "bits" in message
    (tmp_path / "mine.toml").write_text(text.replace("bits = 5", "bits = 4\nscale = 4"))
    status, _, message = pocketmt("compress", str(tiny_run), "mine.toml", "--output", "mine.pocketmt")
    assert status == 0, message
    status, shown, _ = pocketmt("inspect", "mine.pocketmt")
    assert status == 0
    assert "activations:  4 bit on a logarithmic scale up to 4, for the inputs of quantized matrices" in shown
    status, shown, _ = pocketmt("inspect", "mine.pocketmt", "--json")
    assert json.loads(shown)["activation_quantization"] == {"bits": 4, "scale": 4.0}
