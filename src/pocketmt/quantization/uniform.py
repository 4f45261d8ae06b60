"""Uniform quantization: equally spaced levels, symmetric about zero [E6]."""

from dataclasses import dataclass
from typing import ClassVar, Final, Literal

import torch
from torch import Tensor

from pocketmt.quantization.rounding import bfloat16_at_least
from pocketmt.quantization.scheme import Parameters

HIGHEST_CODE: Final = 127  # -128 is left out, so that a code's negative is a code


@dataclass(frozen=True)
class Uniform:
    """8-bit codes in [-127, 127] with one scale a row, set by the row's largest magnitude ([E6], weights by maximum).

    weight = code * scale.
    """

    name: ClassVar[str] = "uniform"
    bits: ClassVar[Literal[8]] = 8
    granularity: ClassVar[Literal["row"]] = "row"

    def fit(self, weight: Tensor) -> Parameters:
        """Return scale, float32 [rows]: max |weight| / 127 of the row, rounded up to bfloat16 so that nothing clips."""
        largest = weight.detach().abs().amax(dim=1).double()
        return {"scale": bfloat16_at_least(largest / HIGHEST_CODE)}

    def assign(self, weight: Tensor, parameters: Parameters) -> Tensor:
        """Return the nearest codes, int8 [rows, columns]; ties go to the even code; a row of scale 0 has codes 0."""
        scale = parameters["scale"].detach()[:, None]
        ratio = weight.detach().float() / torch.where(scale > 0, scale, torch.ones_like(scale))
        codes = ratio.round().clamp(-HIGHEST_CODE, HIGHEST_CODE)
        return torch.where(scale > 0, codes, torch.zeros_like(codes)).to(torch.int8)

    def decode(self, codes: Tensor, parameters: Parameters) -> Tensor:
        """Return code * scale, float32 [rows, columns]."""
        return codes.float() * parameters["scale"][:, None]

    def description(self) -> dict[str, object]:
        """Return the manifest's entry."""
        return {"name": self.name, "bits": self.bits, "granularity": self.granularity}
