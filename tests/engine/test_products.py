"""Logarithmic activations: the engine computes what PyTorch defines, with every scheme of weights."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch

from pocketmt.engine import _native
from pocketmt.errors import ModelFileError
from pocketmt.model_file import open_model
from pocketmt.model_file.activations.activation_quantization import StoredLogarithmicActivations
from pocketmt.models.network import TranslationNetwork
from pocketmt.packing.contents import ModelContents
from pocketmt.packing.model_file import pack
from pocketmt.packing.reference.network import load_reference
from pocketmt.quantization import Scheme
from pocketmt.quantization.activations.logarithmic import LogarithmicActivations
from pocketmt.quantization.activations.static import CalibratedActivations
from pocketmt.quantization.row_groups import RowGroup
from pocketmt.text.vocabulary import Vocabulary
from tests.engine.conftest import sentences
from tests.engine.reference import architecture, native_logits, random_network, reference_logits
from tests.engine.test_schemes import GROUPS, METADATA, SCHEMES, SHAPES, assert_sameness, load

Choice = dict[str, str | Scheme | Sequence[RowGroup]]
CHOICES: dict[str, Choice] = {
    name: {"*": (RowGroup(SCHEMES[name]),)}
    for name in ("logarithmic 4 matrix", "logarithmic 1 row", "uniform", "affine 4 row", "binary 3", "codebook 8")
}
CHOICES["groups"] = {"embedding.weight": GROUPS["nine"], "*": SCHEMES["logarithmic 4 row"]}
CHOICES["some in fp32"] = {
    "embedding.weight": "float32",
    "decoder.*.feed_forward.*": "float32",
    "*": SCHEMES["logarithmic 4 row"],
}


def write(path: Path, vocabulary: Vocabulary, choice: Choice, products: LogarithmicActivations, shape: str) -> None:
    model = random_network(architecture(**SHAPES[shape]))
    pack(
        path,
        ModelContents(
            model.state_dict(), model.architecture, vocabulary.model, choice, METADATA, activation_quantization=products
        ),
    )


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("choice", CHOICES)
def test_parity_and_sameness(tmp_path: Path, vocabulary: Vocabulary, choice: str, shape: str) -> None:
    path = tmp_path / "model.pocketmt"
    write(path, vocabulary, CHOICES[choice], LogarithmicActivations(4, 4.0), shape)
    reference, model, medians = load_reference(path), load(path), []
    for source, target in zip(sentences(5), sentences(5, seed=1), strict=True):
        expected = reference_logits(reference, source, target)
        error = np.abs(native_logits(model, source, target) - expected) / np.sqrt(np.mean(expected**2))
        # If float32 rounding moves an activation over a boundary, its value doubles, and all later values differ.
        assert np.max(error) < 0.5
        medians.append(np.median(error))
    assert np.median(medians) < 1e-5
    if choice != "some in fp32":  # whose sums have an order that differs from CPU to CPU
        assert_sameness(path)


@pytest.mark.parametrize(("bits", "scale"), [(1, 0.5), (2, 1.0), (3, 3.3), (4, 1.0)])
def test_every_width(tmp_path: Path, vocabulary: Vocabulary, bits: int, scale: float) -> None:
    path = tmp_path / "model.pocketmt"
    write(path, vocabulary, {"*": SCHEMES["logarithmic 4 row"]}, LogarithmicActivations(bits, scale), "even")
    reference, model, medians = load_reference(path), load(path), []
    for source, target in zip(sentences(5), sentences(5, seed=1), strict=True):
        expected = reference_logits(reference, source, target)
        error = np.abs(native_logits(model, source, target) - expected) / np.sqrt(np.mean(expected**2))
        medians.append(np.median(error))
    assert np.median(medians) < 1e-5


def calibrated(model: TranslationNetwork, scale: float = 0.05) -> CalibratedActivations:
    """Scales of different sizes, as from calibration; activations of the output projection are clamped."""
    matrices = [name for name, parameter in model.named_parameters() if parameter.dim() == 2]
    return CalibratedActivations({name: torch.tensor([scale * (1 + i % 3)]) for i, name in enumerate(matrices)})


@pytest.mark.parametrize("shape", [*SHAPES, "recurrent"])
@pytest.mark.parametrize("choice", CHOICES)
def test_calibrated_scales(tmp_path: Path, vocabulary: Vocabulary, choice: str, shape: str) -> None:
    path = tmp_path / "model.pocketmt"
    changes = {"decoder_autoregression": "ssru", "tied_decoder_layers": True} if shape == "recurrent" else SHAPES[shape]
    model = random_network(architecture(**changes))
    products = calibrated(model)
    pack(
        path,
        ModelContents(
            model.state_dict(),
            model.architecture,
            vocabulary.model,
            CHOICES[choice],
            METADATA,
            activation_quantization=products,
        ),
    )
    reference, engine, medians = load_reference(path), load(path), []
    for source, target in zip(sentences(5), sentences(5, seed=1), strict=True):
        expected = reference_logits(reference, source, target)
        error = np.abs(native_logits(engine, source, target) - expected) / np.sqrt(np.mean(expected**2))
        assert np.max(error) < 0.5
        medians.append(np.median(error))
    assert np.median(medians) < 1e-5
    if choice != "some in fp32":  # whose sums have an order that differs from CPU to CPU
        assert_sameness(path)


def test_calibrated_scales_make_a_difference(tmp_path: Path, vocabulary: Vocabulary) -> None:
    path, source = tmp_path / "model.pocketmt", sentences(1)[0]
    model = random_network(architecture())
    logits = []
    for scale in (0.02, 0.2):
        products = calibrated(model, scale)
        pack(
            path,
            ModelContents(
                model.state_dict(),
                model.architecture,
                vocabulary.model,
                "uniform8",
                METADATA,
                activation_quantization=products,
            ),
        )
        logits.append(native_logits(load(path), source, source))
    assert np.abs(logits[0] - logits[1]).max() > 0.1


@pytest.mark.parametrize("scale", [0.0, -1.0, 1e31, float("nan"), float("inf")])
def test_an_invalid_scale_is_refused(tmp_path: Path, vocabulary: Vocabulary, scale: float) -> None:
    path = tmp_path / "model.pocketmt"
    model = random_network(architecture())
    products = calibrated(model, scale)
    with pytest.raises(ModelFileError, match="activation_scale"):
        pack(
            path,
            ModelContents(
                model.state_dict(),
                model.architecture,
                vocabulary.model,
                "uniform8",
                METADATA,
                activation_quantization=products,
            ),
        )
    assert not path.exists()


def test_they_make_a_difference(tmp_path: Path, vocabulary: Vocabulary) -> None:
    path, source = tmp_path / "model.pocketmt", sentences(1)[0]
    logits = []
    for scale in (1.0, 8.0):
        write(path, vocabulary, {"*": SCHEMES["uniform"]}, LogarithmicActivations(4, scale), "even")
        logits.append(native_logits(load(path), source, source))
    assert np.abs(logits[0] - logits[1]).max() > 0.1


@pytest.mark.parametrize("given", [(3, 1.0), (256, 1.0), (0, 1.0), (128, 0.0), (128, -1.0), (128, float("nan"))])
def test_the_engine_refuses_what_it_cannot_quantize(
    tmp_path: Path, vocabulary: Vocabulary, given: tuple[int, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.pocketmt"
    write(path, vocabulary, {"*": SCHEMES["uniform"]}, LogarithmicActivations(), "even")
    make = _native.Model
    monkeypatch.setattr(_native, "Model", lambda **arguments: make(**{**arguments, "logarithmic_activations": given}))
    with pytest.raises(ModelFileError, match="logarithmic activations of up to"):
        load(path)


def test_the_file_states_the_activations(tmp_path: Path, vocabulary: Vocabulary) -> None:
    path = tmp_path / "model.pocketmt"
    write(path, vocabulary, {"*": SCHEMES["uniform"]}, LogarithmicActivations(4, 2.0), "even")
    with open_model(path) as file:
        assert isinstance(file.activation_quantization, StoredLogarithmicActivations)
        assert (file.activation_quantization.top, file.activation_quantization.scale) == (128, 2.0)
        assert json.loads(json.dumps(file.manifest["products"])) == {"scheme": "logarithmic", "bits": 4, "scale": 2.0}
