"""K-means codebooks [Z1]: the values that weights may take are fitted to each matrix."""

from dataclasses import dataclass
from typing import ClassVar, Final, Literal

import torch
from torch import Tensor

from pocketmt.quantization.level_table import MatrixCodebook, codebook_parameters, nearest_codes
from pocketmt.quantization.scheme import Parameters

_MOST_ROUNDS: Final = 1000  # each round lowers the error, so stopping is safe


@dataclass(frozen=True)
class Codebook(MatrixCodebook):
    """2^bits centroids a matrix ([Z1], paper Z, algorithm 1), rounded to int8 levels of one scale."""

    bits: Literal[1, 2, 3, 4, 8] = 4
    name: ClassVar[str] = "codebook"

    def fit(self, weight: Tensor) -> Parameters:
        """Return levels, float32 [2^bits], ascending, and scale, float32 [1]."""
        values = weight.detach().double().flatten()
        return codebook_parameters(k_means(values, linear_centroids(values, 2**self.bits)))

    def assign(self, weight: Tensor, parameters: Parameters) -> Tensor:
        """Return the nearest centroids' codes, uint8 [rows, columns]; in the middle of two, the lower's."""
        return nearest_codes(weight, (parameters["levels"] * parameters["scale"])[None])


def linear_centroids(values: Tensor, count: int) -> Tensor:
    """Return `count` centroids, equally spaced from the least to the largest value (paper Z, algorithm 1, line 2)."""
    steps = torch.linspace(0, 1, count, dtype=values.dtype, device=values.device)
    return torch.lerp(values.amin(), values.amax(), steps)


def k_means(values: Tensor, centroids: Tensor) -> Tensor:
    """Move centroids by Lloyd's iterations to where none of them moves any more.

    On a line, clusters are ranges of the sorted values: an iteration costs a search for each boundary and differences
    of one running sum. A centroid without values stays where it is.

    Args:
        values: float64 [count].
        centroids: float64 [clusters], ascending.

    Returns:
        float64 [clusters], ascending: with a sum of squared distances that is not above that of the given ones.
    """
    ordered = values.sort().values
    sums = torch.nn.functional.pad(ordered.cumsum(dim=0), (1, 0))  # sums[n]: of the n smallest
    first, last = torch.tensor([0]), torch.tensor([len(ordered)])
    for _ in range(_MOST_ROUNDS):
        cuts = torch.searchsorted(ordered, (centroids[:-1] + centroids[1:]) / 2, right=True)
        edges = torch.cat([first.to(cuts), cuts, last.to(cuts)])
        counts = edges.diff()
        moved = torch.where(counts > 0, sums[edges].diff() / counts.clamp(min=1), centroids)
        if torch.equal(moved, centroids):
            break
        centroids = moved
    return centroids
