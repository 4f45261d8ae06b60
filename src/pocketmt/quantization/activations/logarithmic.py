"""Activations on a logarithmic scale that is fixed in advance."""

from dataclasses import dataclass

import torch
from torch import Tensor

from pocketmt.quantization.activations.base import ActivationQuantization
from pocketmt.quantization.lookup_table import HIGHEST_LEVEL

# Added to the bits of a float32, the first carries into the exponent if the mantissa is more than 1.5. The second is
# the mask of the exponent.
_ALMOST_HALF = 0x003FFFFF
_EXPONENT = 0x7F800000


@dataclass(frozen=True)
class LogarithmicActivations(ActivationQuantization):
    """Values +-S 2^q, q a whole number in (-2^(bits-1), 0] (Aji and Heafield 2020, sections 3.1 and 3.5).

    A code is the level that it represents, in units of the smallest: a power of two as int8, for integer products with
    the levels of weights. The largest one of 4 bits is 127 instead of 128, as for weights. No code represents zero: 0
    becomes the smallest value, with positive sign.
    """

    bits: int = 4  # of a code, 1 to 4
    scale: float = 1.0  # S, the largest magnitude; 1 in the paper, which does not scale activations (section 4.3)
    attention: bool = False  # whether training quantizes the operands of the two products of attention, too

    @property
    def top(self) -> int:
        """Largest magnitude in units of the smallest: 128 for 4 bits, then 8, 2, 1."""
        return 1 << (1 << self.bits - 1) - 1

    def quantize_rows(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Quantize to the nearest value; in the middle of two, to the smaller magnitude (eq. 1-3).

        Adding almost half of the leading bit to a number and then taking the leading bit is eq. 2 in integers. The
        engine does the same, with equal results.

        Args:
            x: float32 [.., columns].

        Returns:
            codes: int8 [.., columns], levels in [-127, 127].
            scale: float32 [..], scale / top, the same for every row.
        """
        # Filled on the device: a copy from the host could not be captured as a CUDA graph.
        scale = torch.full((), self.scale, dtype=torch.float32, device=x.device)
        inverse = torch.full_like(scale, self.top) / scale
        magnitude = (x.detach().abs() * inverse).clamp(1, self.top)
        power = ((magnitude.view(torch.int32) + _ALMOST_HALF) & _EXPONENT).view(torch.float32)
        level = power.clamp(max=HIGHEST_LEVEL)
        return torch.where(x < 0, -level, level).to(torch.int8), (scale / self.top).expand(x.shape[:-1])

    def fake_quantize(self, x: Tensor) -> Tensor:
        """Return the values of the codes of x [.., columns]; the gradient passes straight through (section 3.5)."""
        codes, scale = self.quantize_rows(x)
        return codes * scale[..., None] + (x - x.detach())  # NaN stays NaN

    def stored_form(self) -> dict[str, object]:
        """Return its entry in the manifest of a model file."""
        return {"scheme": "logarithmic", "bits": self.bits, "scale": self.scale}
