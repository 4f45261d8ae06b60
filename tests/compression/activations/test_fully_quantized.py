"""Quantized activations of a whole network: the quantized operations, and that nothing else changes."""

import dataclasses

import pytest
import torch
from torch import Tensor

from pocketmt.compression.activations.fully_quantized import (
    QuantizedLayerNorm,
    QuantizedSoftmax,
    places,
    quantize_activations,
    ranges,
    set_quantizing,
)
from pocketmt.errors import ConfigurationError
from pocketmt.model_file.architecture import TransformerArchitecture
from pocketmt.models.inputs import pad
from pocketmt.models.transformer import Transformer
from pocketmt.quantization.activations.running_range import RunningRange
from pocketmt.recipes.activations import NAIVE, STRATEGY, FullQuantization

ARCHITECTURE = TransformerArchitecture(
    encoder_layers=2,
    decoder_layers=1,
    model_dimension=16,
    feed_forward_dimension=24,
    attention_heads=2,
    attention_dimension=16,
    norm="pre",
    attention_bias=False,
    vocabulary_size=20,
)
SOURCE = pad([[5, 6, 7, 2], [8, 2]])
TARGET = pad([[1, 9, 10], [1, 11]])
NOTHING = FullQuantization(operations=())


def _network(settings: FullQuantization) -> Transformer:
    torch.manual_seed(1)
    model = Transformer(ARCHITECTURE)
    quantize_activations(model, settings)
    return model


def _logits(model: Transformer) -> Tensor:
    return model.logits(model(SOURCE, TARGET)).detach()


def test_a_network_that_quantizes_nothing_computes_the_same() -> None:
    torch.manual_seed(1)
    plain = Transformer(ARCHITECTURE)
    assert torch.allclose(_logits(_network(NOTHING)), _logits(plain), atol=1e-5)


def test_parameters_keep_their_names() -> None:
    names = [name for name, _ in _network(FullQuantization()).named_parameters()]
    assert names == [name for name, _ in Transformer(ARCHITECTURE).named_parameters()]


def test_errors_are_small_with_eight_bits_and_grow_with_fewer() -> None:
    plain = _logits(_network(NOTHING))
    distances = []
    for bits in (8, 6, 4):
        model = _network(FullQuantization(bits=bits))
        _logits(model)  # estimates the ranges
        distances.append(float((_logits(model.eval()) - plain).abs().mean() / plain.abs().mean()))
    assert distances[0] < 0.15
    assert distances[0] < distances[1] < distances[2]


@pytest.mark.parametrize("operation", NAIVE)
def test_each_operation_is_quantized_alone(operation: str) -> None:
    model = _network(FullQuantization(bits=2, operations=(operation,)))
    _logits(model)
    observed = [each for _, each in ranges(model)]
    assert bool(observed) == (operation != "layer_norm_weight")
    assert all(each.estimates == (2 if operation == "position" else 1) for each in observed)  # source and target
    # The weights of a new norm are all 1, which any number of bits represents exactly.
    changed = not torch.equal(_logits(model.eval()), _logits(_network(NOTHING).eval()))
    assert changed or operation == "layer_norm_weight"


def test_operations_are_quantized_in_matching_modules_only() -> None:
    settings = FullQuantization(operations=("layer_norm_output", "layer_norm_weight", "embedding_sum", "relu_output"))
    everywhere = set(places(_network(settings)))
    assert {"encoder.input", "encoder.layers.0.feed_forward.activation.1", "decoder.norm.weight"} < everywhere
    for patterns, expected in (
        (("encoder.*",), {name for name in everywhere if name.startswith("encoder.")}),
        (
            ("*attention_norm*", "decoder.input"),
            {name for name in everywhere if "attention_norm" in name} | {"decoder.input"},
        ),
        (("*.activation.1",), {name for name in everywhere if "feed_forward.activation" in name}),
    ):
        model = _network(dataclasses.replace(settings, modules=patterns))
        assert set(places(model)) == expected
        _logits(model)
        assert all(each.estimates == 1 for _, each in ranges(model))


