"""Parameters of schemes that gradients move: the centroids of codebooks [Z1, Z2] and the factors of binary codes."""

from collections.abc import Sequence
from typing import Final

import torch
from torch import Tensor, nn

from pocketmt.quantization import Parameters, Scheme
from pocketmt.quantization.binarization import FixedBinarization, FlexibleBinarization
from pocketmt.quantization.binary_code import BinaryCode, binary_code_parameters
from pocketmt.quantization.codebook import Codebook
from pocketmt.quantization.level_table import codebook_parameters
from pocketmt.recipes.row_groups import QuantizedMatrix, RowGroup

TRAINABLE: Final = (Codebook, FixedBinarization, FlexibleBinarization, BinaryCode)


def trained_values(groups: Sequence[RowGroup], parameters: Sequence[Parameters]) -> list[nn.Parameter]:
    """Return what an optimizer moves, for each group: centroids [2^bits], or factors [rows, bits]; float32."""
    return [
        nn.Parameter(_values(group.scheme, each).detach().clone())
        for group, each in zip(groups, parameters, strict=True)
    ]


def parameters_of_values(groups: Sequence[RowGroup], values: Sequence[Tensor]) -> list[Parameters]:
    """Return each group's parameters as the file holds them, without gradients."""
    return [_parameters(group.scheme, each.detach()) for group, each in zip(groups, values, strict=True)]


def give_gradients(
    groups: Sequence[RowGroup], quantized: QuantizedMatrix, values: Sequence[nn.Parameter], gradient: Tensor
) -> None:
    """Set the gradients of trained values by that of the matrix, [rows, columns], codes standing still.

    A centroid's is the sum over its weights ([Z1], paper Z, section 3.1.1); a factor's is the sum over its row's
    weights, each with the sign of its code.
    """
    for group, each, value in zip(groups, quantized, values, strict=True):
        weight = group.scheme.decode(each.codes, _parameters(group.scheme, value))
        (value.grad,) = torch.autograd.grad(weight, [value], group.of(gradient))


def _values(scheme: Scheme, parameters: Parameters) -> Tensor:
    return parameters["alphas"] if isinstance(scheme, BinaryCode) else parameters["levels"] * parameters["scale"]


def _parameters(scheme: Scheme, values: Tensor) -> Parameters:
    return binary_code_parameters(values) if isinstance(scheme, BinaryCode) else codebook_parameters(values)
