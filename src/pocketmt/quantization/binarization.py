"""Binarization to two values for each matrix; training keeps full-precision weights."""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor

from pocketmt.errors import ConfigurationError
from pocketmt.quantization.codebook import k_means, linear_centroids
from pocketmt.quantization.lookup_table import MatrixCodebook, codebook_parameters
from pocketmt.quantization.scheme import Parameters


@dataclass(frozen=True)
class FixedBinarization(MatrixCodebook):
    """BS-Fixed: c1 if a weight is positive, else c2 (Cheong and Daniel 2019, section 3.1.2, eq. 1).

    Code 1 stands for c1 and code 0 for c2.
    """

    # (c1, c2) for every matrix, hyperparameters in the paper. If None, each matrix takes the means of its positive
    # weights and of its other weights, which have the least squared error under eq. 1.
    values: tuple[float, float] | None = None
    name: ClassVar[str] = "binarization_fixed"
    bits: ClassVar[Literal[1]] = 1

    def __post_init__(self) -> None:
        values: object = self.values
        if values is None:
            return
        numbers = values if isinstance(values, tuple | list) else ()
        if len(numbers) != 2 or not all(isinstance(each, int | float) and math.isfinite(each) for each in numbers):
            raise ConfigurationError(f"binarization_fixed: values are {values!r:.80}, expected two finite numbers")
        object.__setattr__(self, "values", (float(numbers[0]), float(numbers[1])))  # a recipe's list becomes hashable

    def fit(self, weight: Tensor) -> Parameters:
        """Return levels, float32 [2] (of c2, then of c1), and scale, float32 [1]."""
        weight = weight.detach().double()
        if self.values is not None:
            return codebook_parameters(weight.new_tensor(self.values[::-1]))
        sides = (weight[weight <= 0], weight[weight > 0])
        means = [side.mean() if len(side) else weight.new_zeros(()) for side in sides]
        return codebook_parameters(torch.stack(means))

    def assign(self, weight: Tensor, parameters: Parameters) -> Tensor:
        """Return 1 for positive weights, else 0: uint8 [rows, columns]."""
        return (weight.detach() > 0).to(torch.uint8)


@dataclass(frozen=True)
class FlexibleBinarization(MatrixCodebook):
    """BS-Flexible: c1 if a weight is above (c1 + c2) / 2, else c2 (Cheong and Daniel 2019, section 3.1.2, eq. 2).

    Code 1 stands for c1. The fit is 2-means that starts from minimum and maximum.
    """

    name: ClassVar[str] = "binarization_flexible"
    bits: ClassVar[Literal[1]] = 1

    def fit(self, weight: Tensor) -> Parameters:
        """Return levels, float32 [2] (of c2, then of c1), and scale, float32 [1]."""
        values = weight.detach().double().flatten()
        return codebook_parameters(k_means(values, linear_centroids(values, 2)))

    def assign(self, weight: Tensor, parameters: Parameters) -> Tensor:
        """Return 1 for weights above the midpoint, else 0: uint8 [rows, columns]."""
        midpoint = parameters["levels"].detach().double().sum() * parameters["scale"].detach().double() / 2
        return (weight.detach().double() > midpoint).to(torch.uint8)
