"""Quantized operations in a Transformer, those of Prato et al. 2020, section 3.2, and all others."""

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

import torch
from torch import Tensor, nn

from pocketmt.models.attention import DotProductAttention
from pocketmt.models.network import Network
from pocketmt.models.transformer import Decoder, Encoder, FeedForward, Layer
from pocketmt.quantization.activations.running_range import RunningRange, fake_quantize_range
from pocketmt.recipes.activations import LAYER_NORM_WEIGHT, FullQuantization


def _point(settings: FullQuantization, operation: str, size: int = 1, dimension: int = -1) -> nn.Module:
    """Return the module that quantizes an operation; Identity if it is not quantized.

    `dimension`, counted from the last, -1, has `size` elements, which are the buckets.
    """
    if operation not in settings.operations:
        return nn.Identity()
    buckets = size if operation in settings.bucketed else 1
    minimum = 0.0 if operation == "relu_output" else None  # section 3.4
    return RunningRange(settings.bits, buckets, minimum, operation in settings.clamped_gradient, dimension)


class QuantizedSoftmax(nn.Module):
    """Softmax over the last dimension in three steps: exponentials, their sum, and the quotient."""

    def __init__(self, settings: FullQuantization, heads: int) -> None:
        super().__init__()
        self.scores = _point(settings, "attention_scores")
        self.numerator = _point(settings, "softmax_numerator", heads, dimension=-3)
        self.denominator = _point(settings, "softmax_denominator", heads, dimension=-3)
        self.output = _point(settings, "softmax_output", heads, dimension=-3)

    def forward(self, scores: Tensor) -> Tensor:
        """[.., heads, Q, K], -inf where masked -> the same shape; masked positions stay zero."""
        masked = scores == -torch.inf
        scores = self.scores(scores.masked_fill(masked, 0.0)).masked_fill(masked, -torch.inf)
        exponentials = (scores - scores.amax(dim=-1, keepdim=True)).exp()
        numerator = self.numerator(exponentials).masked_fill(masked, 0.0)
        output: Tensor = self.output(numerator / self.denominator(exponentials.sum(dim=-1, keepdim=True)))
        return output.masked_fill(masked, 0.0)


class QuantizedLayerNorm(nn.Module):
    """Layer normalization step by step; its parameters are those of the norm whose place it takes."""

    def __init__(self, norm: nn.LayerNorm, settings: FullQuantization) -> None:
        super().__init__()
        (size,) = norm.normalized_shape
        self.weight = norm.weight
        self.bias = norm.bias
        self.epsilon = norm.eps
        self.weight_bits = settings.bits if LAYER_NORM_WEIGHT in settings.operations else None
        self.quantizing = True
        self.mean = _point(settings, "layer_norm_mean")
        self.variance = _point(settings, "layer_norm_variance")
        self.numerator = _point(settings, "layer_norm_numerator", size)
        self.denominator = _point(settings, "layer_norm_denominator")
        self.quotient = _point(settings, "layer_norm_quotient", size)
        self.output = _point(settings, "layer_norm_output", size)

    def forward(self, x: Tensor) -> Tensor:
        """[.., d] -> [.., d]."""
        centred = x - self.mean(x.mean(dim=-1, keepdim=True))
        variance = self.variance(centred.square().mean(dim=-1, keepdim=True))
        quotient = self.quotient(self.numerator(centred) / self.denominator((variance + self.epsilon).sqrt()))
        weight: Tensor = self.weight
        if self.quantizing and self.weight_bits is not None:
            weight = fake_quantize_range(weight, weight.detach().min(), weight.detach().max(), self.weight_bits)
        output: Tensor = self.output(quotient * weight + self.bias)
        return output


