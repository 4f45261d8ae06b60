"""Products of activations, quantized at run time, with quantized weights: float32 exactly as the engine computes them.

Sums of whole numbers are exact, every float32 operation is rounded by itself in the order of the formula, and a row of
activations meets its own codes and scale alone: a result does not depend on the rest of the batch.
"""

from functools import reduce
from typing import Final

import torch
from torch import Tensor

# Products of an activation's code and a weight's are at most 127 * 128: float32 adds this many of them exactly.
_EXACT_COLUMNS: Final = 1024


def exact_sums(codes: Tensor, weights: Tensor) -> Tensor:
    """Multiply whole numbers without rounding.

    Args:
        codes: of activations, int8 [.., columns].
        weights: whole numbers in [-128, 128] as float32 [rows, columns].

    Returns:
        float64 [.., rows].
    """
    sums = torch.zeros(*codes.shape[:-1], len(weights), dtype=torch.float64, device=codes.device)
    for begin in range(0, codes.shape[-1], _EXACT_COLUMNS):
        part = slice(begin, begin + _EXACT_COLUMNS)
        sums += codes[..., part].float() @ weights[:, part].T
    return sums


def level_product(codes: Tensor, activation_scale: Tensor, levels: Tensor, scale: Tensor) -> Tensor:
    """Multiply with weights level * scale.

    Args:
        codes: of activations, int8 [.., columns], as `quantize_rows` gives them.
        activation_scale: float32 [..].
        levels: whole numbers in [-127, 127] as float32 [rows, columns].
        scale: float32 [rows].

    Returns:
        float32 [.., rows]: sum(code * level) * (activation scale * scale).
    """
    return exact_sums(codes, levels).float() * (activation_scale[..., None] * scale)


def affine_product(codes: Tensor, activation_scale: Tensor, levels: Tensor, scale: Tensor, offset: Tensor) -> Tensor:
    """Multiply with weights offset + level * scale.

    Args:
        codes: of activations, int8 [.., columns], as `quantize_rows` gives them.
        activation_scale: float32 [..].
        levels: the weights' codes counted from their middle, -128 to 127, as float32 [rows, columns].
        scale: float32 [rows].
        offset: what the middle code stands for, float32 [rows].

    Returns:
        float32 [.., rows]: sum(code * level) * (activation scale * scale) + sum(code) * (activation scale * offset).
    """
    scaled = level_product(codes, activation_scale, levels, scale)
    return scaled + _code_sums(codes).float() * (activation_scale[..., None] * offset)


def binary_product(codes: Tensor, activation_scale: Tensor, planes: Tensor, alphas: Tensor) -> Tensor:
    """Multiply with weights sum_i alpha_i * (+1 where bit i is set, else -1), of 1 or 2 bits ([B1], paper B, eq. 2).

    Args:
        codes: of activations, int8 [.., columns], as `quantize_rows` gives them.
        activation_scale: float32 [..].
        planes: 0 or 1 as float32 [rows, bits, columns].
        alphas: float32 [rows, bits].

    Returns:
        float32 [.., rows]: terms (2 * sum(code where set) - sum(code)) * (activation scale * alpha_i), added in order.
    """
    total = _code_sums(codes)
    return reduce(
        torch.add,
        (
            (2 * exact_sums(codes, planes[:, bit]) - total).float() * (activation_scale[..., None] * alphas[:, bit])
            for bit in range(planes.shape[1])
        ),
    )


def _code_sums(codes: Tensor) -> Tensor:
    return codes.double().sum(dim=-1, keepdim=True)
