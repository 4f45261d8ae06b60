"""Recipes whose activations are quantized where they meet quantized weights [L5], on a small network."""

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch
from torch import Tensor, nn

import pocketmt.recipes.retraining.stage as stage_module
from pocketmt.errors import ConfigurationError
from pocketmt.model_file import open_model
from pocketmt.model_file.products import StaticProducts
from pocketmt.model_file.report import inspect_model
from pocketmt.models.network import TranslationNetwork
from pocketmt.models.networks import make_network
from pocketmt.models.transformer import Transformer
from pocketmt.quantization.log_activations import LogarithmicActivations
from pocketmt.quantization.static_activations import calibrated_scale
from pocketmt.recipes.activations.products import quantize_products, recipe_products
from pocketmt.recipes.description.matrices import matrix_names
from pocketmt.recipes.description.plan import make_plan
from pocketmt.recipes.description.schema import Recipe
from pocketmt.recipes.reference.network import load_reference
from pocketmt.recipes.retraining.compensation import compensate
from pocketmt.recipes.retraining.compression import compress
from pocketmt.recipes.row_groups import QuantizedMatrix
from pocketmt.recipes.run_folder import compress_run
from pocketmt.recipes.trained_model import read_trained_model
from pocketmt.text.vocabulary import EOS, PAD
from pocketmt.training.data import Corpus, batches, load_corpus
from tests.recipes.conftest import PIECES, architecture, random_transformer
from tests.recipes.tiny_run import write_tiny_run

ALL: dict[str, Any] = {"matrices": ["*"], "scheme": "logarithmic", "bits": 4}
ATTENTION: dict[str, Any] = {**ALL, "matrices": ["encoder.self_attention"]}
VECTORS: dict[str, Any] = {"vectors": ["biases", "norms"], "scheme": "affine", "bits": 8}
PRODUCTS: dict[str, Any] = {"scheme": "logarithmic", "bits": 4}
RETRAINING: dict[str, Any] = {"method": "error_feedback", "updates": 3, "learning_rate": {"rate": 1e-3}}


@pytest.fixture(scope="module")
def tiny_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_run(tmp_path_factory.mktemp("tiny"))


def recipe(*stages: dict[str, Any]) -> Recipe:
    return msgspec.convert({"name": "a test", "stages": list(stages)}, Recipe)


def inputs_of(model: TranslationNetwork, matrices: list[str]) -> dict[str, Tensor]:
    """What each linear layer multiplies, and under "embedding.weight" what the output projection does."""
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


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_what_comes_to_chosen_matrices_is_on_the_scale_and_nothing_else(norm: str) -> None:
    model = random_transformer(architecture(norm))
    names = [name for name, parameter in model.named_parameters() if parameter.dim() == 2]
    chosen = [name for name in names if "encoder" not in name]
    quantize_products(model, LogarithmicActivations(scale=2.0), chosen)
    for name, seen in inputs_of(model, names).items():
        assert on_the_scale(seen, 2.0) == (name in chosen), name


def test_gradients_reach_everything_through_the_products() -> None:
    model = random_transformer(architecture())
    names = [name for name, parameter in model.named_parameters() if parameter.dim() == 2]
    quantize_products(model, LogarithmicActivations(), names)
    inputs_of(model, [])["embedding.weight"].square().sum().backward()  # type: ignore[no-untyped-call]
    assert all(parameter.grad is not None and bool(parameter.grad.any()) for parameter in model.parameters())


def test_a_later_stage_keeps_products_and_adds_its_matrices() -> None:
    stages: list[dict[str, Any]] = [
        {"quantize": [ATTENTION], "products": {**PRODUCTS, "scale": 2.5}},
        {"quantize": [{**ALL, "matrices": ["embedding"]}]},
    ]
    first, second = make_plan(recipe(*stages), architecture())
    assert first.products == second.products == LogarithmicActivations(4, 2.5) == recipe_products(recipe(*stages))
    assert "embedding.weight" in second.matrices and "embedding.weight" not in first.matrices
    plain = recipe({"quantize": [ATTENTION]})
    assert make_plan(plain, architecture())[0].products is None and recipe_products(plain) is None


def test_a_stage_may_do_nothing_but_quantize_products() -> None:
    _, second = make_plan(recipe({"quantize": [ALL]}, {"products": PRODUCTS}), architecture())
    assert second.products == LogarithmicActivations(4, 1.0)  # unscaled, as paper L, section 4.3


