"""Tables of position encodings: sinusoids, by the description's field `positions`.

Each function returns float32 [positions, dimension]: row p has sin(p f_i) and cos(p f_i) of frequencies f_i, i from 0
below dimension / 2.
"""

from collections.abc import Callable
from typing import Final

import torch
from torch import Tensor


def interleaved(positions: int, dimension: int) -> Tensor:
    """f_i = 10000^(-2i/dimension), sines in even elements, cosines in odd ones; Vaswani et al. 2017, section 3.5."""
    sine, cosine = _sinusoids(positions, dimension, dimension / 2)
    return torch.stack([sine, cosine], dim=-1).flatten(1)[:, :dimension].float()


def concatenated(positions: int, dimension: int) -> Tensor:
    """f_i = 10000^(-2i/dimension), first all sines, then all cosines: as Hugging Face's Marian."""
    return torch.cat(_sinusoids(positions, dimension, dimension / 2), dim=-1).float()


def concatenated_inclusive(positions: int, dimension: int) -> Tensor:
    """f_i = 10000^(-i/(dimension/2 - 1)), first all sines, then all cosines: as Marian and M2M100."""
    return torch.cat(_sinusoids(positions, dimension, dimension / 2 - 1), dim=-1).float()


def _sinusoids(positions: int, dimension: int, steps: float) -> tuple[Tensor, Tensor]:
    """Return sines and cosines, float64 [positions, dimension / 2]; frequency i is 10000^(-i/steps)."""
    position = torch.arange(positions, dtype=torch.float64)[:, None]
    frequency = torch.pow(10000.0, -torch.arange((dimension + 1) // 2, dtype=torch.float64) / steps)
    angle = position * frequency
    return angle.sin(), angle.cos()


POSITION_TABLES: Final[dict[str, Callable[[int, int], Tensor]]] = {
    "interleaved": interleaved,
    "concatenated": concatenated,
    "concatenated_inclusive": concatenated_inclusive,
}
