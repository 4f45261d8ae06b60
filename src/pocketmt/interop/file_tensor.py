"""Tensors that lie in a file as plain numbers."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pocketmt.errors import InteropError, unreadable
from pocketmt.interop.foreign_tensor import Float32, ForeignTensor, block_rows

# Little-endian types of elements, by the names that safetensors has for them; BF16 is read as the upper half of F32.
ELEMENTS: Final[dict[str, np.dtype[Any]]] = {"F32": np.dtype("<f4"), "F16": np.dtype("<f2"), "BF16": np.dtype("<u2")}
MAXIMUM_EXTENT: Final = 1 << 32
MOST_DIMENSIONS: Final = 4


def check_shape(name: str, shape: Sequence[object]) -> tuple[int, ...]:
    """Return a shape; raises InteropError, naming the tensor, unless it is a few whole numbers of at least 1."""
    found = tuple(extent for extent in shape if type(extent) is int and 1 <= extent <= MAXIMUM_EXTENT)
    if len(found) != len(shape) or len(shape) > MOST_DIMENSIONS:
        raise InteropError(f"tensor {name!r:.120} has a shape that no tensor of a network has: download the file again")
    return found


def file_tensor(path: Path, name: str, dtype: str, offset: int, shape: tuple[int, ...]) -> ForeignTensor:
    """Return a tensor of a file, which is read when its blocks are.

    Args:
        path: of the file.
        name: in messages.
        dtype: one of ELEMENTS.
        offset: of its first byte.
        shape: of `check_shape`.

    Raises InteropError if the file ends before the tensor does, also when the blocks are read.
    """
    elements = ELEMENTS[dtype]
    size = math.prod(shape) * elements.itemsize
    try:
        file_size = path.stat().st_size
    except OSError as error:
        raise InteropError(unreadable(path, error)) from error
    if offset < 0 or offset + size > file_size:
        raise InteropError(
            f"{path}: tensor {name!r:.120} has {size} bytes from byte {offset}, but the file ends at byte {file_size}: "
            "it is cut off or damaged, download it again"
        )

    def blocks() -> Iterator[Float32]:
        rows = block_rows(shape)
        columns = math.prod(shape[1:])
        try:
            with path.open("rb") as file:
                file.seek(offset)
                for start in range(0, shape[0], rows):
                    count = min(rows, shape[0] - start)
                    content = file.read(count * columns * elements.itemsize)
                    if len(content) != count * columns * elements.itemsize:
                        raise InteropError(f"{path}: ends within tensor {name!r:.120}: download it again")
                    yield _float32(np.frombuffer(content, elements), dtype).reshape(count, *shape[1:])
        except OSError as error:
            raise InteropError(unreadable(path, error)) from error

    return ForeignTensor(shape, blocks)


def _float32(numbers: NDArray[Any], dtype: str) -> Float32:
    if dtype == "BF16":
        return (numbers.astype(np.uint32) << 16).view(np.float32)
    return numbers.astype(np.float32, copy=False)
