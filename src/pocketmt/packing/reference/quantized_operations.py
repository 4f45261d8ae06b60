"""Fully quantized attention and normalization, with every float operation in the order of the engine."""

import math
from collections.abc import Callable
from typing import Final

import torch
from torch import Tensor, nn

from pocketmt.quantization.activations.dynamic import quantize_rows
from pocketmt.quantization.activations.quantization_parameters import QuantizationParameters

ParametersOf = Callable[[str], QuantizationParameters | None]  # operation -> None if it is not quantized
_LANES: Final = 16
_LEAST_EXPONENT: Final = -127.0  # of 2; below it exp counts as 0


def fake_quantize(parameters: QuantizationParameters | None, x: Tensor) -> Tensor:
    """Return x after quantization, or unchanged without parameters."""
    return x if parameters is None else parameters(x)


class ReferenceSoftmax(nn.Module):
    """Softmax over the last dimension with quantized numerator and output; returns codes."""

    def __init__(self, numerator: QuantizationParameters | None, output: QuantizationParameters | None) -> None:
        super().__init__()
        self.numerator = numerator
        self.output = output

    def forward(self, scores: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Turn scores into codes of their softmax.

        Args:
            scores: float32 [.., K], -inf where masked.

        Returns:
            Codes [.., K], 0 where masked; scale and offset [.., 1]: a weight is offset + code * scale.
        """
        exponentials = exponential(scores - scores.amax(dim=-1, keepdim=True))
        total = sum_of_lanes(exponentials)
        weights = (fake_quantize(self.numerator, exponentials) / total).masked_fill(scores == -torch.inf, 0.0)
        if self.output is None:
            codes, scale = quantize_rows(weights)
            return codes.float(), scale[..., None], torch.zeros_like(total)
        codes = self.output.codes(weights).masked_fill(scores == -torch.inf, 0.0)
        return codes, self.output.scale.expand_as(total), self.output.offset.expand_as(total)


class ReferenceAttention(nn.Module):
    """Scaled dot-product attention; its two products are sums of whole numbers."""

    def __init__(
        self,
        query: QuantizationParameters,
        key: QuantizationParameters,
        value: QuantizationParameters,
        softmax: ReferenceSoftmax,
        output: QuantizationParameters | None,
    ) -> None:
        super().__init__()
        self.query = query
        self.key = key
        self.value = value
        self.softmax = softmax
        self.output = output

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
        """Compute attention for the arguments of `pocketmt.models.attention.DotProductAttention`."""
        scores = self._scores(query, self.key.codes(key))
        if mask is not None:
            scores = scores + mask
        weights, scale, offset = self.softmax(scores)
        values = self.value.codes(value).double()
        attended = (scores > -torch.inf).double()
        products, totals = (weights.double() @ values).float(), (attended @ values).float()
        weight_totals = weights.double().sum(dim=-1, keepdim=True).float()
        all_weights = weight_totals * scale + attended.sum(dim=-1, keepdim=True).float() * offset
        sums = (products * scale + totals * offset) * self.value.scale + all_weights * self.value.offset
        return fake_quantize(self.output, sums.transpose(1, 2).flatten(2))

    def _scores(self, query: Tensor, keys: Tensor) -> Tensor:
        """Return dot products over sqrt(head size), without terms that are equal for all keys.

        With a range for each element, the scales of keys are multiplied into the query, which is then quantized
        dynamically.
        """
        # Made on the device: a copy from the host could not be captured as a CUDA graph.
        size = torch.full((), math.sqrt(query.shape[-1]), device=query.device)
        factor = torch.ones_like(size) / size
        transposed = keys.double().transpose(-1, -2)
        if self.query.uniform:
            sums = (self.query.codes(query).double() @ transposed).float()
            totals = transposed.sum(dim=-2, keepdim=True).float()
            return sums * (self.query.scale * self.key.scale * factor) + totals * (
                self.query.offset * self.key.scale * factor
            )
        codes, scale = quantize_rows(self.query(query) * self.key.scale)
        return (codes.double() @ transposed).float() * (scale * factor)[..., None]


class ReferenceLayerNorm(nn.Module):
    """Layer normalization with quantized steps."""

    def __init__(self, norm: nn.LayerNorm, parameters_of: ParametersOf) -> None:
        super().__init__()
        self.weight = norm.weight
        self.bias = norm.bias
        self.epsilon = norm.eps
        self.numerator = parameters_of("layer_norm_numerator")
        self.denominator = parameters_of("layer_norm_denominator")
        self.quotient = parameters_of("layer_norm_quotient")
        self.output = parameters_of("layer_norm_output")
        self.quantized = any(self.children())

    def forward(self, x: Tensor) -> Tensor:
        """[.., d] -> [.., d]."""
        size = x.shape[-1]
        centred = x - sum_of_lanes(x) / size
        variance = sum_of_lanes(centred.square()) / size
        # In float32, PyTorch may round a root to the neighbour of the nearest number.
        denominator = (variance + self.epsilon).double().sqrt().float()
        quotient = fake_quantize(self.numerator, centred) / fake_quantize(self.denominator, denominator)
        return fake_quantize(self.output, fake_quantize(self.quotient, quotient) * self.weight + self.bias)


def sum_of_lanes(x: Tensor) -> Tensor:
    """Sum the last dimension in the engine's order: 16 lanes, folded in halves; float32 [.., n] -> [.., 1]."""
    padded = nn.functional.pad(x, (0, -x.shape[-1] % _LANES)).reshape(*x.shape[:-1], -1, _LANES)
    total = torch.zeros_like(padded[..., 0, :])
    for lanes in padded.unbind(dim=-2):
        total = total + lanes
    while total.shape[-1] > 1:
        low, high = total.chunk(2, dim=-1)
        total = low + high
    return total


def exponential(x: Tensor) -> Tensor:
    """Return exp(x) for float32 x <= 0 by the engine's polynomial (native/kernels/vector/exponential.h)."""
    t = (x * 1.44269504).clamp(min=_LEAST_EXPONENT).nan_to_num(nan=_LEAST_EXPONENT)
    n = t.round()
    r = t - n
    value = torch.full_like(r, 1.32647273e-3)
    for coefficient in (9.67151299e-3, 5.55073358e-2, 0.240222424, 0.693147004, 1.0):
        value = value * r + coefficient
    return (value.view(torch.int32) + (n.int() << 23)).view(torch.float32)
