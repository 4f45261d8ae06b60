"""Activations in 8 bits at a scale that a calibration found beforehand: nothing is measured at run time [E6]."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

from pocketmt.quantization.activations import HIGHEST_CODE

DEVIATIONS: Final = 1.1  # paper E, section 3.2


def calibrated_scale(largest: Tensor) -> float:
    """Return what a code of 1 stands for ([E6], paper E, section 3.2): 1 / alpha(A).

    alpha(A) = mean(alpha(A_i)) + 1.1 sd(alpha(A_i)), alpha(A_i) = 127 / max |A_i|: instances whose values are unusually
    large are clamped, for the sake of all the others' steps.

    Args:
        largest: float [instances], max |A_i| of each instance of the activation A; those of zeros say nothing. Where
            there are no others, of a node that pruning left for dead, the codes reach from -1 to 1.
    """
    factors = HIGHEST_CODE / largest[largest > 0].double()
    if not len(factors):
        return 1 / HIGHEST_CODE
    return float(1.0 / (factors.mean() + DEVIATIONS * factors.std(correction=0)))


@dataclass(frozen=True)
class StaticActivations:
    """8 bits in [-127, 127], value = code * scale; each product's input has a scale of its own [E6].

    Attributes:
        sentences: of the training text, with which the scales are calibrated.
    """

    sentences: int = 256

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
        """Return what codes of x [.., columns] stand for; the gradient passes as if it were x."""
        codes, _ = self.quantize_rows(x.detach(), scale)
        return codes * scale + (x - x.detach())  # NaN where x is


@dataclass(frozen=True)
class CalibratedActivations:
    """`StaticActivations` whose scales were found.

    Attributes:
        scales: name of a matrix -> float32 [1], of the activations that meet it.
    """

    scales: Mapping[str, Tensor]

    def description(self) -> dict[str, object]:
        """Return the manifest's entry."""
        return {"scheme": "uniform", "bits": 8}
