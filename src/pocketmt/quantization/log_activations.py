"""Activations on a log scale that is fixed beforehand, quantized as they come to a product [L5]."""

from dataclasses import dataclass

import torch
from torch import Tensor

from pocketmt.quantization.level_table import HIGHEST_LEVEL

# Of the bits of a float32: added, they carry into the exponent where the mantissa says more than 1.5; and the exponent.
_ALMOST_HALF = 0x003FFFFF
_EXPONENT = 0x7F800000


@dataclass(frozen=True)
class LogarithmicActivations:
    """Values +-S 2^q, q a whole number in (-2^(bits-1), 0] ([L5], paper L, section 3.5; the codes of [L1], eq. 3).

    A code is held as the level that it stands for, in units of the smallest: a power of two, int8, so that it meets the
    levels of weights in an integer product. The top one of 4 bits is held as 127, as that of weights is. There is no
    zero: 0 becomes the smallest value, with positive sign.

    Attributes:
        bits: of a code, 1 to 4.
        scale: S, the largest magnitude; the paper leaves activations unscaled (section 4.3), which is 1.
    """

    bits: int = 4
    scale: float = 1.0

    @property
    def top(self) -> int:
        """The largest magnitude in units of the smallest: 128 of 4 bits, and 8, 2, 1."""
        return 1 << (1 << self.bits - 1) - 1

    def quantize_rows(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Quantize to the nearest value; in the middle of two, to the smaller magnitude ([L1], eq. 1-3).

        Adding almost half of its leading bit to a number and then finding the leading bit is eq. 2 in integers: the
        "rounded log" of the paper's section 3.1. The engine does the same, bit for bit.

        Args:
            x: float32 [.., columns].

        Returns:
            codes: int8 [.., columns], levels in [-127, 127].
            scale: float32 [..], scale / top, the same for every row.
        """
        scale = torch.tensor(self.scale, dtype=torch.float32, device=x.device)
        inverse = torch.full_like(scale, self.top) / scale
        magnitude = (x.detach().abs() * inverse).clamp(1, self.top)
        power = ((magnitude.view(torch.int32) + _ALMOST_HALF) & _EXPONENT).view(torch.float32)
        level = power.clamp(max=HIGHEST_LEVEL)
        return torch.where(x < 0, -level, level).to(torch.int8), (scale / self.top).expand(x.shape[:-1])

    def fake_quantize(self, x: Tensor) -> Tensor:
        """Return what codes of x [.., columns] stand for; the gradient passes as if it were x (section 3.5)."""
        codes, scale = self.quantize_rows(x)
        return codes * scale[..., None] + (x - x.detach())  # NaN where x is

    def description(self) -> dict[str, object]:
        """Return the manifest's entry."""
        return {"scheme": "logarithmic", "bits": self.bits, "scale": self.scale}
