"""Log-scale quantization with a fitted scale [L1, L2]: a sign and a power of two."""

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Final, Literal

import torch
from torch import Tensor

from pocketmt.quantization.rounding import bfloat16_nearest
from pocketmt.quantization.scheme import Parameters

# [L1]'s centres +-S * 2^q, q = 0 .. -7, held as levels 2^(7+q), so that S = 128 * scale. The top one is held as 127:
# then levels are int8 and meet int8 activations in an integer product. Fit and assignment use the centres as held.
MAGNITUDES: Final = (127, 64, 32, 16, 8, 4, 2, 1)  # of code & 7
SIGN_BIT: Final = 8
LEVELS: Final = (*MAGNITUDES, *(-magnitude for magnitude in MAGNITUDES))
_ASCENDING: Final = MAGNITUDES[::-1]
_MIDPOINTS: Final = tuple((low + high) / 2 for low, high in pairwise(_ASCENDING))
_MOST_ROUNDS: Final = 1000  # far above what a fit was seen to take; each round lowers the error, so stopping is safe
_CONVERGED: Final = 2.0**-24  # relative change of a scale that no stored scale can show


@dataclass(frozen=True)
class Logarithmic:
    """4-bit codes sign << 3 | m with weight = +-min(127, 2^(7-m)) * scale, one scale a row or one for the matrix.

    There is no zero: a weight of 0 becomes the smallest level, with positive sign.
    """

    granularity: Literal["row", "matrix"] = "row"
    name: ClassVar[str] = "logarithmic"
    bits: ClassVar[int] = 4
    levels: ClassVar[tuple[int, ...]] = LEVELS

    def fit(self, weight: Tensor) -> Parameters:
        """Return scale, float32 [rows] or [1], that alternating [L2] eq. 3 and eq. 7 from the maximum converges to.

        A row's scale is rounded to the nearest bfloat16, not up: a least-squares scale clips anyhow, and beside its
        best value the error grows with the square of the distance, on either side. A matrix's is kept in float32.
        """
        magnitudes = weight.detach().abs().double()
        if self.granularity == "matrix":
            return {"scale": fitted_scale(magnitudes.reshape(1, -1)).to(torch.float32)}
        return {"scale": bfloat16_nearest(fitted_scale(magnitudes))}

    def assign(self, weight: Tensor, parameters: Parameters) -> Tensor:
        """Return the codes of the nearest centres, uint8 [rows, columns] below 16; ties: the smaller (eq. 1)."""
        weight = weight.detach()
        boundaries = _boundaries(parameters["scale"].detach().double()).expand(weight.shape[0], -1).contiguous()
        position = torch.searchsorted(boundaries, weight.abs().double().contiguous())  # 0 is the smallest magnitude
        codes = len(MAGNITUDES) - 1 - position + SIGN_BIT * (weight < 0)
        return codes.to(torch.uint8)

    def decode(self, codes: Tensor, parameters: Parameters) -> Tensor:
        """Return level * scale, float32 [rows, columns]."""
        scale = parameters["scale"]
        return torch.tensor(LEVELS, dtype=torch.float32, device=scale.device)[codes.long()] * scale[:, None]

    def description(self) -> dict[str, object]:
        """Return the manifest's entry."""
        return {"name": self.name, "bits": self.bits, "granularity": self.granularity, "levels": list(LEVELS)}


def fitted_scale(magnitudes: Tensor) -> Tensor:
    """Fit each row's scale by least squares ([L2], eq. 4-7), in turn with the assignment (eq. 3), to a standstill.

    Rows are sorted once: then an assignment is seven cuts, and eq. 7 a sum over eight ranges.

    Args:
        magnitudes: float64 [rows, columns], not negative.

    Returns:
        float64 [rows]; 0 for a row of zeros.
    """
    ordered = magnitudes.sort(dim=1).values
    sums = torch.nn.functional.pad(ordered.cumsum(dim=1), (1, 0))  # sums[:, n]: of the n smallest
    levels = torch.tensor(_ASCENDING, dtype=torch.float64, device=magnitudes.device)
    ends = torch.tensor([0, ordered.shape[1]], device=magnitudes.device).expand(len(ordered), 2)
    scale = ordered[:, -1] / MAGNITUDES[0]
    for _ in range(_MOST_ROUNDS):
        cuts = torch.searchsorted(ordered, _boundaries(scale), right=True)  # eq. 3: magnitudes up to each boundary
        edges = torch.cat([ends[:, :1], cuts, ends[:, 1:]], dim=1)
        level_sums = (sums.gather(1, edges).diff(dim=1) * levels).sum(dim=1)
        level_squares = (edges.diff(dim=1) * levels.square()).sum(dim=1)
        fitted = level_sums / level_squares  # eq. 7
        if bool(((fitted - scale).abs() <= _CONVERGED * scale).all()):
            break
        scale = fitted
    return scale


def _boundaries(scale: Tensor) -> Tensor:
    """Midpoints between neighbouring centres, float64 [len(scale), 7]: nearest in linear space ([L1], eq. 1)."""
    return scale[:, None] * torch.tensor(_MIDPOINTS, dtype=torch.float64, device=scale.device)
