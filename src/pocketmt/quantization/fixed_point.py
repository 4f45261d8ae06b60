"""4-bit fixed point with a fitted scale: the baseline for logarithmic quantization."""

from dataclasses import dataclass
from typing import ClassVar, Final, Literal

import torch
from torch import Tensor

from pocketmt.quantization.lookup_table import MatrixCodebook
from pocketmt.quantization.scheme import Parameters
from pocketmt.quantization.sorted_values import fitted_scale

LEVELS: Final = tuple(range(-8, 8))


@dataclass(frozen=True)
class FixedPoint(MatrixCodebook):
    """Whole numbers from -8 to 7 times one scale for each matrix (Aji and Heafield 2020, Table 3).

    The scale is fitted as for logarithmic codes (section 3.2). The file holds a codebook of 4 bits whose levels are
    these 16 numbers.
    """

    name: ClassVar[str] = "fixed_point"
    learnable: ClassVar[bool] = False
    keeps_zero: ClassVar[bool] = True
    bits: ClassVar[Literal[4]] = 4

    def fit(self, weight: Tensor) -> Parameters:
        """Return levels, float32 [16], -8 to 7, and scale, float32 [1]."""
        levels = torch.tensor(LEVELS, dtype=torch.float32, device=weight.device)
        scale = fitted_scale(weight.detach().double().reshape(1, -1).sort().values, levels.double())
        return {"levels": levels, "scale": scale.to(torch.float32)}

    def clamped(self, weight: Tensor, parameters: Parameters) -> Tensor:
        """Return which weights lie outside the outer levels, bool [rows, columns]."""
        low, high = parameters["levels"][0] * parameters["scale"], parameters["levels"][-1] * parameters["scale"]
        return (weight < low) | (weight > high)
