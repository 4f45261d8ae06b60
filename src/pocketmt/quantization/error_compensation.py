"""Codes chosen with second-order error compensation, for those who cannot retrain.

Rounding each weight to its nearest value keeps the weights; what counts is the layer's outputs on its inputs X. Each
column's error can be made good in part by the columns that are not quantized yet: Frantar et al. (2022), "GPTQ:
Accurate Post-Training Quantization for Generative Pre-trained Transformers", eq. 2-3 and algorithm 1. The schemes' own
`assign`, one column at a time, takes the place of rounding there, so that it works for all of them.
"""

from collections.abc import Sequence
from typing import Final

import torch
from torch import Tensor

from pocketmt.quantization.scheme import Parameters, Scheme

# Shares of the mean diagonal that are added to the diagonal. The first is the paper's (section 3.3, step 3); the others
# compensate less: with few bits, what large weights leave is else passed on from column to column, and grows.
DAMPINGS: Final = (0.01, 0.1, 1.0)


@torch.no_grad()
def compensated_codes(
    scheme: Scheme, weight: Tensor, hessian: Tensor, parameters: Parameters, dampings: Sequence[float] = DAMPINGS
) -> Tensor:
    """Choose a weight's codes such that the layer's outputs change little.

    Each row takes the best, by `output_error`, of what the dampings lead to and of plain assignment: the result is
    never worse than `scheme.assign(weight, parameters)`, and the same where inputs are not correlated.

    Args:
        scheme: any; parameters stay as they are.
        weight: [rows, columns].
        hessian: X^T X, [columns, columns], of inputs X [count, columns] as the layer sees them.
        parameters: of the scheme, e.g. scheme.fit(weight).
        dampings: to try, each above 0.

    Returns:
        Codes as `scheme.assign` returns them.
    """
    best = scheme.assign(weight, parameters)
    least = output_error(weight, scheme.decode(best, parameters), hessian)
    for damping in dampings:
        codes = _by_columns(scheme, weight, _correction(hessian.double(), damping), parameters)
        error = output_error(weight, scheme.decode(codes, parameters), hessian)
        best = torch.where((error < least).view(-1, *[1] * (best.dim() - 1)), codes, best)
        least = torch.minimum(error, least)
    return best


def output_error(weight: Tensor, quantized: Tensor, hessian: Tensor) -> Tensor:
    """Return ||(w - q) X^T||^2 of each row, float64 [rows], of weights [rows, columns] for X^T X [columns, columns]."""
    difference = weight.detach().double() - quantized.detach().double()
    return ((difference @ hessian.double()) * difference).sum(dim=1)


def _by_columns(scheme: Scheme, weight: Tensor, correction: Tensor, parameters: Parameters) -> Tensor:
    """Assign column after column; each one's error changes what later columns want (algorithm 1)."""
    rest = weight.detach().double().clone()
    chosen = []
    for column in range(weight.shape[1]):
        wanted = rest[:, column : column + 1]
        codes = scheme.assign(wanted, parameters)
        error = (wanted - scheme.decode(codes, parameters).double()) / correction[column, column]
        rest[:, column + 1 :] -= error * correction[column, column + 1 :]
        chosen.append(codes)
    return torch.cat(chosen, dim=-1)


def _correction(hessian: Tensor, damping: float) -> Tensor:
    """Return U, upper triangular, with U^T U = (H + damping)^-1: row j says how later columns make j's error good.

    An input that is always 0 has a diagonal of the damping alone, and corrects nothing.
    """
    diagonal = hessian.diagonal()
    mean = diagonal.mean()
    # All inputs 0: any positive diagonal says that errors do not matter.
    added = damping * mean if mean > 0 else torch.ones_like(mean)
    inverse = torch.cholesky_inverse(torch.linalg.cholesky(hessian + torch.diag(added.expand_as(diagonal))))
    upper: Tensor = torch.linalg.cholesky(inverse, upper=True)
    return upper
