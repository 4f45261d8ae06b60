"""The size of a fully quantized network, as in Prato et al. 2020."""

from collections.abc import Mapping

from torch import Tensor

from pocketmt.quantization.row_groups import QuantizedMatrix, RowGroup


def stored_bytes(
    state: Mapping[str, Tensor], quantized: Mapping[str, QuantizedMatrix], groups: Mapping[str, tuple[RowGroup, ...]]
) -> float:
    """Return the bytes of weights and ranges: codes at their bit width, parameters of rows in 16 bits, the rest in 32.

    Args:
        state: name -> parameter or range.
        quantized: name -> codes and parameters of the quantized ones.
        groups: name -> row groups of the quantized ones.
    """
    total = 0.0
    for name, tensor in state.items():
        if name not in quantized:
            total += 4 * tensor.numel() if tensor.is_floating_point() else 0  # counters of estimates are not stored
            continue
        for group, each in zip(groups[name], quantized[name], strict=True):
            bytes_each = 2 if group.scheme.granularity == "row" else 4
            total += each.codes.numel() * group.scheme.bits / 8
            total += sum(bytes_each * value.numel() for value in each.parameters.values())
    return total
