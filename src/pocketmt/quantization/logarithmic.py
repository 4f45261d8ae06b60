"""Log-scale quantization [L1, L2]: a sign and a power of two, times a scale that may be fitted."""

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Final, Literal

import torch
from torch import Tensor

from pocketmt.quantization.level_table import HIGHEST_LEVEL
from pocketmt.quantization.rounding import bfloat16_at_least, bfloat16_nearest, float32_at_least
from pocketmt.quantization.scheme import Parameters

_MOST_ROUNDS: Final = 1000  # far above what a fit was seen to take; each round lowers the error, so stopping is safe
_CONVERGED: Final = 2.0**-24  # relative change of a scale that no stored scale can show


@dataclass(frozen=True)
class Logarithmic:
    """Codes sign << (bits - 1) | m with weight = +-2^(n-1-m) * scale, n = 2^(bits-1) magnitudes ([L1], eq. 3; Table 6).

    One scale a row or one for the matrix. There is no zero: a weight of 0 becomes the smallest level, with positive
    sign. The paper's S is the scale times 2^(n-1); the top level of 4 bits is held as 127 (see `magnitude_levels`).

    Attributes:
        scale: how S is chosen [L2]: "none", 1 for every matrix; "maximum", such that the top level is the largest
            magnitude; "fitted", alternating eq. 3 and eq. 7 from there to a standstill.
    """

    granularity: Literal["row", "matrix"] = "row"
    bits: Literal[1, 2, 3, 4] = 4
    scale: Literal["none", "maximum", "fitted"] = "fitted"
    name: ClassVar[str] = "logarithmic"

    @property
    def levels(self) -> tuple[int, ...]:
        """The level of each code, int8: the magnitudes, largest first, then their negatives."""
        magnitudes = magnitude_levels(self.bits)
        return (*magnitudes, *(-magnitude for magnitude in magnitudes))

    def fit(self, weight: Tensor) -> Parameters:
        """Return scale, float32 [rows] or [1].

        A row's fitted scale is rounded to the nearest bfloat16, not up: a least-squares scale clips anyhow, and beside
        its best value the error grows with the square of the distance, on either side. A matrix's is kept in float32.
        """
        magnitudes = weight.detach().abs().double()
        by_row = self.granularity == "row"
        rows = magnitudes if by_row else magnitudes.reshape(1, -1)
        if self.scale == "none":
            return {"scale": torch.full((len(rows),), 2.0 ** (1 - 2 ** (self.bits - 1)), device=weight.device)}
        levels = magnitude_levels(self.bits)
        if self.scale == "maximum":
            scale = rows.amax(dim=1) / levels[0]
            return {"scale": bfloat16_at_least(scale) if by_row else float32_at_least(scale)}
        scale = fitted_scale(rows, levels)
        return {"scale": bfloat16_nearest(scale) if by_row else scale.to(torch.float32)}

    def assign(self, weight: Tensor, parameters: Parameters) -> Tensor:
        """Return the codes of the nearest centres, uint8 [rows, columns]; ties: the smaller magnitude ([L1], eq. 1)."""
        weight = weight.detach()
        levels = magnitude_levels(self.bits)
        boundaries = _boundaries(parameters["scale"].detach().double(), levels).expand(weight.shape[0], -1).contiguous()
        position = torch.searchsorted(boundaries, weight.abs().double().contiguous())  # 0 is the smallest magnitude
        codes = len(levels) - 1 - position + len(levels) * (weight < 0)
        return codes.to(torch.uint8)

    def decode(self, codes: Tensor, parameters: Parameters) -> Tensor:
        """Return level * scale, float32 [rows, columns]."""
        scale = parameters["scale"]
        return torch.tensor(self.levels, dtype=torch.float32, device=scale.device)[codes.long()] * scale[:, None]

    def description(self) -> dict[str, object]:
        """Return the manifest's entry."""
        return {"name": self.name, "bits": self.bits, "granularity": self.granularity, "levels": list(self.levels)}


def magnitude_levels(bits: int) -> tuple[int, ...]:
    """Return [L1]'s magnitudes 2^q, q = 0, -1, .. above -2^(bits-1), times their lowest common denominator.

    The top one of 4 bits, 128, is held as 127: then levels are int8 and meet int8 activations in an integer product.
    Fit and assignment use the centres as held.
    """
    count = 2 ** (bits - 1)
    return tuple(min(HIGHEST_LEVEL, 2**power) for power in reversed(range(count)))


def fitted_scale(magnitudes: Tensor, levels: tuple[int, ...]) -> Tensor:
    """Fit each row's scale by least squares ([L2], eq. 4-7), in turn with the assignment (eq. 3), to a standstill.

    Rows are sorted once: then an assignment is a cut at each boundary, and eq. 7 a sum over ranges.

    Args:
        magnitudes: float64 [rows, columns], not negative.
        levels: of the centres, positive, largest first.

    Returns:
        float64 [rows]; 0 for a row of zeros.
    """
    ordered = magnitudes.sort(dim=1).values
    sums = torch.nn.functional.pad(ordered.cumsum(dim=1), (1, 0))  # sums[:, n]: of the n smallest
    ascending = torch.tensor(levels[::-1], dtype=torch.float64, device=magnitudes.device)
    ends = torch.tensor([0, ordered.shape[1]], device=magnitudes.device).expand(len(ordered), 2)
    scale = ordered[:, -1] / levels[0]
    for _ in range(_MOST_ROUNDS):
        cuts = torch.searchsorted(ordered, _boundaries(scale, levels), right=True)  # eq. 3: up to each boundary
        edges = torch.cat([ends[:, :1], cuts, ends[:, 1:]], dim=1)
        level_sums = (sums.gather(1, edges).diff(dim=1) * ascending).sum(dim=1)
        level_squares = (edges.diff(dim=1) * ascending.square()).sum(dim=1)
        fitted = level_sums / level_squares  # eq. 7
        if bool(((fitted - scale).abs() <= _CONVERGED * scale).all()):
            break
        scale = fitted
    return scale


def _boundaries(scale: Tensor, levels: tuple[int, ...]) -> Tensor:
    """Midpoints between neighbouring centres, float64 [len(scale), levels - 1]: nearest in linear space (eq. 1)."""
    midpoints = [(low + high) / 2 for low, high in pairwise(levels[::-1])]
    return scale[:, None] * torch.tensor(midpoints, dtype=torch.float64, device=scale.device)
