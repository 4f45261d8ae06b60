"""Weights that are levels[code] * scale: the base of schemes with a lookup table for each matrix, and its tools."""

from dataclasses import dataclass
from typing import ClassVar, Final, Literal

import torch
from torch import Tensor

from pocketmt.quantization.scheme import Parameters, Scheme

HIGHEST_LEVEL: Final = 127  # levels are int8, and are multiplied with int8 activations in integer products
_FEW_VALUES: Final = 16  # comparing with all of them is several times as fast as a binary search


@dataclass(frozen=True)
class MatrixCodebook(Scheme):
    """A lookup table for each matrix, stored as a codebook: levels, int8 [2^bits], and one float32 scale.

    Subclasses fit the table; some also have another rule for codes than the nearest value.
    """

    form: ClassVar[str] = "codebook"
    learnable: ClassVar[bool] = True
    granularity: ClassVar[Literal["matrix"]] = "matrix"

    def assign(self, weight: Tensor, parameters: Parameters) -> Tensor:
        """Return the codes of the nearest values, uint8 [rows, columns]; in the middle of two, of the lower."""
        return nearest_codes(weight, (parameters["levels"] * parameters["scale"])[None])

    def decode(self, codes: Tensor, parameters: Parameters) -> Tensor:
        """Return levels[code] * scale, float32 [rows, columns]."""
        return parameters["levels"][codes.long()] * parameters["scale"]

    def learnable_parameters(self, parameters: Parameters) -> Tensor:
        """Return the centroids, float32 [2^bits]: the values of the codes."""
        return parameters["levels"] * parameters["scale"]

    def parameters_from(self, learnable: Tensor) -> Parameters:
        """Return levels and scale of centroids, float32 [2^bits].

        Through `decode`, the gradient of a centroid is the sum over its weights (Cheong and Daniel 2019, section
        3.1.1).
        """
        return codebook_parameters(learnable)


def codebook_parameters(centroids: Tensor) -> Parameters:
    """Round centroids to the levels and the scale that the file holds; the gradient passes straight through.

    Args:
        centroids: floats [2^bits], the values of the codes; a float32 parameter in training.

    Returns:
        levels: whole numbers in [-127, 127] as float32 [2^bits].
        scale: float32 [1], such that the largest magnitude has level 127; 0 if all centroids are 0.
    """
    exact = centroids.detach().double()
    scale = (exact.abs().amax() / HIGHEST_LEVEL).to(torch.float32).reshape(1)
    if not bool(scale > 0):
        return {"levels": centroids.float() * 0, "scale": scale}
    levels = (exact / scale.double()).round().clamp(-HIGHEST_LEVEL, HIGHEST_LEVEL).float()
    if centroids.requires_grad:
        position = centroids.float() / scale
        levels = position + (levels - position).detach()
    return {"levels": levels, "scale": scale}


def nearest_codes(weight: Tensor, values: Tensor) -> Tensor:
    """Return the code of the value nearest to each weight; in the middle of two values, of the lower.

    Args:
        weight: [rows, columns].
        values: value of each code, in any order, [rows, codes] or [1, codes] for all rows.

    Returns:
        uint8 [rows, columns]; of equal values the code of any.
    """
    ordered, codes = values.detach().double().sort(dim=1, stable=True)
    midpoints = (ordered[:, :-1] + ordered[:, 1:]) / 2
    weight = weight.detach()
    if values.shape[1] <= _FEW_VALUES:
        position = _number_below(weight, midpoints).long()
    else:
        position = torch.searchsorted(midpoints[0] if len(values) == 1 else midpoints, weight.double().contiguous())
    return codes.to(torch.uint8).expand(len(weight), -1).gather(1, position)


def _number_below(weight: Tensor, bounds: Tensor) -> Tensor:
    """Return how many bounds of its row, float64 [rows or 1, bounds], each weight exceeds: uint8 [rows, columns]."""
    if weight.dtype != torch.float64:
        # A float32 exceeds a bound if it exceeds the largest float32 that is not above the bound.
        weight, single = weight.float(), bounds.float()
        lower = torch.nextafter(single, torch.full_like(single, -torch.inf))
        bounds = torch.where(single.double() > bounds, lower, single)
    number = torch.zeros(weight.shape, dtype=torch.uint8, device=weight.device)
    for bound in bounds.unbind(dim=1):
        number += weight > bound[:, None]
    return number
