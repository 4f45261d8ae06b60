"""A matrix under its schemes: row groups, each of one scheme, fitted, assigned and decoded together."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from pocketmt.quantization import Parameters, Scheme


@dataclass(frozen=True)
class RowGroup:
    """Rows of a matrix that share a scheme.

    Attributes:
        rows: their indices, ascending; None: all rows.
        vectors: of a stack, the vectors that are its rows, by their names in the network; else empty.
    """

    scheme: Scheme
    rows: tuple[int, ...] | None = None
    vectors: tuple[str, ...] = ()

    def of(self, weight: Tensor) -> Tensor:
        """Return the group's rows of a matrix."""
        return weight if self.rows is None else weight[list(self.rows)]


@dataclass(frozen=True)
class QuantizedGroup:
    """Codes and parameters of a row group, as its scheme makes them."""

    codes: Tensor
    parameters: Parameters


# Of a matrix: one for each of its row groups.
QuantizedMatrix = list[QuantizedGroup]


def on_device(quantized: QuantizedMatrix, device: torch.device) -> QuantizedMatrix:
    """Return codes and parameters on a device: those of a checkpoint are read to the processor's memory."""
    return [QuantizedGroup(group.codes.to(device), moved(group.parameters, device)) for group in quantized]


def moved(parameters: Parameters, device: torch.device) -> Parameters:
    """Return a row group's parameters on a device."""
    return {name: tensor.to(device) for name, tensor in parameters.items()}


def fit(groups: Sequence[RowGroup], weight: Tensor) -> list[Parameters]:
    """Fit each group's parameters to its rows of a weight [rows, columns]."""
    return [group.scheme.fit(group.of(weight)) for group in groups]


def assign(groups: Sequence[RowGroup], weight: Tensor, parameters: Sequence[Parameters]) -> QuantizedMatrix:
    """Choose the codes of a weight [rows, columns] under each group's parameters."""
    return [
        QuantizedGroup(group.scheme.assign(group.of(weight), each), each)
        for group, each in zip(groups, parameters, strict=True)
    ]


def quantize(groups: Sequence[RowGroup], weight: Tensor) -> QuantizedMatrix:
    """Fit parameters and choose codes."""
    return assign(groups, weight, fit(groups, weight))


def decode(groups: Sequence[RowGroup], quantized: QuantizedMatrix) -> Tensor:
    """Return the weight, float32 [rows, columns], that the groups' codes and parameters stand for."""
    parts = [group.scheme.decode(each.codes, each.parameters) for group, each in zip(groups, quantized, strict=True)]
    if groups[0].rows is None:
        return parts[0]
    order = torch.tensor([row for group in groups for row in group.rows or ()], device=parts[0].device)
    return torch.cat(parts)[order.argsort()]
