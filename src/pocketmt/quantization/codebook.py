"""K-means codebooks: the values of the codes are fitted to each matrix."""

from dataclasses import dataclass
from typing import ClassVar, Final, Literal

import torch
from torch import Tensor

from pocketmt.quantization.lookup_table import MatrixCodebook, codebook_parameters
from pocketmt.quantization.scheme import Parameters
from pocketmt.quantization.sorted_values import midpoints, range_edges, running_sums

_MOST_ROUNDS: Final = 1000  # each round lowers the error, so stopping early is safe


@dataclass(frozen=True)
class Codebook(MatrixCodebook):
    """2^bits centroids for each matrix (Cheong and Daniel 2019, Algorithm 1), rounded to int8 levels of one scale."""

    bits: Literal[1, 2, 3, 4, 8] = 4
    name: ClassVar[str] = "codebook"

    def fit(self, weight: Tensor) -> Parameters:
        """Return levels, float32 [2^bits], ascending, and scale, float32 [1]."""
        values = weight.detach().double().flatten()
        return codebook_parameters(k_means(values, linear_centroids(values, 2**self.bits)))


def linear_centroids(values: Tensor, count: int) -> Tensor:
    """Return centroids equally spaced from the least to the largest value (Cheong and Daniel 2019, Algorithm 1)."""
    steps = torch.linspace(0, 1, count, dtype=values.dtype, device=values.device)
    return torch.lerp(values.amin(), values.amax(), steps)


def k_means(values: Tensor, centroids: Tensor) -> Tensor:
    """Move centroids by Lloyd's iterations until none of them moves.

    A centroid without values does not move.

    Args:
        values: float64 [count].
        centroids: float64 [clusters], ascending.

    Returns:
        float64 [clusters], ascending; their sum of squared distances is not above that of the given ones.
    """
    ordered = values.sort().values
    sums = running_sums(ordered)
    for _ in range(_MOST_ROUNDS):
        edges = range_edges(ordered, midpoints(centroids))
        counts = edges.diff()
        moved = torch.where(counts > 0, sums[edges].diff() / counts.clamp(min=1), centroids)
        if torch.equal(moved, centroids):
            break
        centroids = moved
    return centroids
