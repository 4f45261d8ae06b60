"""Affine quantization between minimum and maximum [Q1], a pair of parameters for each row [Q4] or for the matrix."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor

from pocketmt.quantization.rounding import bfloat16_at_least, bfloat16_at_most, float32_at_least
from pocketmt.quantization.scheme import Parameters


@dataclass(frozen=True)
class Affine:
    """Codes from 0 to 2^bits - 1 with weight = minimum + code * scale ([Q1], eq. 1-3).

    Zero is not nudged onto a code (paper Q, section 3.4). Granularity "row" is the paper's bucketing of weights, as
    many (scale, minimum) as the matrix has outputs [Q4].
    """

    bits: Literal[4, 6, 8] = 8
    granularity: Literal["row", "matrix"] = "row"
    name: ClassVar[str] = "affine"

    def fit(self, weight: Tensor) -> Parameters:
        """Return scale and minimum, float32 [rows] or [1]: eq. 2 with the weight's own minimum and maximum.

        As the file holds a row's in bfloat16, the minimum is rounded down and the scale up: nothing clips.
        """
        weight = weight.detach().double()
        rows = weight if self.granularity == "row" else weight.reshape(1, -1)
        lowest, highest = rows.amin(dim=1), rows.amax(dim=1)
        steps = 2**self.bits - 1
        if self.granularity == "matrix":
            return {"scale": float32_at_least((highest - lowest) / steps), "minimum": lowest.to(torch.float32)}
        minimum = bfloat16_at_most(lowest)
        return {"scale": bfloat16_at_least((highest - minimum.double()).clamp(min=0) / steps), "minimum": minimum}

    def assign(self, weight: Tensor, parameters: Parameters) -> Tensor:
        """Return the nearest codes, uint8 [rows, columns]; ties go to the even code; with scale 0 codes are 0."""
        scale = parameters["scale"].detach().double()[:, None]
        minimum = parameters["minimum"].detach().double()[:, None]
        ratio = (weight.detach().double() - minimum) / torch.where(scale > 0, scale, torch.ones_like(scale))
        codes = ratio.round().clamp(0, 2**self.bits - 1)
        return torch.where(scale > 0, codes, torch.zeros_like(codes)).to(torch.uint8)

    def decode(self, codes: Tensor, parameters: Parameters) -> Tensor:
        """Return minimum + code * scale (eq. 3), float32 [rows, columns].

        In the order of the engine, for which codes are counted from their middle so that they fit int8:
        (minimum + middle * scale) + (code - middle) * scale.
        """
        middle = 1 << self.bits - 1
        scale = parameters["scale"]
        offset = parameters["minimum"] + middle * scale
        return offset[:, None] + (codes.float() - middle) * scale[:, None]

    def description(self) -> dict[str, object]:
        """Return the manifest's entry."""
        return {"name": self.name, "bits": self.bits, "granularity": self.granularity}
