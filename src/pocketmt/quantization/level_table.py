"""Weights that are levels[code] * scale: what the schemes of such tables share."""

from typing import ClassVar, Final, Literal

import torch
from torch import Tensor

from pocketmt.quantization.scheme import Parameters

HIGHEST_LEVEL: Final = 127  # levels are int8, and meet int8 activations in an integer product


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
        uint8 [rows, columns]; of equal values the lowest code.
    """
    ordered, codes = values.detach().double().sort(dim=1, stable=True)
    midpoints = (ordered[:, :-1] + ordered[:, 1:]) / 2
    weight = weight.detach().double()
    if len(values) == 1:
        return codes[0].to(torch.uint8)[torch.searchsorted(midpoints[0].contiguous(), weight.contiguous())]
    position = torch.searchsorted(midpoints.contiguous(), weight.contiguous())
    return codes.to(torch.uint8).gather(1, position)
