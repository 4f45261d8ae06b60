"""Assignment of sorted values to levels: each level takes a range of them."""

from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

_MOST_ROUNDS: Final = 1000  # far more than fits take; each round lowers the error, so stopping early is safe
_SUMMED: Final = 1 << 16  # numbers whose sum is kept by `fitted_matrix_scale`
_CONVERGED: Final = 2.0**-24  # relative change of a scale that float32 cannot represent


def midpoints(values: Tensor) -> Tensor:
    """Return the middle of each two neighbouring values: [values] -> [values - 1]."""
    return (values[:-1] + values[1:]) / 2


def range_edges(ordered: Tensor, boundaries: Tensor) -> Tensor:
    """Return the index of the first number of each range, and the count of numbers, int64 [.., boundaries + 2].

    Args:
        ordered: float64 [.., count], ascending.
        boundaries: float64 [.., boundaries], ascending; a number on a boundary belongs to the lower range.
    """
    cuts = torch.searchsorted(ordered, boundaries, right=True)
    first = cuts.new_zeros(*cuts.shape[:-1], 1)
    return torch.cat([first, cuts, first + ordered.shape[-1]], dim=-1)


def running_sums(ordered: Tensor) -> Tensor:
    """Return the sum of the n smallest numbers at index n: [.., count] -> [.., count + 1]."""
    return torch.nn.functional.pad(ordered.cumsum(dim=-1), (1, 0))


def fitted_scale(ordered: Tensor, levels: Tensor) -> Tensor:
    """Fit the scale of levels to each row by least squares (Aji and Heafield 2020, section 3.2, eq. 4-7).

    Starting from the maximum, nearest levels (eq. 3) and the best scale for them (eq. 7) alternate until the scale
    converges.

    Args:
        ordered: float64 [rows, count], ascending.
        levels: float64 [levels], ascending, the last above 0.

    Returns:
        float64 [rows]; 0 for a row of zeros.
    """
    sums = running_sums(ordered)
    scale = ordered.abs().amax(dim=1) / levels[-1]
    for _ in range(_MOST_ROUNDS):
        edges = range_edges(ordered, scale[:, None] * midpoints(levels))
        squares = (edges.diff(dim=1) * levels.square()).sum(dim=1)
        fitted = (sums.gather(1, edges).diff(dim=1) * levels).sum(dim=1) / squares
        if bool(((fitted - scale).abs() <= _CONVERGED * scale).all()):
            break
        scale = fitted
    return scale


def fitted_matrix_scale(ordered: NDArray[np.float32], levels: Tensor) -> Tensor:
    """Fit one scale as `fitted_scale` does, without float64 copies, which take much memory for a large matrix.

    Args:
        ordered: [count], ascending, none below 0.
        levels: float64 [levels], ascending, the last above 0.

    Returns:
        float64 [1].
    """
    starts = range(0, len(ordered), _SUMMED)
    sums = np.cumsum([0.0, *(ordered[start : start + _SUMMED].sum(dtype=np.float64) for start in starts)])

    def sum_of_smallest(count: int) -> float:
        whole = count // _SUMMED
        rest: Any = ordered[whole * _SUMMED : count].sum(dtype=np.float64)
        return float(sums[whole] + rest)

    values, middles = levels.numpy(), midpoints(levels).numpy()
    scale = float(ordered[-1]) / float(values[-1])
    for _ in range(_MOST_ROUNDS):
        edges = np.array([0, *(_count_up_to(ordered, boundary) for boundary in scale * middles), len(ordered)])
        squares = float((np.diff(edges) * values**2).sum())
        total = float((np.diff([sum_of_smallest(int(edge)) for edge in edges]) * values).sum())
        fitted = total / squares
        if abs(fitted - scale) <= _CONVERGED * scale:
            break
        scale = fitted
    return torch.tensor([scale], dtype=torch.float64)


def _count_up_to(ordered: NDArray[np.float32], boundary: float) -> int:
    """Return how many of ascending numbers are at most a float64 boundary, which float32 may not hold."""
    rounded = np.float32(boundary)
    return int(np.searchsorted(ordered, rounded, side="right" if float(rounded) <= boundary else "left"))
