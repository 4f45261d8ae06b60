"""Activations quantized at run time, and their product with integer weights, as the engine computes them."""

from typing import Final

import torch
from torch import Tensor

HIGHEST_CODE: Final = 127
# Products of two codes are below 2^14, so that float32 adds this many of them exactly.
_EXACT_COLUMNS: Final = 1024
# A row smaller than this counts as zeros: below about 1e-37, 127 / max |x| would be no finite float32.
_NEGLIGIBLE: Final = 1e-35


def quantize_rows(x: Tensor) -> tuple[Tensor, Tensor]:
    """Quantize activations to 8 bits with a scale a row, set by the row's largest magnitude ([E6], at run time).

    Args:
        x: float32 [.., columns].

    Returns:
        codes: int8 [.., columns] in [-127, 127], round-half-even(x * (127 / max |x|)).
        scale: float32 [..], max |x| / 127; 0 for a row of (almost) zeros, whose codes are 0.
    """
    largest = x.abs().amax(dim=-1, keepdim=True)
    zero = largest < _NEGLIGIBLE
    codes = (x * (HIGHEST_CODE / largest).masked_fill(zero, 0.0)).round()
    scale = (largest / HIGHEST_CODE).masked_fill(zero, 0.0)
    return codes.to(torch.int8), scale.squeeze(-1)


def integer_product(x: Tensor, levels: Tensor, scale: Tensor) -> Tensor:
    """Multiply activations, quantized per row, with integer weights.

    Sums are exact, so that a row's result depends on that row alone.

    Args:
        x: float32 [.., columns].
        levels: whole numbers in [-127, 127] as float32 [rows, columns].
        scale: float32 [rows].

    Returns:
        float32 [.., rows]: sum(codes * levels) * (activation scale * scale).
    """
    codes, activation_scale = quantize_rows(x)
    sums = torch.zeros(*x.shape[:-1], len(levels), dtype=torch.float64, device=x.device)
    for begin in range(0, x.shape[-1], _EXACT_COLUMNS):
        part = slice(begin, begin + _EXACT_COLUMNS)
        sums += codes[..., part].float() @ levels[:, part].T
    return sums.float() * (activation_scale[..., None] * scale)