def quantize_activations(model: Network, settings: FullQuantization) -> None:
    """Quantize operations of a network, in place; parameters keep their names."""
    dimension = model.architecture.model_dimension
    model.position = _point(settings, "position")
    for stack in model.children():
        if isinstance(stack, Encoder | Decoder):
            stack.input = _point(settings, "embedding_sum", dimension)
    for name, module in list(model.named_modules()):
        if isinstance(module, DotProductAttention):
            _quantize_attention(module, model, settings)
        elif isinstance(module, FeedForward):
            relu_output = _point(settings, "relu_output", module.inner.out_features)
            module.activation = nn.Sequential(module.activation, relu_output)
            _quantize_output(module.outer, _point(settings, "feed_forward_output", dimension))
        elif isinstance(module, nn.LayerNorm):
            parent, _, attribute = name.rpartition(".")
            setattr(model.get_submodule(parent), attribute, QuantizedLayerNorm(module, settings))
        elif isinstance(module, Layer):
            for residual in [child for child, _ in module.named_children() if child.endswith("_residual")]:
                setattr(module, residual, _point(settings, "residual_sum"))
        elif name.endswith("attention.output") and isinstance(module, nn.Linear):
            _quantize_output(module, _point(settings, "multi_head_output"))
    _leave_out(model, [place for place in places(model) if not matches(place, settings.modules)])
    model.register_forward_pre_hook(_tell_padding)


def _quantize_attention(attention: DotProductAttention, model: Network, settings: FullQuantization) -> None:
    size, heads = model.architecture.attention_dimension, model.architecture.attention_heads
    for name in ("query", "key", "value"):
        setattr(attention, name, _point(settings, "query_key_value", model.architecture.head_size))
    attention.softmax = QuantizedSoftmax(settings, heads)
    attention.output = _point(settings, "attention_output", size)


def _quantize_output(linear: nn.Linear, point: nn.Module) -> None:
    """Let what a linear layer gives pass through `point`."""
    linear.add_module("output_range", point)
    linear.register_forward_hook(lambda module, _, output: module.output_range(output))


def places(model: nn.Module) -> list[str]:
    """Return the names of all places where a network quantizes activations: its ranges, and its norms' weights."""
    norms = [name for name, module in model.named_modules() if getattr(module, "weight_bits", None) is not None]
    return [*(name for name, _ in ranges(model)), *(f"{name}.weight" for name in norms)]


def matches(place: str, patterns: Sequence[str]) -> bool:
    """Return whether a place's name fits one of some patterns."""
    return any(fnmatchcase(place, pattern) for pattern in patterns)


def _leave_out(model: nn.Module, some: Sequence[str]) -> None:
    """Let places quantize nothing."""
    for place in some:
        parent, _, attribute = place.rpartition(".")
        module = model.get_submodule(parent)
        if isinstance(module, QuantizedLayerNorm) and attribute == "weight":
            module.weight_bits = None
        else:
            setattr(module, attribute, nn.Identity())


def ranges(model: nn.Module) -> Iterator[tuple[str, RunningRange]]:
    """Yield name and module of every range of a network."""
    return ((name, module) for name, module in model.named_modules() if isinstance(module, RunningRange))


def set_quantizing(model: nn.Module, quantizing: bool) -> None:
    """Set whether activations and the norms' weights are quantized; training always estimates the ranges."""
    for _, each in ranges(model):
        each.quantizing = quantizing
    for module in model.modules():
        if isinstance(module, QuantizedLayerNorm):
            module.quantizing = quantizing


def _tell_padding(model: Network, inputs: tuple[Tensor, ...]) -> None:
    """Set for every range which positions are text; attention weights, [B, heads, Q, K], have none."""
    masks = model.text_masks(*inputs)
    heads = model.architecture.attention_heads
    for stack, kept in masks:
        for name, each in ranges(stack):
            *_, attention, operand = ("", *name.split("."))[-3:]
            if attention == "attention" and operand in ("query", "key", "value"):
                of_source = "cross_attention" in name and operand != "query"
                each.kept = (masks[0][1] if of_source else kept)[:, None].expand(-1, heads, -1)
            elif "softmax" not in name:
                each.kept = kept
