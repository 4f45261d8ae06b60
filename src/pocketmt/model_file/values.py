"""Checks of what tensors hold: numbers that arithmetic can bear, and bits that mean nothing left 0."""

from collections.abc import Callable
from typing import Final

from pocketmt.errors import ModelFileError
from pocketmt.model_file.layout import RowGroup, group_index_bits, unused_bits_are_zero
from pocketmt.model_file.packed_bits import unpack_indices, unused_bits

Data = Callable[[str], memoryview]  # the bytes of a tensor
LARGEST_FINITE: Final = {"BF16": 0x7F7F, "F32": 0x7F7FFFFF}  # positive numbers have the order of their bit patterns
_SIGN: Final = {"BF16": 0x8000, "F32": 0x80000000}
_ACTIVATION_SCALES: Final = (2.0**-100, 2.0**100)  # the inverses of which are normal numbers, too
_SEARCHED_AT_ONCE: Final = 1 << 20  # bytes


def check_group(name: str, group: RowGroup, data: Data) -> None:
    """Check the values of a row group, whose tensors have the dtypes and shapes of its layout.

    Args:
        name: what its tensors' names begin with, "<matrix>.<index>".
        group: the row group.
        data: a tensor's name -> its bytes.

    Raises:
        ModelFileError: naming the tensor.
    """
    for suffix, (dtype, shape) in group.tensors().items():
        tensor = f"{name}.{suffix}"
        content = data(tensor)
        if dtype == "I8":
            _check_signed(tensor, content, suffix)
        elif dtype == "U8":
            bits = group.bits if suffix == "codes" else 1
            if unused_bits_are_zero(group.scheme) and unused_bits(content, shape[-1], group.columns, bits):
                raise ModelFileError(f"tensor {tensor!r} has bits that are not 0 after the last code of a row")
        else:
            patterns = set(content.cast("H" if dtype == "BF16" else "I"))
            if suffix == "scale" and max(patterns) > LARGEST_FINITE[dtype]:
                raise ModelFileError(f"tensor {tensor!r} holds a scale that is negative or not finite")
            if any(pattern & ~_SIGN[dtype] > LARGEST_FINITE[dtype] for pattern in patterns):
                raise ModelFileError(f"tensor {tensor!r} holds a value that is not finite")


def check_activation_scale(name: str, content: memoryview) -> None:
    """Raise ModelFileError where a calibrated scale is not positive, or so that it or its inverse is no float32."""
    (scale,) = content.cast("f")
    low, high = _ACTIVATION_SCALES
    if not low <= scale <= high:
        raise ModelFileError(f"tensor {name!r} holds {scale!r:.40}, expected a scale from 2^-100 to 2^100")


def group_of_row(matrix: str, groups: tuple[RowGroup, ...], content: memoryview) -> bytes:
    """Unpack and check the tensor "<matrix>.groups": one byte a row, the index of its row group.

    Raises ModelFileError where groups have other numbers of rows than the manifest says.
    """
    bits = group_index_bits(len(groups))
    rows = sum(group.rows for group in groups)
    name = f"{matrix}.groups"
    if unused_bits(content, len(content), rows, bits):
        raise ModelFileError(f"tensor {name!r} has bits that are not 0 after its last row")
    indices = unpack_indices(bytes(content), rows, bits)
    for index, group in enumerate(groups):
        if (count := indices.count(index)) != group.rows:
            raise ModelFileError(
                f"tensor {name!r} puts {count} rows into row group {index}, which has {group.rows} in the manifest"
            )
    return indices


def _check_signed(tensor: str, content: memoryview, suffix: str) -> None:
    for begin in range(0, len(content), _SEARCHED_AT_ONCE):
        if b"\x80" in bytes(content[begin : begin + _SEARCHED_AT_ONCE]):
            raise ModelFileError(f"tensor {tensor!r} holds the {suffix.removesuffix('s')} -128, outside [-127, 127]")
