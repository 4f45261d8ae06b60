"""Reading .npz files (zip files of NumPy's .npy) tensor by tensor, with every size checked."""

import io
import math
import tokenize
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.lib import format as npy

from pocketmt.errors import InteropError, unreadable
from pocketmt.interop.file_tensor import check_shape, file_tensor
from pocketmt.interop.foreign_tensor import Float32, ForeignTensor, block_rows, transposed
from pocketmt.interop.zip_members import DAMAGED, Member, check_stored, read_member, zip_members

CONFIGURATION: Final = "special:model.yml"
MAXIMUM_HEADER: Final = 16 << 10
MOST_EXPANDED: Final = 32  # times the size of the file, all members together
_ALWAYS: Final = 64 << 20  # bytes that any file may expand to
_SUFFIX: Final = ".npy"
# What damaged headers raise in NumPy's reader.
_DAMAGED_HEADER: Final = (
    *(ValueError, SyntaxError, TypeError, tokenize.TokenError),
    *(RecursionError, MemoryError, OverflowError),
)


def read_npz(path: Path) -> tuple[dict[str, ForeignTensor], bytes]:
    """Return the tensors of a file by name, and the bytes of Marian's configuration.

    Raises InteropError if the file is damaged, has no configuration, holds other types than float32, or would expand
    to far more than its own size.
    """
    members = zip_members(path)
    size = sum(member.size for member in members.values())
    if size > MOST_EXPANDED * path.stat().st_size + _ALWAYS:
        raise InteropError(f"{path}: its members claim {size} bytes, far more than the file has: it is damaged")
    names = {name.removesuffix(_SUFFIX): member for name, member in members.items()}
    if CONFIGURATION not in names:
        raise InteropError(f"{path}: has no {CONFIGURATION}: not a model of Marian")
    content = _bytes(path, names.pop(CONFIGURATION))
    try:
        with path.open("rb") as file, zipfile.ZipFile(file) as archive:
            return {name: _tensor(path, archive, name, member) for name, member in names.items()}, content
    except OSError as error:
        raise InteropError(unreadable(path, error)) from error


def _bytes(path: Path, member: Member) -> bytes:
    """Return the content of a row of int8."""
    content = read_member(path, member, 1 << 20)
    _, _, dtype, start = _header(path, member.name, io.BytesIO(content))
    if dtype.itemsize != 1:
        raise InteropError(f"{path}: {member.name} has type {dtype}, expected int8")
    return content[start:]


def _tensor(path: Path, archive: zipfile.ZipFile, name: str, member: Member) -> ForeignTensor:
    try:
        with archive.open(member.name) as stream:
            # The header alone; the stream would go on to read the whole member, and its checksum.
            head = io.BytesIO(stream.read(MAXIMUM_HEADER))
    except (*DAMAGED, KeyError) as error:
        raise InteropError(f"{path}: {name!r:.120} is damaged ({str(error)[:120]})") from error
    shape, by_columns, dtype, start = _header(path, name, head)
    if dtype != np.dtype("<f4"):
        raise InteropError(f"{path}: tensor {name!r:.120} has type {dtype}, expected float32")
    checked = check_shape(name, shape)
    if by_columns and len(checked) > 1:
        if len(checked) != 2:
            raise InteropError(f"{path}: tensor {name!r:.120} is in the order of its columns")
        checked = checked[::-1]
    if start + 4 * math.prod(checked) != member.size:
        raise InteropError(
            f"{path}: tensor {name!r:.120} of shape {list(checked)} does not have the {member.size} bytes of its member"
        )
    if member.offset is not None:
        check_stored(path, member)
        tensor = file_tensor(path, name, "F32", member.offset + start, checked)
    else:
        tensor = _compressed(path, member, checked, start)
    return transposed(tensor) if by_columns and len(checked) == 2 else tensor


def _header(path: Path, name: str, stream: BinaryIO) -> tuple[tuple[int, ...], bool, np.dtype[Any], int]:
    """Return shape, whether columns come first, type and where the numbers begin."""
    try:
        version = npy.read_magic(stream)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # NumPy warns of headers that Python 2 wrote, and reads them.
            shape, by_columns, dtype = read(stream, max_header_size=MAXIMUM_HEADER)
    except _DAMAGED_HEADER as error:
        raise InteropError(f"{path}: {name!r:.120} is not of NumPy's format ({str(error)[:80]})") from error
    return shape, by_columns, dtype, stream.tell()


def _compressed(path: Path, member: Member, shape: tuple[int, ...], start: int) -> ForeignTensor:
    def blocks() -> Iterator[Float32]:
        columns = math.prod(shape[1:])
        rows = block_rows(shape)
        try:
            with zipfile.ZipFile(path) as archive, archive.open(member.name) as stream:
                stream.read(start)
                for first in range(0, shape[0], rows):
                    count = min(rows, shape[0] - first)
                    content = stream.read(4 * count * columns)
                    if len(content) != 4 * count * columns:
                        raise InteropError(f"{path}: ends within {member.name!r:.120}: download it again")
                    yield np.frombuffer(content, "<f4").reshape(count, *shape[1:])
        except DAMAGED as error:
            raise InteropError(f"{path}: {member.name!r:.120} is damaged ({str(error)[:120]})") from error
        except OSError as error:
            raise InteropError(unreadable(path, error)) from error

    return ForeignTensor(shape, blocks)