@pytest.mark.parametrize("later", [[], [{"retraining": {**RETRAINING, "method": "straight_through"}}]])
def test_training_and_validation_see_quantized_products(
    tiny_run: Path, tmp_path: Path, later: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    stages = [{"quantize": [ALL], "products": PRODUCTS, "retraining": RETRAINING}, *later]
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
    make = stage_module.StageRun._teacher

    def keeping(run: stage_module.StageRun, *arguments: Any) -> TranslationNetwork | None:
        teacher = make(run, *arguments)
        assert teacher is not None
        teachers.append(teacher)
        return teacher

    monkeypatch.setattr(stage_module.StageRun, "_teacher", keeping)
    distilled = {**RETRAINING, "objective": "word_distillation", "updates": 1}
    stage = {"quantize": [ALL], "products": PRODUCTS, "retraining": distilled}
    compress(read_trained_model(tiny_run), recipe(stage), tmp_path / "work")
    (teacher,) = teachers
    source = torch.tensor([[5, 6, 3]])
    assert not on_the_scale(teacher(source, source), 1.0)


def test_error_compensation_is_for_the_activations_that_come(
    tiny_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    networks: list[TranslationNetwork] = []

    def keeping(network: TranslationNetwork, *others: Any) -> dict[str, QuantizedMatrix]:
        networks.append(network)
        return compensate(network, *others)

    monkeypatch.setattr(stage_module, "compensate", keeping)
    stage = {"quantize": [ALL], "products": PRODUCTS, "retraining": {"method": "error_compensation", "sentences": 4}}
    compress(read_trained_model(tiny_run), recipe(stage), tmp_path / "work")
    source = torch.tensor([[5, 6, 3]])
    assert on_the_scale(networks[0].eval()(source, source), 1.0)


@pytest.mark.parametrize("others", ["quantized", "float32"])
def test_the_file_computes_what_was_scored(tiny_run: Path, tmp_path: Path, others: str) -> None:
    path = tmp_path / "model.pocketmt"
    quantize = ALL if others == "quantized" else ATTENTION
    stage = {"quantize": [quantize], "products": {**PRODUCTS, "scale": 3.0}, "retraining": RETRAINING}
    compress_run(tiny_run, recipe(stage), tmp_path / "work", path)
    model = read_trained_model(tiny_run)
    assert model.configuration is not None
    corpus = load_corpus(model.configuration.data, model.vocabulary_file)
    with open_model(path) as file:
        assert file.manifest["products"] == {"scheme": "logarithmic", "bits": 4, "scale": 3.0}
        training: Any = file.manifest["training"]
    assert loss_of(load_reference(path), corpus) == pytest.approx(training["compression"]["loss"], abs=1e-3)


STATIC: dict[str, Any] = {"scheme": "uniform", "sentences": 6}
ALL8: dict[str, Any] = {"matrices": ["*"], "scheme": "uniform", "bits": 8}


def activation_scales(path: Path) -> dict[str, float]:
    with open_model(path) as file:
        names = [name for name in file.tensors if name.endswith(".activation_scale")]
        return {name: file.data(name).cast("f")[0] for name in names}


@pytest.mark.parametrize("retraining", [None, {**RETRAINING, "method": "straight_through"}])
def test_the_file_holds_calibrated_scales(tiny_run: Path, tmp_path: Path, retraining: dict[str, Any] | None) -> None:
    path = tmp_path / "model.pocketmt"
    stage = {"quantize": [ALL8], "products": STATIC} | ({} if retraining is None else {"retraining": retraining})
    compress_run(tiny_run, recipe(stage), tmp_path / "work", path)
    model = read_trained_model(tiny_run)
    assert model.configuration is not None
    corpus = load_corpus(model.configuration.data, model.vocabulary_file)
    with open_model(path) as file:
        assert file.products == StaticProducts() and "calibrated" in inspect_model(path).to_text()
        training: Any = file.manifest["training"]
    assert loss_of(load_reference(path), corpus) == pytest.approx(training["compression"]["loss"], abs=1e-3)
    # By the formula, from what the trained network brings to one of its products.
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


def test_a_later_stage_calibrates_what_it_adds(tiny_run: Path, tmp_path: Path) -> None:
    both, once = tmp_path / "both.pocketmt", tmp_path / "once.pocketmt"
    attention = {**ALL8, "matrices": ["encoder.self_attention"]}
    rest = {**ALL8, "matrices": ["embedding", "encoder.feed_forward", "decoder.*"]}
    compress_run(
        tiny_run, recipe({"quantize": [attention], "products": STATIC}, {"quantize": [rest]}), tmp_path / "1", both
    )
    compress_run(tiny_run, recipe({"quantize": [ALL8], "products": STATIC}), tmp_path / "2", once)
    first, second = activation_scales(both), activation_scales(once)
    assert first.keys() == second.keys()
    assert {name: scale for name, scale in first.items() if "encoder.layers.0.self_attention.query" in name} == {
        name: scale for name, scale in second.items() if "encoder.layers.0.self_attention.query" in name
    }


@torch.inference_mode()
def loss_of(model: TranslationNetwork, corpus: Corpus) -> float:
    """Cross-entropy by the logits, in nats a target token."""
    loss = tokens = 0.0
    for batch in batches(corpus.validation, 1000, seed=0, device="cpu"):
        logits = model.logits(model(batch.source, batch.target_inputs))
        of_token = nn.functional.cross_entropy(logits.transpose(1, 2), batch.targets, ignore_index=PAD, reduction="sum")
        loss, tokens = loss + float(of_token), tokens + batch.target_tokens
    return loss / tokens


RANGES = {"bits": 8, "batches": 2, "trials": 1}


def test_quantized_biases_and_norms_are_no_matrices(tiny_run: Path, tmp_path: Path) -> None:
    stage = {"quantize": [ALL, VECTORS], "products": PRODUCTS, "retraining": RETRAINING}
    compress_run(tiny_run, recipe(stage), tmp_path / "work", tmp_path / "model.pocketmt")
    with open_model(tmp_path / "model.pocketmt") as file:
        assert file.stacks and file.products is not None


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        (
            [{"quantize": [VECTORS], "products": PRODUCTS}],
            r"stages\[0\].products: no matrix is quantized",
        ),
        ([{"products": PRODUCTS}], r"stages\[0\].products: no matrix is quantized .* add \[\[stages.quantize\]\]"),
        (
            [{"products": PRODUCTS, "retraining": {**RETRAINING, "method": "none"}}],
            r"stages\[0\].products: no matrix is quantized",
        ),
        (
            [{"quantize": [ALL], "products": PRODUCTS}, {"products": PRODUCTS}],
            r"stages\[1\].products: an earlier stage quantizes products already: leave it out",
        ),
        (
            [{"quantize": [ALL], "products": PRODUCTS, "activations": RANGES}],
            r"stages\[0\].products: activations are quantized within ranges or on a fixed scale, not both",
        ),
        (
            [{"quantize": [ALL], "products": PRODUCTS}, {"activations": RANGES}],
            r"stages\[1\].activations: activations are quantized within ranges or on a fixed scale, not both",
        ),
    ],
)
def test_what_contradicts_itself_is_refused(stages: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        make_plan(recipe(*stages), architecture())


def test_a_user_is_told_what_may_stand_there_and_gets_what_was_asked(tiny_run: Path, tmp_path: Path) -> None:
    def pocketmt(*arguments: str) -> tuple[int, str, str]:
        command = [str(Path(sys.executable).with_name("pocketmt")), *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    text = """
        name = "mine"
        [[stages]]
        [[stages.quantize]]
        matrices = ["*"]
        scheme = "logarithmic"
        bits = 4
        [stages.products]
        scheme = "logarithmic"
        bits = 5
    """
    (tmp_path / "mine.toml").write_text(text)
    status, _, message = pocketmt("compress", str(tiny_run), "mine.toml", "--output", "mine.pocketmt")
    assert status == 1 and message.startswith("error: mine.toml: ") and "products" in message and "bits" in message
    (tmp_path / "mine.toml").write_text(text.replace("bits = 5", "bits = 4\nscale = 4"))
    status, _, message = pocketmt("compress", str(tiny_run), "mine.toml", "--output", "mine.pocketmt")
    assert status == 0, message
    status, shown, _ = pocketmt("inspect", "mine.pocketmt")
    assert status == 0
    assert "products:     activations of 4 bit on a log scale up to 4, times quantized matrices" in shown
    status, shown, _ = pocketmt("inspect", "mine.pocketmt", "--json")
    assert json.loads(shown)["products"] == {"bits": 4, "scale": 4.0}
