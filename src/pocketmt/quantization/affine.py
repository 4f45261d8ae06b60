"""Affine quantization between minimum and maximum, with parameters for each row or for the matrix."""

from dataclasses import dataclass
from typing import ClassVar, Final, Literal

import torch
from torch import Tensor

from pocketmt.quantization.rounding import bfloat16_at_least, bfloat16_at_most, float32_at_least
from pocketmt.quantization.scheme import Parameters, Scheme

# How far the ends of a range are tried nearer to the mean, as shares of their distance from it.
_CUTS: Final = tuple(percent / 100 for percent in range(0, 75, 5))
_BLOCK: Final = 1 << 20  # weights whose errors are computed at once


@dataclass(frozen=True)
class Affine(Scheme):
    """Codes from 0 to 2^bits - 1 with weight = minimum + code * scale (Prato et al. 2020, section 3.1, eq. 1-3).

    The range is not nudged to make zero a code (section 3.4). Granularity "row" is the paper's bucketing of weights
    (section 3.3): one scale and minimum for each output of the matrix.

    Attributes:
        fitted_range: "extremes" is the paper's range, from the weight's minimum to its maximum. "least_squares" is a
            part of it around the mean with a small squared error: both ends move towards the mean in steps of 5 % of
            their distance, then each by itself. Weights outside saturate.
    """

    bits: Literal[4, 6, 8] = 8
    granularity: Literal["row", "matrix"] = "row"
    fitted_range: Literal["extremes", "least_squares"] = "extremes"
    name: ClassVar[str] = "affine"
    form: ClassVar[str] = "affine"
    bounded_fit: ClassVar[bool] = True

    def fit(self, weight: Tensor) -> Parameters:
        """Return scale and minimum, float32 [rows] or [1]: eq. 2 with the ends of the fitted range.

        The file holds those of rows in bfloat16. The minimum is rounded down and the scale up, so that nothing within
        the range clips.
        """
        rows = weight.detach() if self.granularity == "row" else weight.detach().reshape(1, -1)
        lowest, highest = rows.amin(dim=1).double(), rows.amax(dim=1).double()
        if self.fitted_range == "extremes":
            return self._covering(lowest, highest)
        mean = rows.mean(dim=1, dtype=torch.float64)
        for ends in ("both", "highest", "lowest"):
            low, high = lowest, highest
            least = torch.full_like(mean, torch.inf)
            for cut in _CUTS:
                tried_low = low if ends == "highest" else low + cut * (mean - low)
                tried_high = high if ends == "lowest" else high - cut * (high - mean)
                errors = self._squared_errors(rows, self._covering(tried_low, tried_high))
                lowest = torch.where(errors < least, tried_low, lowest)
                highest = torch.where(errors < least, tried_high, highest)
                least = torch.minimum(errors, least)
        return self._covering(lowest, highest)

    def _covering(self, lowest: Tensor, highest: Tensor) -> Parameters:
        """Return the parameters of ranges whose ends, float64 [rows], do not clip."""
        steps = 2**self.bits - 1
        if self.granularity == "matrix":
            return {"scale": float32_at_least((highest - lowest) / steps), "minimum": lowest.to(torch.float32)}
        minimum = bfloat16_at_most(lowest)
        return {"scale": bfloat16_at_least((highest - minimum.double()).clamp(min=0) / steps), "minimum": minimum}

    def _squared_errors(self, rows: Tensor, parameters: Parameters) -> Tensor:
        """Return the sum of squared errors of each row, float64 [rows], in little memory."""
        errors = torch.zeros(len(rows), dtype=torch.float64, device=rows.device)
        for block in torch.split(rows, max(1, _BLOCK // len(rows)), dim=1):
            decoded = self.decode(self.assign(block, parameters), parameters)
            errors += (decoded.double() - block.double()).square().sum(dim=1)
        return errors

    def assign(self, weight: Tensor, parameters: Parameters) -> Tensor:
        """Return the nearest codes, uint8 [rows, columns]; ties go to the even code; with scale 0 codes are 0."""
        scale = parameters["scale"].detach().double()[:, None]
        minimum = parameters["minimum"].detach().double()[:, None]
        ratio = (weight.detach().double() - minimum) / torch.where(scale > 0, scale, torch.ones_like(scale))
        codes = ratio.round().clamp(0, 2**self.bits - 1)
        return torch.where(scale > 0, codes, torch.zeros_like(codes)).to(torch.uint8)

    def decode(self, codes: Tensor, parameters: Parameters) -> Tensor:
        """Return minimum + code * scale (eq. 3), float32 [rows, columns].

        The order of operations is that of the engine, which counts codes from their middle so that they fit int8:
        (minimum + middle * scale) + (code - middle) * scale.
        """
        middle = 1 << self.bits - 1
        scale = parameters["scale"]
        offset = parameters["minimum"] + middle * scale
        return offset[:, None] + (codes.float() - middle) * scale[:, None]

    def clamped(self, weight: Tensor, parameters: Parameters) -> Tensor:
        """Return which weights lie below the minimum or above the value of the highest code, bool [rows, columns]."""
        low = parameters["minimum"][:, None]
        high: Tensor = low + parameters["scale"][:, None] * (2**self.bits - 1)
        return (weight < low) | (weight > high)
