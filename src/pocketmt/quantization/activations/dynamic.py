"""Activations quantized with scales that are computed at run time; the engine's default."""

from typing import Final

import torch
from torch import Tensor

HIGHEST_CODE: Final = 127
# Rows with a smaller maximum count as zeros: below about 1e-37, 127 / max |x| is not a finite float32.
NEGLIGIBLE: Final = 1e-35


def quantize_rows(x: Tensor) -> tuple[Tensor, Tensor]:
    """Quantize activations to 8 bits; the largest magnitude of each row sets its scale.

    Args:
        x: float32 [.., columns].

    Returns:
        codes: int8 [.., columns] in [-127, 127], round-half-even(x * (127 / max |x|)).
        scale: float32 [..], max |x| / 127; 0 for a row of (almost) zeros, whose codes are 0.
    """
    largest = x.abs().amax(dim=-1, keepdim=True)
    zero = largest < NEGLIGIBLE
    # Dividing two tensors rounds once; PyTorch divides a number by a tensor as number * (1 / tensor), rounding twice.
    inverse = torch.full_like(largest, HIGHEST_CODE) / largest
    codes = (x * inverse.masked_fill(zero, 0.0)).round()
    scale = (largest / HIGHEST_CODE).masked_fill(zero, 0.0)
    return codes.to(torch.int8), scale.squeeze(-1)
