"""Fully quantized models (Prato et al. 2020): engine and PyTorch compute the same from a file, on every CPU."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from pocketmt.compression.activations.fully_quantized import quantize_activations, set_quantizing
from pocketmt.engine import _native
from pocketmt.engine.loading import native_model
from pocketmt.model_file import open_model
from pocketmt.model_file.activations.activation_ranges import BUCKETED
from pocketmt.model_file.metadata import ModelMetadata
from pocketmt.models.network import TranslationNetwork
from pocketmt.models.search import beam_search, greedy_search
from pocketmt.models.transformer import Transformer
from pocketmt.packing.contents import FLOAT32, ModelContents, TrainedRanges
from pocketmt.packing.model_file import pack
from pocketmt.packing.reference.network import load_reference
from pocketmt.quantization.registry import scheme_from_options
from pocketmt.quantization.row_groups import RowGroup
from pocketmt.recipes.activations import STRATEGY, FullQuantization
from pocketmt.text.vocabulary import Vocabulary
from tests.engine.conftest import search_options, sentences
from tests.engine.reference import architecture, native_logits, random_network, reference_logits

SHAPES: dict[str, dict[str, object]] = {
    "post-norm": {},
    "pre-norm": {"norm": "pre"},
    "odd sizes": {
        "attention_bias": True,
        "model_dimension": 38,
        "feed_forward_dimension": 51,
        "attention_heads": 3,
        "attention_dimension": 60,
        "encoder_layers": 3,
        "decoder_layers": 1,
    },
}
METADATA = ModelMetadata(source_language="en", target_language="de")
SOFTMAX = ("query_key_value", "softmax_numerator", "softmax_output")
# If the reference does every float operation in the engine's order, results are equal bit for bit.
EXACT = {
    "strategy": FullQuantization(8),
    "6 bits": FullQuantization(6),
    "4 bits": FullQuantization(4),
    "no buckets": FullQuantization(8, bucketed=()),
    "6 bits, no buckets": FullQuantization(6, bucketed=()),
    "buckets of normalization alone": FullQuantization(8, bucketed=BUCKETED[-3:]),
    "buckets of attention alone": FullQuantization(5, bucketed=("query_key_value",)),
    "no output of the softmax": FullQuantization(8, tuple(set(STRATEGY) - {"softmax_output"})),
    "query, key and value, with the norm's quotient": FullQuantization(7, ("query_key_value", "layer_norm_quotient")),
}
CLOSE = {
    "ReLU": FullQuantization(8, ("relu_output",), ()),
    "sums and outputs": FullQuantization(8, ("position", *BUCKETED[:1], "attention_output", "feed_forward_output")),
    "the same without buckets": FullQuantization(
        8, ("embedding_sum", "attention_output", "feed_forward_output", "layer_norm_output"), ()
    ),
    "attention": FullQuantization(8, SOFTMAX, ("query_key_value",)),
    "attention without buckets": FullQuantization(8, SOFTMAX, ()),
}


def cases(settings: dict[str, FullQuantization], *everywhere: str) -> list[tuple[str, str]]:
    """Cases: each setting on one shape, in turn; the named settings on every shape."""
    shapes = list(SHAPES)
    turns = [(name, shapes[index % len(shapes)]) for index, name in enumerate(settings)]
    return sorted({*turns, *((name, shape) for name in everywhere for shape in shapes)})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.pocketmt"


def write(
    path: Path, vocabulary: Vocabulary, settings: FullQuantization, shape: str = "post-norm", bits: int | None = 8
) -> TranslationNetwork:
    """Write a random network with ranges estimated on random text; returns its PyTorch reference.

    bits: of its weights; None leaves them in fp32.
    """
    model = random_network(architecture(**SHAPES[shape]))
    assert isinstance(model, Transformer)
    quantize_activations(model, settings)
    set_quantizing(model, False)
    model.train()
    with torch.no_grad():
        for seed in range(3):
            source, target = (sentences(4, seed=seed + 10 * side, longest=12) for side in (0, 1))
            for one, other in zip(source, target, strict=True):
                model(torch.tensor([[*one, 2]]), torch.tensor([[1, *other]]))
    parameters = dict(model.named_parameters())
    ranges = {name: tensor for name, tensor in model.state_dict().items() if name not in parameters}
    groups = (RowGroup(scheme_from_options("affine", bits=bits)),) if bits else FLOAT32
    choice: dict[str, Any] = {"*": groups}
    trained = TrainedRanges(settings, ranges)
    pack(
        path,
        ModelContents(parameters, model.architecture, vocabulary.model, choice, METADATA, activation_ranges=trained),
    )
    return load_reference(path)


def load(path: Path, instruction_set: str | None = None) -> _native.Model:
    with open_model(path) as file:
        return native_model(file, 1, instruction_set)


@pytest.mark.parametrize(("settings", "shape"), cases(EXACT, "strategy", "no buckets"))
def test_logits_are_equal(path: Path, vocabulary: Vocabulary, settings: str, shape: str) -> None:
    reference = write(path, vocabulary, EXACT[settings], shape)
    model = load(path)
    for source, target in zip(sentences(4, longest=40), sentences(4, seed=1), strict=True):
        expected = reference_logits(reference, source, target)
        np.testing.assert_array_equal(native_logits(model, source, target), expected)


@pytest.mark.parametrize(("settings", "shape"), cases(CLOSE))
def test_logits_are_close(path: Path, vocabulary: Vocabulary, settings: str, shape: str) -> None:
    """As test_parity.test_quantized_logits, which says why."""
    reference = write(path, vocabulary, CLOSE[settings], shape)
    model, errors = load(path), []
    for source, target in zip(sentences(6), sentences(6, seed=1), strict=True):
        expected = reference_logits(reference, source, target)
        errors.append(np.abs(native_logits(model, source, target) - expected).ravel() / np.sqrt(np.mean(expected**2)))
    assert np.median(np.concatenate(errors)) < 1e-5
    assert np.max(np.concatenate(errors)) < 20 / 127


@pytest.mark.parametrize("bits", [None, 4, 6])
def test_weights_of_other_bits(path: Path, vocabulary: Vocabulary, bits: int | None) -> None:
    reference = write(path, vocabulary, EXACT["no buckets"], bits=bits)
    model = load(path)
    for source, target in zip(sentences(3), sentences(3, seed=1), strict=True):
        expected = reference_logits(reference, source, target)
        if bits is None:
            np.testing.assert_allclose(native_logits(model, source, target), expected, atol=0.2, rtol=0)
        else:
            np.testing.assert_array_equal(native_logits(model, source, target), expected)


@pytest.mark.parametrize("settings", ["strategy", "4 bits", "6 bits, no buckets", "no output of the softmax"])
def test_translations_are_the_same_in_any_batch_and_on_every_cpu(
    path: Path, vocabulary: Vocabulary, settings: str
) -> None:
    reference = write(path, vocabulary, EXACT[settings])
    models = [load(path, name) for name in _native.instruction_sets()]
    sources = [*sentences(8), []]
    options = search_options(beam_size=3, n_best=3)
    together = models[0].translate(sources, options)
    assert [models[0].translate([source], options)[0] for source in sources] == together
    for model in models[1:]:
        assert model.translate(sources, options) == together
    found = models[0].translate(sources[:6], search_options(beam_size=1))
    assert [hypotheses[0][0] for hypotheses in found] == greedy_search(reference, sources[:6])
    expected = beam_search(reference, sources[:4], 3)
    for ours, theirs in zip(together, expected, strict=False):
        assert [ids for ids, _ in ours] == [list(hypothesis.ids) for hypothesis in theirs]
