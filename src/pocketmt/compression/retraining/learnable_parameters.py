"""Parameters of a matrix's schemes that gradients move, such as the centroids of codebooks."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from pocketmt.quantization import Parameters
from pocketmt.quantization.row_groups import QuantizedMatrix, RowGroup


def learnable_parameters(groups: Sequence[RowGroup], parameters: Sequence[Parameters]) -> list[nn.Parameter]:
    """Return what an optimizer moves, one float32 parameter for each group (`Scheme.learnable_parameters`)."""
    return [
        nn.Parameter(group.scheme.learnable_parameters(each).detach().clone())
        for group, each in zip(groups, parameters, strict=True)
    ]


def parameters_from(groups: Sequence[RowGroup], learnable: Sequence[Tensor]) -> list[Parameters]:
    """Return the parameters of each group as the file holds them, without gradients."""
    return [group.scheme.parameters_from(each.detach()) for group, each in zip(groups, learnable, strict=True)]


def backpropagate(
    groups: Sequence[RowGroup], quantized: QuantizedMatrix, learnable: Sequence[nn.Parameter], gradient: Tensor
) -> None:
    """Set the gradients of learnable parameters from that of the matrix, [rows, columns], for fixed codes."""
    for group, each, value in zip(groups, quantized, learnable, strict=True):
        weight = group.scheme.decode(each.codes, group.scheme.parameters_from(value))
        (value.grad,) = torch.autograd.grad(weight, [value], group.of(gradient))
