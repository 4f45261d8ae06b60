"""Activations quantized at run time, as the engine does it."""

from typing import Final

import torch
from torch import Tensor

HIGHEST_CODE: Final = 127
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
    # Of two tensors: a number over a tensor is its reciprocal times the number, which is rounded twice.
    inverse = torch.full_like(largest, HIGHEST_CODE) / largest
    codes = (x * inverse.masked_fill(zero, 0.0)).round()
    scale = (largest / HIGHEST_CODE).masked_fill(zero, 0.0)
    return codes.to(torch.int8), scale.squeeze(-1)
