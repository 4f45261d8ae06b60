"""Uniform quantization: equally spaced values, symmetric about zero."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final, Literal, Self

import torch
from torch import Tensor

from pocketmt.errors import ConfigurationError
from pocketmt.quantization.rounding import bfloat16_at_least, float32_at_least
from pocketmt.quantization.scheme import Parameters, Scheme

HIGHEST_CODE: Final = 127  # -128 is not used, so that the negative of a code is a code
HIGHEST_CODE_OF_7_BITS: Final = 63


@dataclass(frozen=True)
class Uniform(Scheme):
    """8-bit codes in [-127, 127] with one scale for each row or for the matrix: weight = code * scale.

    The largest magnitude sets the scale (Behnke et al. 2021, section 3.2).

    Attributes:
        scales: precision of the scales of rows; that of a matrix has float32. Networks of other toolkits have scales
            that bfloat16 does not hold.

    Raises ConfigurationError if `scales` is given for the scale of a matrix.
    """

    granularity: Literal["row", "matrix"] = "row"
    scales: Literal["bfloat16", "float32"] = "bfloat16"
    name: ClassVar[str] = "uniform"
    form: ClassVar[str] = "uniform"
    bounded_fit: ClassVar[bool] = True
    keeps_zero: ClassVar[bool] = True
    bits: ClassVar[Literal[8]] = 8
    highest_code: ClassVar[int] = HIGHEST_CODE

    def __post_init__(self) -> None:
        if self.granularity == "matrix" and self.scales != "bfloat16":
            raise ConfigurationError(
                f"{self.name}: scales has no effect with the granularity 'matrix', whose scale has float32 in any "
                "case: leave it out"
            )

    def fit(self, weight: Tensor) -> Parameters:
        """Return scale, float32 [rows] or [1]: max |weight| / the highest code, rounded up so that nothing clips."""
        weight = weight.detach()
        largest = torch.maximum(weight.amax(dim=1).abs(), weight.amin(dim=1).abs()).double()
        if self.granularity == "matrix":
            return {"scale": float32_at_least(largest.amax().reshape(1) / self.highest_code)}
        scale = largest / self.highest_code
        return {"scale": bfloat16_at_least(scale) if self.scales == "bfloat16" else float32_at_least(scale)}

    def assign(self, weight: Tensor, parameters: Parameters) -> Tensor:
        """Return the nearest codes, int8 [rows, columns]; ties go to the even code; a row of scale 0 has codes 0."""
        scale = parameters["scale"].detach()[:, None]
        ratio = weight.detach().float() / torch.where(scale > 0, scale, torch.ones_like(scale))
        codes = ratio.round().clamp(-self.highest_code, self.highest_code)
        return torch.where(scale > 0, codes, torch.zeros_like(codes)).to(torch.int8)

    def decode(self, codes: Tensor, parameters: Parameters) -> Tensor:
        """Return code * scale, float32 [rows, columns]."""
        return codes.float() * parameters["scale"][:, None]

    def clamped(self, weight: Tensor, parameters: Parameters) -> Tensor:
        """Return which weights are larger in magnitude than the highest code * scale, bool [rows, columns]."""
        high = parameters["scale"][:, None] * self.highest_code
        return (weight < -high) | (weight > high)

    def stored_form(self) -> dict[str, object]:
        """Return the scheme's entry in the manifest, with the precision of the scales of rows if it is float32."""
        by_row = {"scales": "F32"} if self.granularity == "row" and self.scales == "float32" else {}
        return {**super().stored_form(), **by_row}

    @classmethod
    def presets(cls) -> Mapping[str, Mapping[str, Self]]:
        """Return "uniform8": every matrix in 8 bits."""
        return {"uniform8": {"*": cls()}}


@dataclass(frozen=True)
class Uniform7(Uniform):
    """As `Uniform`, with codes in [-63, 63], which the engine multiplies faster on AVX2.

    A file holds them as codes of 8 bits, of which entropy coding leaves at most 7. PyTorch's quantization has the same
    range of 7 bits for the same processors (`reduce_range`).
    """

    name: ClassVar[str] = "uniform7"
    highest_code: ClassVar[int] = HIGHEST_CODE_OF_7_BITS

    @classmethod
    def presets(cls) -> Mapping[str, Mapping[str, Self]]:
        """Return "uniform7": every matrix in 7 bits."""
        return {"uniform7": {"*": cls()}}
