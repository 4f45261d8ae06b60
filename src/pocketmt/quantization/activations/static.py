"""Activations in 8 bits with scales that were calibrated in advance; nothing is measured at run time."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

from pocketmt.quantization.activations.base import ActivationQuantization
from pocketmt.quantization.activations.dynamic import HIGHEST_CODE

DEVIATIONS: Final = 1.1  # Behnke et al. 2021, section 3.2


def calibrated_scale(largest: Tensor) -> float:
    """Return the value of code 1: 1 / alpha(A) (Behnke et al. 2021, section 3.2).

    alpha(A) = mean(alpha(A_i)) + 1.1 sd(alpha(A_i)) with alpha(A_i) = 127 / max |A_i|. Instances with unusually large
    values are clamped, which makes the steps of all others finer.

    Args:
        largest: float [instances], max |A_i| of each instance of the activation A. Zeros are ignored. If all are zero,
            as for a node that pruning removed, codes reach from -1 to 1.
    """
    factors = HIGHEST_CODE / largest[largest > 0].double()
    if not len(factors):
        return 1 / HIGHEST_CODE
    return float(1.0 / (factors.mean() + DEVIATIONS * factors.std(correction=0)))


@dataclass(frozen=True)
class StaticActivations:
    """8 bits in [-127, 127], value = code * scale, with one scale for the inputs of each matrix."""

    sentences: int = 256  # number of training sentences that calibrate the scales

    def quantize_rows(self, x: Tensor, scale: Tensor) -> tuple[Tensor, Tensor]:
        """Quantize at a given scale, as the engine does.

        Args:
            x: float32 [.., columns].
            scale: float32 [1].

        Returns:
            codes: int8 [.., columns] in [-127, 127], round-half-even(x * (1 / scale)), clamped.
            scale: float32 [..], the same for every row.
        """
        inverse = torch.ones_like(scale) / scale
        codes = (x * inverse).clamp(-HIGHEST_CODE, HIGHEST_CODE).round()
        return codes.to(torch.int8), scale.expand(x.shape[:-1])

    def fake_quantize(self, x: Tensor, scale: Tensor) -> Tensor:
        """Return the values of the codes of x [.., columns]; the gradient passes straight through."""
        codes, _ = self.quantize_rows(x.detach(), scale)
        return codes * scale + (x - x.detach())  # NaN stays NaN


@dataclass(frozen=True)
class CalibratedActivations(ActivationQuantization):
    """`StaticActivations` with their scales."""

    scales: Mapping[str, Tensor]  # matrix -> scale of its inputs, float32 [1]

    @property
    def calibrated_scales(self) -> Mapping[str, Tensor]:
        """Scale of the inputs of each matrix, float32 [1]."""
        return self.scales

    def stored_form(self) -> dict[str, object]:
        """Return its entry in the manifest of a model file."""
        return {"scheme": "uniform", "bits": 8}
