"""Codes with evenly spaced boundaries whose entropy is a given number of bits for each weight."""

import math
from dataclasses import dataclass
from typing import ClassVar, Final, Literal

import torch
from torch import Tensor

from pocketmt.errors import ConfigurationError
from pocketmt.quantization.lookup_table import HIGHEST_LEVEL, MatrixCodebook, nearest_codes
from pocketmt.quantization.scheme import Parameters
from pocketmt.quantization.sorted_values import fitted_scale, midpoints, range_edges, running_sums

_LEVELS_A_STEP: Final = 16  # so that the multiples of 4 bits, -8 to 7, are int8 levels; a power of two: exact
_SMALLEST: Final = 2.0**-200  # avoids 0 / 0
_HALVINGS: Final = 30  # of the range of steps; enough for the precision of float32


@dataclass(frozen=True)
class EntropyConstrained(MatrixCodebook):
    """Codes of the nearest multiple of a step; each code represents the mean of its weights.

    The wider the step, the more weights share the codes near zero, and the fewer bits they take after entropy coding:
    any rate is possible, not only whole bits. Among codes of one entropy, evenly spaced boundaries with the mean of the
    weights between them have nearly the least error (Gish and Pierce 1968; for networks Choi, El-Khamy and Lee 2017,
    "Towards the Limit of Network Quantization"). k-means and binary codes have the least error for their number of
    values, but use as many bits for a rare value as for a frequent one.

    The file holds a codebook whose scale is step / 16; `assign` takes the boundaries from the scale. Its
    parameters are not learnable, as trained centroids would need another scale.

    Attributes:
        rate: entropy of the codes of the matrix, in bits for each weight; above 0 and at most `bits`.
        bits: of a code in memory; more than the rate, so that the few weights far from zero have levels.
    """

    rate: float = 2.0
    bits: Literal[2, 3, 4] = 4
    name: ClassVar[str] = "entropy_constrained"
    entropy_coded: ClassVar[bool] = True
    learnable: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if type(self.rate) not in (int, float) or not 0 < self.rate <= self.bits:
            raise ConfigurationError(
                f"{self.name}: rate is {self.rate!r:.80}, expected a number of bits above 0 and at most {self.bits}"
            )

    def fit(self, weight: Tensor) -> Parameters:
        """Return levels, float32 [2^bits], ascending, and scale, float32 [1], step / 16.

        The step has the least squared error for evenly spaced values if the entropy of its codes is at most the rate;
        otherwise it is the smallest step found whose codes have at most that entropy.
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
        low = fitted_scale(ordered[None], multiples.double())[0].float()
        if _entropy(ordered, multiples * low) <= self.rate:
            return low
        high = (4 * ordered.abs().amax()).float()  # all weights are nearest to zero
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            if _entropy(ordered, multiples * middle) <= self.rate:
                high = middle
            else:
                low = middle
        return high

    def assign(self, weight: Tensor, parameters: Parameters) -> Tensor:
        """Return the codes of the nearest multiples of the step, uint8 [rows, columns]; in the middle, of the lower."""
        step = parameters["scale"].detach() * _LEVELS_A_STEP
        return nearest_codes(weight, (self._multiples(weight) * step)[None])


def _levels(ordered: Tensor, multiples: Tensor, scale: Tensor) -> Tensor:
    """Return the mean of each code's weights in units of the scale, rounded; the middle for codes without weights.

    A level lies between the boundaries of its code, so that quantizing decoded weights again gives the same codes.
    """
    edges = range_edges(ordered, midpoints((multiples * (scale * _LEVELS_A_STEP)).double()))
    counts = edges.diff()
    sums = running_sums(ordered)[edges].diff()
    middles = multiples.double() * _LEVELS_A_STEP
    levels = torch.where(counts > 0, (sums / (counts * scale.double()).clamp(min=_SMALLEST)).round(), middles)
    inside = _LEVELS_A_STEP / 2 - 1
    levels[1:] = levels[1:].maximum(middles[1:] - inside)
    levels[:-1] = levels[:-1].minimum(middles[:-1] + inside)
    return levels.clamp(-HIGHEST_LEVEL, HIGHEST_LEVEL).float()


def _entropy(ordered: Tensor, values: Tensor) -> float:
    """Return the entropy in bits of the codes of the nearest values, float32; weights and values are ascending."""
    shares = range_edges(ordered, midpoints(values.double())).diff().double() / len(ordered)
    return float(torch.special.entr(shares).sum()) / math.log(2)
