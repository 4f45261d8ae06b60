"""4-bit fixed point with a fitted scale: the baseline of log quantization [L6]."""

from dataclasses import dataclass
from typing import ClassVar, Final, Literal

import torch
from torch import Tensor

from pocketmt.quantization.level_table import MatrixCodebook, nearest_codes
from pocketmt.quantization.scheme import Parameters

LEVELS: Final = tuple(range(-8, 8))
_MOST_ROUNDS: Final = 1000  # each round lowers the error, so stopping is safe
_CONVERGED: Final = 2.0**-24  # relative change of a scale that float32 cannot show


@dataclass(frozen=True)
class FixedPoint(MatrixCodebook):
    """Whole numbers from -8 to 7 times one scale a matrix, fitted as [L2] fits that of a log scale ([L6], Table 3).

    It is stored as a codebook of 4 bits whose levels are these 16 numbers.
    """

    name: ClassVar[str] = "fixed_point"
    bits: ClassVar[Literal[4]] = 4

    def fit(self, weight: Tensor) -> Parameters:
        """Return levels, float32 [16], -8 to 7, and scale, float32 [1]."""
        levels = torch.tensor(LEVELS, dtype=torch.float32, device=weight.device)
        scale = fitted_scale(weight.detach().double().flatten().sort().values, levels.double())
        return {"levels": levels, "scale": scale.to(torch.float32).reshape(1)}

    def assign(self, weight: Tensor, parameters: Parameters) -> Tensor:
        """Return the nearest levels' codes, uint8 [rows, columns]; in the middle of two, the lower's."""
        return nearest_codes(weight, (parameters["levels"] * parameters["scale"])[None])


def fitted_scale(ordered: Tensor, levels: Tensor) -> Tensor:
    """Alternate nearest levels (paper L, eq. 3) and the least-squares scale for them (eq. 7), from the maximum.

    Of sorted values an assignment is a cut at each boundary, and eq. 7 a sum over ranges.

    Args:
        ordered: float64 [count], ascending.
        levels: float64, ascending, the last above 0.

    Returns:
        float64 []; 0 where all values are 0.
    """
    sums = torch.nn.functional.pad(ordered.cumsum(dim=0), (1, 0))  # sums[n]: of the n smallest
    ends = torch.tensor([0, len(ordered)], device=ordered.device)
    scale = ordered.abs().amax() / levels[-1]
    for _ in range(_MOST_ROUNDS):
        cuts = torch.searchsorted(ordered, scale * (levels[:-1] + levels[1:]) / 2, right=True)
        edges = torch.cat([ends[:1], cuts, ends[1:]])
        squares = (edges.diff() * levels.square()).sum()
        if squares == 0:  # nothing but zeros
            break
        fitted = (sums[edges].diff() * levels).sum() / squares
        if abs(fitted - scale) <= _CONVERGED * scale:
            break
        scale = fitted
    return scale
