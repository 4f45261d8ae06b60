"""Grids of activations whose ranges were trained, with the engine's arithmetic [Q1]."""

from typing import Final

import torch
from torch import Tensor, nn

# A range so narrow that one over its steps is no finite float32 is a single value.
_NEGLIGIBLE: Final = 1e-35


class Grid(nn.Module):
    """Even steps between a minimum and a maximum: value = offset + code * scale, code from lowest to -lowest - 1.

    Codes are counted from the middle, as those of affine weights, so that 8 bits fit int8 (paper Q, eq. 1-3 count from
    the minimum: the values are the same).
    """

    offset: Tensor
    scale: Tensor
    inverse: Tensor

    def __init__(self, minimum: Tensor, maximum: Tensor, bits: int) -> None:
        """Take ends, float32 [elements] or [1] for all elements, and the bits of a code."""
        super().__init__()
        self.lowest = -(2 ** (bits - 1))
        scale = (maximum - minimum) / (2**bits - 1)
        self.register_buffer("scale", scale)
        self.register_buffer("offset", minimum - self.lowest * scale)
        self.register_buffer("inverse", torch.where(scale < _NEGLIGIBLE, torch.zeros_like(scale), 1.0 / scale))

    @property
    def uniform(self) -> bool:
        """Whether all elements of a row share the range, so that codes can meet others in a sum of whole numbers."""
        return len(self.scale) == 1

    def codes(self, x: Tensor) -> Tensor:
        """Return the nearest codes of x [.., elements] as whole numbers in float32; ties go to the even one."""
        return ((x - self.offset) * self.inverse).clamp(self.lowest, -self.lowest - 1).round()

    def forward(self, x: Tensor) -> Tensor:
        """Return the nearest points of the grid, of the same shape."""
        snapped: Tensor = self.offset + self.codes(x) * self.scale
        return snapped
