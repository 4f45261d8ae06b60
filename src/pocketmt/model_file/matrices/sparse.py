"""fp32 matrices with many zeros: the file holds one bit for each weight, and the weights that are not zero.

This saves bytes, not time: the engine computes with all weights, as for any fp32 matrix.
"""

import mmap
from collections.abc import Collection, Mapping
from itertools import compress

from pocketmt.errors import ModelFileError
from pocketmt.model_file.matrices.packed_bits import packed_bytes, unpack_indices, unused_bits
from pocketmt.model_file.matrices.stored_form import TensorLayout

_FLOAT32_BYTES = 4


def kept_name(matrix: str) -> str:
    """Return the name of the tensor with a bit for each weight, 1 if it is kept: U8 [rows, bytes of a row]."""
    return f"{matrix}.kept"


def weights_name(matrix: str) -> str:
    """Return the name of the tensor of the kept weights, row by row: F32 [kept]."""
    return f"{matrix}.weights"


def sparse_from_json(
    value: object, shapes: Mapping[str, tuple[int, ...]], quantized: Collection[str]
) -> tuple[str, ...]:
    """Read the manifest's member `sparse`, a list of names of matrices.

    Args:
        value: the member.
        shapes: parameter -> shape.
        quantized: matrices with row groups.

    Raises:
        ModelFileError: the list is empty, or has a name twice or a name that is not of an fp32 matrix.
    """
    where = "manifest: sparse"
    if not isinstance(value, list) or not value or not all(isinstance(name, str) for name in value):
        raise ModelFileError(f"{where} is not a list of at least one name")
    for name in value:
        if len(shapes.get(name, ())) != 2 or name in quantized:
            raise ModelFileError(f"{where}: {name!r:.120} is not an fp32 matrix of this architecture")
    if len(set(value)) < len(value):
        raise ModelFileError(f"{where}: names a matrix twice")
    return tuple(value)


def kept_layout(rows: int, columns: int) -> TensorLayout:
    """Return dtype and shape of the tensor of bits of a matrix [rows, columns]."""
    return "U8", (rows, packed_bytes(columns, 1))


def check_kept(matrix: str, shape: tuple[int, ...], kept: memoryview, weights: int) -> None:
    """Raise ModelFileError, naming the tensor, unless the bits of a matrix keep as many weights as the file holds.

    Args:
        matrix: its name.
        shape: [rows, columns].
        kept: bytes of the tensor of bits.
        weights: number of weights in the file.
    """
    rows, columns = shape
    name = kept_name(matrix)
    if unused_bits(kept, len(kept) // rows, columns, 1):
        raise ModelFileError(f"tensor {name!r} has bits that are not 0 after the last weight of a row")
    if (count := int.from_bytes(kept, "little").bit_count()) != weights:
        raise ModelFileError(f"tensor {name!r} keeps {count} weights, {weights_name(matrix)!r} has {weights}")


def expand(shape: tuple[int, ...], kept: memoryview, weights: memoryview) -> memoryview:
    """Return a matrix with its zeros, as bytes of F32 [rows, columns]; allocates these and one row.

    Args:
        shape: [rows, columns].
        kept: bytes of the tensor of bits, checked by `check_kept`.
        weights: bytes of the kept weights.
    """
    rows, columns = shape
    row_bytes = len(kept) // rows
    expanded = memoryview(mmap.mmap(-1, rows * columns * _FLOAT32_BYTES))
    values, stored = expanded.cast("f"), iter(weights.cast("f"))
    for row in range(rows):
        bits = unpack_indices(bytes(kept[row * row_bytes : (row + 1) * row_bytes]), columns, 1)
        for position in compress(range(row * columns, (row + 1) * columns), bits):
            values[position] = next(stored)
    values.release()
    return expanded.toreadonly()