def test_heads_and_relus_may_have_separate_ranges() -> None:
    operations = ("softmax_numerator", "softmax_denominator", "softmax_output", "relu_output")
    model = _network(FullQuantization(operations=operations, bucketed=operations))
    _logits(model)
    for name, each in ranges(model):
        assert len(each.minimum) == (24 if "activation" in name else 2), name
    heads = model.get_submodule("decoder.layers.0.self_attention.attention.softmax.denominator")
    assert isinstance(heads, RunningRange)
    assert heads.maximum[0] != heads.maximum[1]


def test_weights_of_norms_are_quantized() -> None:
    norm = torch.nn.LayerNorm(3)
    norm.weight.data = torch.tensor([0.0, 0.3, 1.0])
    quantized = QuantizedLayerNorm(norm, FullQuantization(bits=2, operations=("layer_norm_weight",)))
    x = torch.tensor([1.0, 2.0, 6.0])
    expected = torch.nn.functional.layer_norm(x, [3]) * torch.tensor([0.0, 1 / 3, 1.0])
    assert torch.allclose(quantized(x), expected, atol=1e-5)


def test_masked_positions_have_no_weight_with_any_number_of_bits() -> None:
    softmax = QuantizedSoftmax(FullQuantization(bits=2, operations=NAIVE), heads=1)
    scores = torch.tensor([[1.0, 2.0, -torch.inf], [0.5, -torch.inf, -torch.inf]])
    softmax(scores[None])
    weights = softmax.eval()(scores[None])[0]
    assert weights[0, 2] == 0
    assert weights[1].tolist() == [1.0, 0.0, 0.0]


def test_padding_only_changes_ranges_of_attention_weights() -> None:
    model = _network(FullQuantization())
    set_quantizing(model, False)
    model(SOURCE[1:, :2], TARGET[1:, :2])
    alone = {name: (each.minimum.clone(), each.maximum.clone()) for name, each in ranges(model)}
    model = _network(FullQuantization())
    set_quantizing(model, False)
    model(SOURCE[1:], TARGET[1:])
    padded = {name: (each.minimum, each.maximum) for name, each in ranges(model)}
    assert alone.keys() == padded.keys()
    for name, (minimum, maximum) in alone.items():
        if "softmax" not in name and name != "position":
            assert torch.allclose(padded[name][0], minimum, atol=1e-5), name
            assert torch.allclose(padded[name][1], maximum, atol=1e-5), name


def test_clamped_denominators_keep_their_gradient_as_in_the_paper() -> None:
    for exception, passes in ((("layer_norm_denominator",), True), ((), False)):
        settings = FullQuantization(operations=("layer_norm_denominator",), clamped_gradient=exception)
        norm = QuantizedLayerNorm(torch.nn.LayerNorm(2), settings)
        norm(torch.tensor([[-1.0, 1.0]]))  # both ends of the denominator's range are about 1
        norm.eval()
        x = torch.tensor([[-5.0, 5.0]], requires_grad=True)
        denominator = norm.denominator((x.var(dim=-1, unbiased=False, keepdim=True) + norm.epsilon).sqrt())
        (gradient,) = torch.autograd.grad(denominator.sum(), x)
        assert bool((gradient != 0).any()) is passes


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"bits": 16}, "16 bits: choose 2 to 8"),
        ({"operations": ("softmax",)}, "unknown operation 'softmax'"),
        ({"bucketed": ("position",)}, "'position' cannot have buckets"),
    ],
)
def test_unknown_operations_are_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        FullQuantization(**arguments)  # type: ignore[arg-type]


def test_the_strategy_omits_the_operations_that_the_paper_omits() -> None:
    assert set(NAIVE) - set(STRATEGY) == {
        "attention_scores",
        "softmax_denominator",
        "multi_head_output",
        "residual_sum",
        "layer_norm_mean",
        "layer_norm_variance",
    }
