"""Second-order error compensation: codes for quantization without retraining.

Rounding each weight to its nearest value minimizes the error of the weights, not of the layer's outputs on its inputs
X. The columns that are not quantized yet can compensate part of the error of a column (Frantar et al. 2023, GPTQ, eq.
2-3 and Algorithm 1). Here `assign` of a scheme, one column at a time, replaces rounding, so that every scheme works.
"""

from collections.abc import Sequence
from typing import Final

import torch
from torch import Tensor

from pocketmt.quantization.scheme import Parameters, Scheme

# Shares of the mean diagonal that are added to the diagonal. The first is the paper's (section 3.3, step 3). The others
# compensate less: with few bits, the errors of large weights can grow from column to column.
DAMPINGS: Final = (0.01, 0.1, 1.0)
BLOCK_COLUMNS: Final = 128  # as in the paper


class ErrorCompensation:
    """Chooses codes of weights that are multiplied with the same inputs, for all rows of a matrix or some at a time."""

    def __init__(self, hessian: Tensor, dampings: Sequence[float] = DAMPINGS) -> None:
        """Prepare the corrections of columns.

        Args:
            hessian: X^T X, [columns, columns], of the layer's inputs X [count, columns].
            dampings: to try, each above 0.
        """
        self.hessian = hessian.double()
        self.corrections = [_correction(self.hessian, damping) for damping in dampings]

    @torch.no_grad()
    def codes(self, scheme: Scheme, weight: Tensor, parameters: Parameters) -> Tensor:
        """Choose the codes of a weight such that the layer's outputs change little.

        Each row takes the codes with the least `output_error` among those of all dampings and of plain assignment. The
        result is never worse than `scheme.assign(weight, parameters)`, and equals it if inputs are not correlated.

        Args:
            scheme: any scheme.
            weight: [rows, columns].
            parameters: of the scheme, e.g. scheme.fit(weight).

        Returns:
            Codes as `scheme.assign` returns them.
        """
        best = scheme.assign(weight, parameters)
        least = output_error(weight, scheme.decode(best, parameters), self.hessian)
        for correction in self.corrections:
            codes = _by_columns(scheme, weight, correction, parameters)
            error = output_error(weight, scheme.decode(codes, parameters), self.hessian)
            best = torch.where((error < least).view(-1, *[1] * (best.dim() - 1)), codes, best)
            least = torch.minimum(error, least)
        return best


def compensated_codes(
    scheme: Scheme, weight: Tensor, hessian: Tensor, parameters: Parameters, dampings: Sequence[float] = DAMPINGS
) -> Tensor:
    """Return the codes of a whole weight; see `ErrorCompensation`."""
    return ErrorCompensation(hessian, dampings).codes(scheme, weight, parameters)


def output_error(weight: Tensor, quantized: Tensor, hessian: Tensor) -> Tensor:
    """Return ||(w - q) X^T||^2 of each row, float64 [rows]; w and q [rows, columns], X^T X [columns, columns]."""
    difference = weight.detach().double() - quantized.detach().double()
    return ((difference @ hessian.double()) * difference).sum(dim=1)


def _by_columns(scheme: Scheme, weight: Tensor, correction: Tensor, parameters: Parameters) -> Tensor:
    """Assign one column after the other; the error of each is added to later columns (Algorithm 1).

    Errors reach columns of later blocks by one product a block (section 3.3, step 2: lazy batch updates).
    """
    rest = weight.detach().double().clone()
    chosen = []
    columns = weight.shape[1]
    for start in range(0, columns, BLOCK_COLUMNS):
        stop = min(start + BLOCK_COLUMNS, columns)
        errors = torch.empty(len(rest), stop - start, dtype=rest.dtype, device=rest.device)
        for column in range(start, stop):
            wanted = rest[:, column : column + 1]
            codes = scheme.assign(wanted, parameters)
            error = (wanted - scheme.decode(codes, parameters).double()) / correction[column, column]
            rest[:, column + 1 : stop] -= error * correction[column, column + 1 : stop]
            errors[:, column - start] = error[:, 0]
            chosen.append(codes)
        rest[:, stop:] -= errors @ correction[start:stop, stop:]
    return torch.cat(chosen, dim=-1)


def _correction(hessian: Tensor, damping: float) -> Tensor:
    """Return U, upper triangular, with U^T U = (H + damping)^-1: row j is how later columns compensate column j.

    An input that is always 0 has only the damping on its diagonal, and compensates nothing.
    """
    diagonal = hessian.diagonal()
    mean = diagonal.mean()
    # If all inputs are 0, any positive diagonal will do.
    added = damping * mean if mean > 0 else torch.ones_like(mean)
    inverse = torch.cholesky_inverse(torch.linalg.cholesky(hessian + torch.diag(added.expand_as(diagonal))))
    upper: Tensor = torch.linalg.cholesky(inverse, upper=True)
    return upper
