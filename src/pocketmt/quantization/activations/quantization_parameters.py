"""Scale and offset of an activation that is quantized within a trained range, with the engine's arithmetic."""

from typing import Final

import torch
from torch import Tensor, nn

# A range whose inverse scale is not a finite float32 counts as a single value.
_NEGLIGIBLE: Final = 1e-35


class QuantizationParameters(nn.Module):
    """Even steps between a minimum and a maximum: value = offset + code * scale, code from lowest to -lowest - 1.

    Codes are counted from the middle, as those of affine weights, so that 8 bits fit int8. Prato et al. 2020, eq. 1-3,
    count from the minimum; the values are the same.
    """

    offset: Tensor
    scale: Tensor
    inverse: Tensor

    def __init__(self, minimum: Tensor, maximum: Tensor, bits: int) -> None:
        """Take the ends of the range, float32 [elements] or [1] for all elements, and the bits of a code."""
        super().__init__()
        self.lowest = -(2 ** (bits - 1))
        scale = (maximum - minimum) / (2**bits - 1)
        self.register_buffer("scale", scale)
        self.register_buffer("offset", minimum - self.lowest * scale)
        self.register_buffer("inverse", torch.where(scale < _NEGLIGIBLE, torch.zeros_like(scale), 1.0 / scale))

    @property
    def uniform(self) -> bool:
        """Whether all elements of a row share the range, so that integer products can use the codes."""
        return len(self.scale) == 1

    def codes(self, x: Tensor) -> Tensor:
        """Return the nearest codes of x [.., elements] as whole numbers in float32; ties go to the even one."""
        return ((x - self.offset) * self.inverse).clamp(self.lowest, -self.lowest - 1).round()

    def forward(self, x: Tensor) -> Tensor:
        """Fake-quantize: return the values of the nearest codes, of the same shape."""
        quantized: Tensor = self.offset + self.codes(x) * self.scale
        return quantized
