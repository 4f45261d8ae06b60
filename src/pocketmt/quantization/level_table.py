"""Weights that are levels[code] * scale: what the schemes of such tables share."""

from typing import ClassVar, Final, Literal

import torch
from torch import Tensor

from pocketmt.quantization.scheme import Parameters

HIGHEST_LEVEL: Final = 127  # levels are int8, and meet int8 activations in an integer product
_FEW_VALUES: Final = 16  # so few are compared with all, which is several times as fast as a search by halves


class MatrixCodebook:
    """A table of its own for each matrix, stored as a codebook: levels, int8 [2^bits], and one float32 scale.

    What differs from scheme to scheme is how the table is fitted and codes are assigned.
    """

    granularity: ClassVar[Literal["matrix"]] = "matrix"

    @property
    def bits(self) -> int:
        """Bits of one code; each scheme says how many."""
        raise NotImplementedError

    def decode(self, codes: Tensor, parameters: Parameters) -> Tensor:
        """Return levels[code] * scale, float32 [rows, columns]."""
        return parameters["levels"][codes.long()] * parameters["scale"]

    def description(self) -> dict[str, object]:
        """Return the manifest's entry, that of a codebook."""
        return {"name": "codebook", "bits": self.bits, "granularity": self.granularity}


def codebook_parameters(centroids: Tensor) -> Parameters:
    """Round centroids to the levels and the scale that the file holds.

    The gradient passes straight through the rounding: through `MatrixCodebook.decode`, a centroid's is the sum of those
    of its weights ([Z1], paper Z, section 3.1.1).

    Args:
        centroids: floats [2^bits], the values of the codes; a float32 parameter in training.

    Returns:
        levels: whole numbers in [-127, 127] as float32 [2^bits].
        scale: float32 [1], such that the largest magnitude has level 127; 0 where all centroids are 0.
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
    """Return each weight's nearest value; in the middle of two, the lower.

    Args:
        weight: [rows, columns].
        values: what each code stands for, in any order, [rows, codes] or [1, codes] for all rows.

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
    """Return how many of each row's bounds, float64 [rows or 1, bounds], a weight is above: uint8 [rows, columns]."""
    if weight.dtype != torch.float64:
        # A float32 is above a bound where it is above the largest float32 that is not above the bound.
        weight, single = weight.float(), bounds.float()
        lower = torch.nextafter(single, torch.full_like(single, -torch.inf))
        bounds = torch.where(single.double() > bounds, lower, single)
    number = torch.zeros(weight.shape, dtype=torch.uint8, device=weight.device)
    for bound in bounds.unbind(dim=1):
        number += weight > bound[:, None]
    return number
