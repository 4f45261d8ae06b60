"""Tensors of foreign models, which are read block by block when they are written."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pocketmt.errors import InteropError

Float32 = NDArray[np.float32]

BLOCK_BYTES: Final = 16 << 20  # of a block as float32


@dataclass(frozen=True, slots=True)
class ForeignTensor:
    """A tensor in full precision.

    Attributes:
        shape: of the tensor.
        blocks: returns consecutive rows, float32 [rows, ...] (elements of a vector), which are all rows together.
    """

    shape: tuple[int, ...]
    blocks: Callable[[], Iterable[Float32]]

    def read(self) -> Float32:
        """Return the whole tensor."""
        return np.concatenate(list(self.blocks()))


@dataclass(frozen=True, slots=True)
class CodedRows:
    """Consecutive rows of 8-bit codes; a weight is code * scale.

    Attributes:
        scales: not negative and finite, float32 [rows], or [1] for all rows.
        codes: returns int8 [rows, columns], from -127 to 127.
    """

    rows: int
    scales: Float32
    codes: Callable[[], NDArray[np.int8]]

    def read(self) -> Float32:
        """Return the weights, float32 [rows, columns]."""
        return self.codes().astype(np.float32) * self.scales[:, None]


@dataclass(frozen=True, slots=True)
class CodesTensor:
    """A matrix of 8-bit codes.

    Attributes:
        shape: [rows, columns].
        groups: rows of the matrix, one group below the other.
    """

    shape: tuple[int, ...]
    groups: tuple[CodedRows, ...]

    def blocks(self) -> Iterator[Float32]:
        """Return the weights of each group, float32 [rows, columns]."""
        return (group.read() for group in self.groups)

    def read(self) -> Float32:
        """Return the weights, float32 [rows, columns]."""
        return np.concatenate(list(self.blocks()))


Tensor = ForeignTensor | CodesTensor


def block_rows(shape: Sequence[int]) -> int:
    """Return how many rows of a tensor a block has, at least one."""
    row_bytes = 4 * int(np.prod(shape[1:], dtype=np.int64))
    return max(1, BLOCK_BYTES // max(1, row_bytes))


def of_array(array: Float32) -> ForeignTensor:
    """Return the tensor of an array in memory."""
    return ForeignTensor(array.shape, lambda: (array,))


def stacked(*parts: ForeignTensor) -> ForeignTensor:
    """Return tensors of the same row size, one below the other."""
    sizes = {part.shape[1:] for part in parts}
    if len(sizes) != 1:
        shapes = ", ".join(str(list(part.shape)) for part in parts)
        raise InteropError(f"tensors of shapes {shapes} belong into one matrix, but do not have rows of the same size")

    def blocks() -> Iterator[Float32]:
        for part in parts:
            yield from part.blocks()

    return ForeignTensor((sum(part.shape[0] for part in parts), *sizes.pop()), blocks)


def of_vector(row: ForeignTensor) -> ForeignTensor:
    """Return a vector [n] that is stored as one row [1, n], or as it is."""
    return ForeignTensor(row.shape[-1:], lambda: (block.reshape(-1) for block in row.blocks()))


def transposed(matrix: ForeignTensor) -> ForeignTensor:
    """Return the transpose [columns, rows] of a matrix."""
    return ForeignTensor(matrix.shape[::-1], lambda: (np.ascontiguousarray(matrix.read().T),))


def equal(left: ForeignTensor, right: ForeignTensor) -> bool:
    """Return whether two tensors hold the same bits, without reading either as a whole; their blocks must be alike."""
    return left.shape == right.shape and all(
        np.array_equal(first.view(np.uint32), second.view(np.uint32))
        for first, second in zip(left.blocks(), right.blocks(), strict=True)
    )


def as_float32(tensor: Tensor) -> ForeignTensor:
    """Return a tensor in full precision; codes are decoded when it is read."""
    return tensor if isinstance(tensor, ForeignTensor) else ForeignTensor(tensor.shape, lambda: (tensor.read(),))


def rows_of(tensor: Tensor, start: int, stop: int) -> ForeignTensor:
    """Return rows (elements of a vector) of a tensor, which is read as a whole."""
    return ForeignTensor((stop - start, *tensor.shape[1:]), lambda: (tensor.read()[start:stop],))


def permuted(tensor: ForeignTensor, order: NDArray[np.int64], axis: int) -> ForeignTensor:
    """Return a tensor whose rows (axis 0) or columns (axis 1) are those of `order`."""
    if axis == 0:
        return ForeignTensor(tensor.shape, lambda: (tensor.read()[order],))
    return ForeignTensor(tensor.shape, lambda: (block[:, order] for block in tensor.blocks()))


def with_zero_row(matrix: ForeignTensor) -> ForeignTensor:
    """Return a matrix with one more row (a vector with one more element), of zeros."""
    return stacked(matrix, of_array(np.zeros((1, *matrix.shape[1:]), np.float32)))


def with_row_of_zeros(matrix: ForeignTensor, row: int) -> ForeignTensor:
    """Return a matrix one of whose rows is zeros instead."""

    def blocks() -> Iterator[Float32]:
        start = 0
        for block in matrix.blocks():
            if start <= row < start + len(block):
                block = block.copy()
                block[row - start] = 0
            yield block
            start += len(block)

    return ForeignTensor(matrix.shape, blocks)
