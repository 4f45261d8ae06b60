"""Evenly spaced boundaries between codes that, entropy-coded, take a given number of bits a weight."""

import math
from dataclasses import dataclass
from typing import ClassVar, Final, Literal

import torch
from torch import Tensor

from pocketmt.errors import ConfigurationError
from pocketmt.quantization.fixed_point import fitted_scale
from pocketmt.quantization.level_table import HIGHEST_LEVEL, MatrixCodebook, nearest_codes
from pocketmt.quantization.scheme import Parameters

_LEVELS_A_STEP: Final = 16  # so that the multiples of 4 bits, -8 to 7, are int8 levels; a power of two: exact
_SMALLEST: Final = 2.0**-200  # keeps 0 / 0 away
_HALVINGS: Final = 30  # of the range of steps: more than a float32 can show


@dataclass(frozen=True)
class EntropyConstrained(MatrixCodebook):
    """Boundaries in the middle of the multiples of one step a matrix, as wide as the rate asks; a code means its mean.

    The wider the step, the more weights share the codes about zero and the fewer bits entropy coding takes for one:
    any size is to be had, not whole bits alone. Among codes of one entropy evenly spaced boundaries have nearly the
    least error that there is, with the means of the weights between them for values (Gish and Pierce 1968; for networks
    Choi, El-Khamy and Lee 2017, "Towards the Limit of Network Quantization"). Codebooks of least error for their number
    of values, as k-means and binary codes, spend as many bits on a rare value as on a frequent one.

    It is stored as a codebook whose scale is a 16th of the step, which is how `assign` knows the boundaries. Values
    that gradients move, as a codebook's, would need a scale of their own, and are not offered.

    Attributes:
        rate: bits a weight, the entropy of the codes of the matrix; above 0 and at most `bits`.
        bits: of a code as the engine has it in memory; more than the rate, for levels of the few weights far from zero.
    """

    rate: float = 2.0
    bits: Literal[2, 3, 4] = 4
    name: ClassVar[str] = "entropy_constrained"

    def __post_init__(self) -> None:
        if type(self.rate) not in (int, float) or not 0 < self.rate <= self.bits:
            raise ConfigurationError(
                f"{self.name}: rate is {self.rate!r:.80}, expected a number of bits above 0 and at most {self.bits}"
            )

    def fit(self, weight: Tensor) -> Parameters:
        """Return levels, float32 [2^bits], ascending, and scale, float32 [1], a 16th of the step.

        The step is that of least squared error for evenly spaced values where codes are of that rate or fewer bits with
        it, else the smallest found with which they are.
        """
        ordered = weight.detach().double().flatten().sort().values
        multiples = self._multiples(weight)
        scale = (self._step(ordered, multiples) / _LEVELS_A_STEP).reshape(1)
        return {"levels": _levels(ordered, multiples, scale), "scale": scale}

    def _multiples(self, weight: Tensor) -> Tensor:
        half = 2 ** (self.bits - 1)
        return torch.arange(-half, half, dtype=torch.float32, device=weight.device)

    def _step(self, ordered: Tensor, multiples: Tensor) -> Tensor:
        """Return the step for values in ascending order, float32 []."""
        low = fitted_scale(ordered, multiples.double()).float()
        if _entropy(ordered, multiples * low) <= self.rate:
            return low
        high = (4 * ordered.abs().amax()).float()  # all of them are nearest to zero
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            if _entropy(ordered, multiples * middle) <= self.rate:
                high = middle
            else:
                low = middle
        return high

    def assign(self, weight: Tensor, parameters: Parameters) -> Tensor:
        """Return the codes of the nearest multiples of the step, uint8 [rows, columns]; in the middle, the lower's."""
        step = parameters["scale"].detach() * _LEVELS_A_STEP
        return nearest_codes(weight, (self._multiples(weight) * step)[None])


def _levels(ordered: Tensor, multiples: Tensor, scale: Tensor) -> Tensor:
    """Return the means of each code's weights in units of the scale, rounded to levels; where it has none, the middle.

    A level lies between its code's boundaries, so that what is quantized keeps its codes.
    """
    edges = _edges(ordered, multiples * (scale * _LEVELS_A_STEP))
    counts = edges.diff()
    sums = torch.nn.functional.pad(ordered.cumsum(dim=0), (1, 0))[edges].diff()
    middles = multiples.double() * _LEVELS_A_STEP
    levels = torch.where(counts > 0, (sums / (counts * scale.double()).clamp(min=_SMALLEST)).round(), middles)
    inside = _LEVELS_A_STEP / 2 - 1
    levels[1:] = levels[1:].maximum(middles[1:] - inside)
    levels[:-1] = levels[:-1].minimum(middles[:-1] + inside)
    return levels.clamp(-HIGHEST_LEVEL, HIGHEST_LEVEL).float()


def _edges(ordered: Tensor, values: Tensor) -> Tensor:
    """Return where each code's weights begin, and the last one's end, int64 [codes + 1].

    Args:
        ordered: float64, ascending.
        values: float32, ascending; a code is that of the nearest.
    """
    exact = values.double()
    cuts = torch.searchsorted(ordered, (exact[:-1] + exact[1:]) / 2, right=True)
    return torch.cat([cuts.new_zeros(1), cuts, cuts.new_full((1,), len(ordered))])


def _entropy(ordered: Tensor, values: Tensor) -> float:
    """Return the entropy of the codes in bits."""
    shares = _edges(ordered, values).diff().double() / len(ordered)
    return float(torch.special.entr(shares).sum()) / math.log(2)
