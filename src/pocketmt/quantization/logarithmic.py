"""Logarithmic quantization: a sign and a power of two, times a scale that may be fitted."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final, Literal, Self

import torch
from torch import Tensor

from pocketmt.quantization.lookup_table import HIGHEST_LEVEL
from pocketmt.quantization.rounding import bfloat16_at_least, bfloat16_nearest, float32_at_least
from pocketmt.quantization.scheme import Parameters, Scheme
from pocketmt.quantization.sorted_values import fitted_matrix_scale, fitted_scale, midpoints

MOST_COPIED: Final = 1 << 22  # weights that are fitted in float64, which takes six times their memory


@dataclass(frozen=True)
class Logarithmic(Scheme):
    """Codes sign << (bits - 1) | m with weight = +-2^(n-1-m) * scale, n = 2^(bits-1) magnitudes.

    Source: Aji and Heafield 2020, section 3.1, eq. 3. The scale is of a row or of the matrix. No code represents zero:
    a weight of 0 becomes the smallest level, with positive sign. The paper's S is the scale times 2^(n-1). The top
    level of 4 bits is 127 (see `magnitude_levels`).

    Attributes:
        scale: how S is chosen (section 3.2): "none", 1 for every matrix; "maximum", such that the top level is the
            largest magnitude; "fitted", alternating eq. 3 and eq. 7 from there until the scale converges.
    """

    granularity: Literal["row", "matrix"] = "row"
    bits: Literal[1, 2, 3, 4] = 4
    scale: Literal["none", "maximum", "fitted"] = "fitted"
    name: ClassVar[str] = "logarithmic"
    form: ClassVar[str] = "logarithmic"
    bounded_fit: ClassVar[bool] = True

    @property
    def levels(self) -> tuple[int, ...]:
        """Level of each code, int8: the magnitudes, largest first, then their negatives."""
        magnitudes = magnitude_levels(self.bits)
        return (*magnitudes, *(-magnitude for magnitude in magnitudes))

    def fit(self, weight: Tensor) -> Parameters:
        """Return scale, float32 [rows] or [1].

        The fitted scale of a row is rounded to the nearest bfloat16, not up: a least-squares scale clips in any case,
        and the error grows with the square of the distance from the best scale on either side.
        """
        magnitudes = weight.detach().abs()
        by_row = self.granularity == "row"
        rows = magnitudes if by_row else magnitudes.reshape(1, -1)
        if self.scale == "none":
            return {"scale": torch.full((len(rows),), 2.0 ** (1 - 2 ** (self.bits - 1)), device=weight.device)}
        levels = magnitude_levels(self.bits)
        if self.scale == "maximum":
            scale = rows.amax(dim=1).double() / levels[0]
            return {"scale": bfloat16_at_least(scale) if by_row else float32_at_least(scale)}
        ascending = torch.tensor(levels[::-1], dtype=torch.float64, device=weight.device)
        if not by_row and weight.numel() > MOST_COPIED:
            ordered = rows[0].float().cpu().numpy()  # `abs` has copied the weight, so that this sorts a copy
            ordered.sort()
            return {"scale": fitted_matrix_scale(ordered, ascending.cpu()).to(weight.device, torch.float32)}
        scale = fitted_scale(rows.double().sort(dim=1).values, ascending)
        return {"scale": bfloat16_nearest(scale) if by_row else scale.to(torch.float32)}

    def assign(self, weight: Tensor, parameters: Parameters) -> Tensor:
        """Return the codes of the nearest levels (eq. 1), uint8 [rows, columns]; ties go to the smaller magnitude."""
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

    def stored_form(self) -> dict[str, object]:
        """Return the scheme's entry in the manifest, which holds the levels."""
        return {**super().stored_form(), "levels": list(self.levels)}

    @classmethod
    def presets(cls) -> Mapping[str, Mapping[str, Self]]:
        """Return "logarithmic4": every matrix in 4 bits.

        Embeddings have one scale: they have most of all rows, and a scale for each would cost more than it gains.
        """
        return {"logarithmic4": {"*embedding.weight": cls("matrix"), "*": cls("row")}}


def magnitude_levels(bits: int) -> tuple[int, ...]:
    """Return the magnitudes 2^q, q = 0, -1, .. above -2^(bits-1), times their lowest common denominator.

    Source: Aji and Heafield 2020, eq. 3. The largest one of 4 bits, 128, is replaced by 127, so that levels are int8 in
    integer products; fit and assignment use 127, too.
    """
    count = 2 ** (bits - 1)
    return tuple(min(HIGHEST_LEVEL, 2**power) for power in reversed(range(count)))


def _boundaries(scale: Tensor, levels: tuple[int, ...]) -> Tensor:
    """Return the midpoints of neighbouring levels times the scale (eq. 1), float64 [len(scale), levels - 1]."""
    return scale[:, None] * midpoints(scale.new_tensor(levels[::-1]))
