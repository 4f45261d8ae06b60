"""The size of a fully quantized network, as paper Q counts it."""

from collections.abc import Mapping

from torch import Tensor

from pocketmt.recipes.row_groups import QuantizedMatrix, RowGroup


def stored_bytes(
    state: Mapping[str, Tensor], quantized: Mapping[str, QuantizedMatrix], groups: Mapping[str, tuple[RowGroup, ...]]
) -> float:
    """Return the bytes of weights and ranges.

    Codes are of their bits, a row's parameters of 16 bits, as a model file has them, and all else of 32.

    Args:
        state: parameters and ranges, by name.
        quantized: codes and parameters of those that are quantized.
        groups: their row groups.
    """
    total = 0.0
    for name, tensor in state.items():
        if name not in quantized:
            total += 4 * tensor.numel() if tensor.is_floating_point() else 0  # how often a range was seen is not stored
            continue
        for group, each in zip(groups[name], quantized[name], strict=True):
            bytes_each = 2 if group.scheme.granularity == "row" else 4
            total += each.codes.numel() * group.scheme.bits / 8
            total += sum(bytes_each * value.numel() for value in each.parameters.values())
    return total
