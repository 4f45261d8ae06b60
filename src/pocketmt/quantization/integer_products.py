"""Products of quantized activations with quantized weights, float32 exactly as the engine computes them.

Sums of whole numbers are exact, and every float32 operation is rounded separately in the order of the formula. A row of
the result depends only on its row of activations, not on the rest of the batch. Activations are given as codes, int8
[.., columns], and their scale, float32 [..], as `quantize_rows` returns them.
"""

from collections.abc import Sequence
from functools import cache, reduce
from typing import Final

import torch
from torch import Tensor

# Products of two codes are at most 127 * 128: float32 adds this many of them exactly.
_EXACT_COLUMNS: Final = 1024


def exact_sums(codes: Tensor, weights: Tensor) -> Tensor:
    """Multiply whole numbers without rounding.

    Args:
        codes: of activations, int8 [.., columns].
        weights: whole numbers in [-128, 128] as float32, or in [-128, 127] as int8, [rows, columns].

    Returns:
        float64 [.., rows], or int32 for weights of int8.
    """
    if weights.dtype == torch.int8:
        return _integer_sums(codes, weights)
    sums = torch.zeros(*codes.shape[:-1], len(weights), dtype=torch.float64, device=codes.device)
    for begin in range(0, codes.shape[-1], _EXACT_COLUMNS):
        part = slice(begin, begin + _EXACT_COLUMNS)
        sums += codes[..., part].float() @ weights[:, part].T
    return sums


def _integer_sums(codes: Tensor, weights: Tensor) -> Tensor:
    """Multiply int8 codes [.., columns] and weights [rows, columns] in the device's integer units; int32 [.., rows].

    CUDA needs sizes that are multiples of 8, and more than 16 rows of codes.
    """
    if not codes.is_cuda and not _processor_is_exact():
        return exact_sums(codes, weights.float()).to(torch.int32)
    flat = codes.flatten(0, -2)
    count, (rows, columns) = len(flat), weights.shape
    if flat.is_cuda:
        flat = _padded(flat, max(0, 24 - count) or -count % 8, -columns % 8)
        weights = _padded(weights, -rows % 8, -columns % 8)
    return torch._int_mm(flat, weights.t())[:count, :rows].view(*codes.shape[:-1], rows)


def _padded(numbers: Tensor, rows: int, columns: int) -> Tensor:
    """Add rows and columns of zeros; PyTorch would copy the numbers even if none are added."""
    return torch.nn.functional.pad(numbers, (0, columns, 0, rows)) if rows or columns else numbers


@cache
def _processor_is_exact() -> bool:
    """Whether PyTorch's int8 product is exact on this processor; on x86 without VNNI its 16-bit sums saturate."""
    largest = torch.full((32, 64), 127, dtype=torch.int8)
    return bool((torch._int_mm(largest, largest.t()) == 64 * 127 * 127).all())


def lookup_table_product(codes: Tensor, activation_scale: Tensor, levels: Tensor, scale: Tensor) -> Tensor:
    """Multiply with weights level * scale.

    Args:
        codes, activation_scale: of the activations.
        levels: whole numbers in [-127, 127] as float32 or int8 [rows, columns].
        scale: float32 [rows].

    Returns:
        float32 [.., rows]: sum(code * level) * (activation scale * scale).
    """
    return exact_sums(codes, levels).float() * (activation_scale[..., None] * scale)


def affine_product(codes: Tensor, activation_scale: Tensor, levels: Tensor, scale: Tensor, offset: Tensor) -> Tensor:
    """Multiply with weights offset + level * scale.

    Args:
        codes, activation_scale: of the activations.
        levels: the weights' codes counted from their middle, -128 to 127, as float32 or int8 [rows, columns].
        scale: float32 [rows].
        offset: value of the middle code, float32 [rows].

    Returns:
        float32 [.., rows]: sum(code * level) * (activation scale * scale) + sum(code) * (activation scale * offset).
    """
    scaled = lookup_table_product(codes, activation_scale, levels, scale)
    return scaled + _code_sums(codes).float() * (activation_scale[..., None] * offset)


def binary_code_product(codes: Tensor, activation_scale: Tensor, planes: Sequence[Tensor], alphas: Tensor) -> Tensor:
    """Multiply with weights sum_i alpha_i * (+1 if bit i is set, else -1) of 1 or 2 bits (Chung et al. 2020, eq. 2).

    Args:
        codes, activation_scale: of the activations.
        planes: 0 or 1 of each bit, as float32 or int8 [rows, columns].
        alphas: float32 [rows, bits].

    Returns:
        float32 [.., rows]: sum_i, in order, (2 * sum(code of set bits) - sum(code)) * (activation scale * alpha_i).
    """
    sum_of_codes = _code_sums(codes)
    product: Tensor = reduce(
        torch.add,
        (
            (2 * exact_sums(codes, plane) - sum_of_codes).float() * (activation_scale[..., None] * alpha)
            for plane, alpha in zip(planes, alphas.T, strict=True)
        ),
    )
    return product


def _code_sums(codes: Tensor) -> Tensor:
    return codes.double().sum(dim=-1, keepdim=True)
