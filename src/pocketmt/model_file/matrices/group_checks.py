"""Checks of the values in the tensors of a row group: finite parameters, valid codes, and zero padding."""

from collections.abc import Callable, Container
from typing import Final

from pocketmt.errors import ModelFileError
from pocketmt.model_file.matrices.packed_bits import unused_bits
from pocketmt.model_file.matrices.row_groups import StoredRowGroup

Data = Callable[[str], memoryview]  # a tensor's name -> its bytes
LARGEST_FINITE: Final = {"BF16": 0x7F7F, "F32": 0x7F7FFFFF}  # positive numbers have the order of their bit patterns
_SIGN: Final = {"BF16": 0x8000, "F32": 0x80000000}
_SEARCHED_AT_ONCE: Final = 1 << 20  # bytes


def check_group(name: str, group: StoredRowGroup, data: Data, later: Container[str]) -> None:
    """Check the values of a row group whose tensors have the dtypes and shapes of its stored form.

    Args:
        name: start of the names of its tensors, "<matrix>.<index>".
        group: the row group.
        data: a tensor's name -> its bytes.
        later: names of tensors that are not checked now.

    Raises:
        ModelFileError: naming the tensor.
    """
    for suffix, (dtype, _) in group.tensors().items():
        tensor = f"{name}.{suffix}"
        if tensor in later:
            continue
        content = data(tensor)
        if dtype in ("I8", "U8"):
            check_codes(tensor, group, suffix, content)
        elif not _is_moderate(content, dtype, signed=suffix != "scale"):
            _check_numbers(tensor, content, dtype, suffix)


def _is_moderate(content: memoryview, dtype: str, *, signed: bool) -> bool:
    """Tell whether all numbers are between -2^127 and 2^127, or 0 and 2^127: the rule, which is quick to find out."""
    size = 2 if dtype == "BF16" else 4
    highest = bytes(content[size - 1 :: size])  # of each number: its sign, and its exponent without the last bit
    return b"\x7f" not in highest and (b"\xff" not in highest if signed else highest.isascii())


def _check_numbers(tensor: str, content: memoryview, dtype: str, suffix: str) -> None:
    patterns = set(content.cast("H" if dtype == "BF16" else "I"))
    if suffix == "scale":
        if max(patterns) > LARGEST_FINITE[dtype]:
            raise ModelFileError(f"tensor {tensor!r} holds a scale that is negative or not finite")
    elif any(pattern & ~_SIGN[dtype] > LARGEST_FINITE[dtype] for pattern in patterns):
        raise ModelFileError(f"tensor {tensor!r} holds a value that is not finite")


def check_codes(tensor: str, group: StoredRowGroup, suffix: str, content: memoryview) -> None:
    """Check the bytes of a tensor of codes or levels of a row group.

    Args:
        tensor: its name.
        group: the row group.
        suffix: the last part of the name.
        content: its bytes.

    Raises:
        ModelFileError: naming the tensor.
    """
    dtype, shape = group.tensors()[suffix]
    if dtype == "I8":
        _check_signed(tensor, content, suffix)
    elif group.form.zero_padded and unused_bits(content, shape[-1], group.columns, group.form.packed_bits):
        raise ModelFileError(f"tensor {tensor!r} has bits that are not 0 after the last code of a row")


def _check_signed(tensor: str, content: memoryview, suffix: str) -> None:
    for begin in range(0, len(content), _SEARCHED_AT_ONCE):
        if b"\x80" in bytes(content[begin : begin + _SEARCHED_AT_ONCE]):
            raise ModelFileError(f"tensor {tensor!r} holds the {suffix.removesuffix('s')} -128, outside [-127, 127]")
