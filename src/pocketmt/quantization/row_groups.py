"""A matrix as row groups: each group has one scheme, and the groups are fitted, assigned and decoded together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from pocketmt.quantization import Parameters, Scheme


@dataclass(frozen=True)
class RowGroup:
    """Rows of a matrix that share a scheme."""

    scheme: Scheme
    rows: tuple[int, ...] | None = None  # indices, ascending; None: all rows
    vectors: tuple[str, ...] = ()  # for grouped vectors, the names in the network of the vectors that are the rows

    def of(self, weight: Tensor) -> Tensor:
        """Return the group's rows of a matrix."""
        return weight if self.rows is None else weight[list(self.rows)]


@dataclass(frozen=True)
class QuantizedGroup:
    """Codes and parameters of a row group."""

    codes: Tensor
    parameters: Parameters


# One for each row group of a matrix.
QuantizedMatrix = list[QuantizedGroup]


def on_device(quantized: QuantizedMatrix, device: torch.device) -> QuantizedMatrix:
    """Return codes and parameters on a device; checkpoints are loaded to the CPU."""
    return [QuantizedGroup(group.codes.to(device), moved(group.parameters, device)) for group in quantized]


def moved(parameters: Parameters, device: torch.device) -> Parameters:
    """Return the parameters of a row group on a device."""
    return {name: tensor.to(device) for name, tensor in parameters.items()}


def fit(groups: Sequence[RowGroup], weight: Tensor) -> list[Parameters]:
    """Fit the parameters of each group to its rows of a weight [rows, columns]."""
    return [group.scheme.fit(group.of(weight)) for group in groups]


def assign(groups: Sequence[RowGroup], weight: Tensor, parameters: Sequence[Parameters]) -> QuantizedMatrix:
    """Choose the codes of a weight [rows, columns] under the parameters of each group."""
    return [
        QuantizedGroup(group.scheme.assign(group.of(weight), each), each)
        for group, each in zip(groups, parameters, strict=True)
    ]


def quantize(groups: Sequence[RowGroup], weight: Tensor) -> QuantizedMatrix:
    """Fit parameters and choose codes."""
    return assign(groups, weight, fit(groups, weight))


def fake_quantize(
    groups: Sequence[RowGroup], weight: Tensor, parameters: Sequence[Parameters] = ()
) -> tuple[QuantizedMatrix, Tensor]:
    """Quantize a weight [rows, columns], with fitted parameters if none are given.

    Returns codes and parameters, and the weight that they represent, float32 [rows, columns].
    """
    quantized: QuantizedMatrix = []
    decoded: list[Tensor] = []
    for index, group in enumerate(groups):
        rows = group.of(weight)
        chosen = parameters[index] if parameters else group.scheme.fit(rows)
        codes = group.scheme.assign(rows, chosen)
        quantized.append(QuantizedGroup(codes, chosen))
        decoded.append(group.scheme.decode(codes, chosen))
    return quantized, decoded[0] if len(groups) == 1 else _in_order(groups, decoded)


def decode(groups: Sequence[RowGroup], quantized: QuantizedMatrix) -> Tensor:
    """Return the weight that codes and parameters of the groups represent, float32 [rows, columns]."""
    parts = [group.scheme.decode(each.codes, each.parameters) for group, each in zip(groups, quantized, strict=True)]
    return parts[0] if len(groups) == 1 else _in_order(groups, parts)


def _in_order(groups: Sequence[RowGroup], parts: Sequence[Tensor]) -> Tensor:
    """Return the rows of several groups [rows, columns] in the order of the matrix."""
    order = torch.tensor([row for group in groups for row in group.rows or ()], device=parts[0].device)
    return torch.cat(list(parts))[order.argsort()]


def decoded_weights(
    weights: Mapping[str, Tensor],
    quantized: Mapping[str, QuantizedMatrix],
    groups: Mapping[str, Sequence[RowGroup]],
) -> dict[str, Tensor]:
    """Return a network's weights, with quantized matrices and vectors as their codes represent them.

    Args:
        weights: every parameter.
        quantized: matrices, and grouped vectors.
        groups: row groups of the same.
    """
    decoded = dict(weights)
    for name, matrix in quantized.items():
        for parameter, weight in by_parameter(name, groups[name], decode(groups[name], matrix)).items():
            decoded[parameter] = weight.to(weights[parameter].device)
    return decoded


def clamped(groups: Sequence[RowGroup], weight: Tensor, parameters: Sequence[Parameters]) -> Tensor:
    """Return which weights lie outside the range of their group's codes (`Scheme.clamped`), bool [rows, columns]."""
    mask = torch.zeros_like(weight, dtype=torch.bool)
    for group, each in zip(groups, parameters, strict=True):
        rows = slice(None) if group.rows is None else list(group.rows)
        mask[rows] = group.scheme.clamped(group.of(weight), each)
    return mask


def are_consecutive(groups: Sequence[RowGroup]) -> bool:
    """Return whether the groups are consecutive rows of a matrix, one group after the other."""
    rows = [row for group in groups for row in group.rows or ()]
    return rows == list(range(len(rows)))


def grouped_rows(parameters: Mapping[str, Tensor], groups: Sequence[RowGroup]) -> Tensor:
    """Return grouped vectors as the rows of a matrix, [vectors, length]."""
    return torch.stack([parameters[name].detach() for name in groups[0].vectors])


def by_parameter(name: str, groups: Sequence[RowGroup], weight: Tensor) -> dict[str, Tensor]:
    """Return a matrix by its name, or the rows of grouped vectors by the names of the vectors."""
    vectors = groups[0].vectors
    return dict(zip(vectors, weight, strict=True)) if vectors else {name: weight}
