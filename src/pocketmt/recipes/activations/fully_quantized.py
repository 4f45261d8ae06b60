"""A Transformer whose activations are quantized wherever paper Q quantizes them, and wherever it does not [Q3]."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

import torch
from torch import Tensor, nn

from pocketmt.errors import ConfigurationError
from pocketmt.model_file.activations import BUCKETED, OPERATIONS
from pocketmt.models.attention import DotProductAttention
from pocketmt.models.transformer import Decoder, Encoder, FeedForward, Layer, PositionedNetwork, Transformer
from pocketmt.quantization.ranges import RunningRange, fake_quantize_range
from pocketmt.text.vocabulary import PAD

# Section 3.2, in the words of Table 3.
LAYER_NORM_WEIGHT: Final = "layer_norm_weight"
STRATEGY: Final = (*OPERATIONS, LAYER_NORM_WEIGHT)
# Those that Table 3 gives buckets to see what it does: a softmax by its heads, a ReLU's output by its elements.
BUCKETABLE: Final = (*BUCKETED, "softmax_numerator", "softmax_denominator", "softmax_output", "relu_output")
# What the "default approach" of Table 2 quantizes beyond that: every other operation of the network.
NAIVE: Final = (
    *STRATEGY,
    "attention_scores",
    "softmax_denominator",
    "multi_head_output",
    "residual_sum",
    "layer_norm_mean",
    "layer_norm_variance",
)


@dataclass(frozen=True)
class FullQuantization:
    """What of a network's activations is quantized, and how.

    Attributes:
        bits: of a code, 4, 6 or 8 in the paper.
        operations: those that are quantized; STRATEGY is the paper's method.
        bucketed: those of them where each element of the last dimension has a range of its own [Q4].
        clamped_gradient: operations whose gradient passes where values are clamped; the paper: the denominator alone.
        modules: patterns of the names of `places` where operations are quantized; elsewhere they are not (Table 3 looks
            at encoder and decoder, attention and feed-forward apart).
    """

    bits: int = 8
    operations: tuple[str, ...] = STRATEGY
    bucketed: tuple[str, ...] = BUCKETED
    clamped_gradient: tuple[str, ...] = ("layer_norm_denominator",)
    modules: tuple[str, ...] = ("*",)

    def __post_init__(self) -> None:
        if not 2 <= self.bits <= 8:
            raise ConfigurationError(f"activations of {self.bits} bits: choose 2 to 8 (the paper: 4, 6 or 8)")
        for name in (*self.operations, *self.clamped_gradient):
            if name not in NAIVE:
                raise ConfigurationError(f"unknown operation {name!r}: choose among {', '.join(NAIVE)}")
        for name in self.bucketed:
            if name not in BUCKETABLE:
                raise ConfigurationError(f"{name!r} cannot have buckets: choose among {', '.join(BUCKETABLE)}")

    def point(self, operation: str, size: int = 1, dimension: int = -1) -> nn.Module:
        """Return what quantizes an operation; Identity where nothing does.

        Buckets are those of a dimension, counted from the last, -1, that has `size` elements.
        """
        if operation not in self.operations:
            return nn.Identity()
        buckets = size if operation in self.bucketed else 1
        minimum = 0.0 if operation == "relu_output" else None  # section 3.4
        return RunningRange(self.bits, buckets, minimum, operation in self.clamped_gradient, dimension)


class QuantizedSoftmax(nn.Module):
    """Softmax over the last dimension in three steps: exponentials, their sum, and the quotient."""

    def __init__(self, settings: FullQuantization, heads: int) -> None:
        super().__init__()
        self.scores = settings.point("attention_scores")
        self.numerator = settings.point("softmax_numerator", heads, dimension=-3)
        self.denominator = settings.point("softmax_denominator", heads, dimension=-3)
        self.output = settings.point("softmax_output", heads, dimension=-3)

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
        self.mean = settings.point("layer_norm_mean")
        self.variance = settings.point("layer_norm_variance")
        self.numerator = settings.point("layer_norm_numerator", size)
        self.denominator = settings.point("layer_norm_denominator")
        self.quotient = settings.point("layer_norm_quotient", size)
        self.output = settings.point("layer_norm_output", size)

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


def quantize_activations(model: PositionedNetwork, settings: FullQuantization) -> None:
    """Put what quantizes activations into a network, in place; parameters keep their names."""
    dimension = model.architecture.model_dimension
    model.position = settings.point("position")
    for stack in model.children():
        if isinstance(stack, Encoder | Decoder):
            stack.input = settings.point("embedding_sum", dimension)
    for name, module in list(model.named_modules()):
        if isinstance(module, DotProductAttention):
            _quantize_attention(module, model, settings)
        elif isinstance(module, FeedForward):
            relu_output = settings.point("relu_output", module.inner.out_features)
            module.activation = nn.Sequential(nn.ReLU(), relu_output)
            _quantize_output(module.outer, settings.point("feed_forward_output", dimension))
        elif isinstance(module, nn.LayerNorm):
            parent, _, attribute = name.rpartition(".")
            setattr(model.get_submodule(parent), attribute, QuantizedLayerNorm(module, settings))
        elif isinstance(module, Layer):
            for residual in [child for child, _ in module.named_children() if child.endswith("_residual")]:
                setattr(module, residual, settings.point("residual_sum"))
        elif name.endswith("attention.output") and isinstance(module, nn.Linear):
            _quantize_output(module, settings.point("multi_head_output"))
    _leave_out(model, [place for place in places(model) if not matches(place, settings.modules)])
    if isinstance(model, Transformer):
        model.register_forward_pre_hook(_tell_padding)


def _quantize_attention(attention: DotProductAttention, model: PositionedNetwork, settings: FullQuantization) -> None:
    size, heads = model.architecture.attention_dimension, model.architecture.attention_heads
    for name in ("query", "key", "value"):
        setattr(attention, name, settings.point("query_key_value", size // heads))
    attention.softmax = QuantizedSoftmax(settings, heads)
    attention.output = settings.point("attention_output", size)


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
    """Yield the name and module of every range of a network."""
    return ((name, module) for name, module in model.named_modules() if isinstance(module, RunningRange))


def set_stage(model: nn.Module, *, observing: bool, quantizing: bool) -> None:
    """Say of every range whether it is estimated in training, and whether it quantizes, as norms' weights do [Q5]."""
    for _, each in ranges(model):
        each.observing = observing
        each.quantizing = quantizing
    for module in model.modules():
        if isinstance(module, QuantizedLayerNorm):
            module.quantizing = quantizing


def _tell_padding(model: nn.Module, inputs: tuple[Tensor, Tensor]) -> None:
    """Tell every range which of its positions are text; attention weights, [B, heads, Q, K], take no notice."""
    assert isinstance(model, Transformer)
    source, target = (tokens != PAD for tokens in inputs)
    heads = model.architecture.attention_heads
    for stack, kept in ((model.encoder, source), (model.decoder, target)):
        for name, each in ranges(stack):
            *_, attention, operand = ("", *name.split("."))[-3:]
            if attention == "attention" and operand in ("query", "key", "value"):
                of_source = "cross_attention" in name and operand != "query"
                each.kept = (source if of_source else kept)[:, None].expand(-1, heads, -1)
            elif "softmax" not in name:
                each.kept = kept
