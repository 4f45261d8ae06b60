"""Reading weights that `torch.save` wrote, without running anything: `pytorch_model.bin`, as a zip file or older."""

import io
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final

from pocketmt.errors import InteropError, unreadable
from pocketmt.interop.file_tensor import ELEMENTS, check_shape, file_tensor
from pocketmt.interop.git_lfs import refuse_pointer
from pocketmt.interop.hugging_face.pickle_machine import PickledTensor, Storage, read_pickle
from pocketmt.interop.hugging_face.tensors import TensorsByName
from pocketmt.interop.zip_members import check_stored, read_member, zip_members

MAXIMUM_PICKLE: Final = 4 << 20  # bytes
_MAGIC: Final = 0x1950A86A20F9469CFC6C  # of files older than PyTorch 1.6
_PROTOCOL: Final = 1001
_SIZES: Final = {"FloatStorage": ("F32", 4), "HalfStorage": ("F16", 2), "BFloat16Storage": ("BF16", 2)}
_OTHERS: Final = {
    "DoubleStorage": ("float64", 8),
    "LongStorage": ("int64", 8),
    "IntStorage": ("int32", 4),
    "ShortStorage": ("int16", 2),
    "CharStorage": ("int8", 1),
    "ByteStorage": ("uint8", 1),
    "BoolStorage": ("bool", 1),
}


def read_pytorch(path: Path) -> TensorsByName:
    """Return the tensors of a file.

    Raises InteropError if the file is damaged, or holds anything but tensors by name.
    """
    refuse_pointer(path)
    try:
        with path.open("rb") as file:
            start = file.read(MAXIMUM_PICKLE)
    except OSError as error:
        raise InteropError(unreadable(path, error)) from error
    try:
        return _from_zip(path) if start.startswith(b"PK") else _from_pickles(path, io.BytesIO(start))
    except InteropError as error:
        message = str(error)
        raise InteropError(message if message.startswith(str(path)) else f"{path}: {message}") from error


def _from_zip(path: Path) -> TensorsByName:
    members = zip_members(path)
    descriptions = [name for name in members if name.endswith("/data.pkl") and name.count("/") == 1]
    if len(descriptions) != 1:
        raise InteropError("a zip file without data.pkl: not a file of torch.save")
    folder = descriptions[0].removesuffix("data.pkl")
    if (order := members.get(f"{folder}byteorder")) is not None and read_member(path, order, 16) != b"little":
        raise InteropError("its numbers are not little-endian: save it again on a little-endian machine")
    state = read_pickle(io.BytesIO(read_member(path, members[descriptions[0]], MAXIMUM_PICKLE)))
    checked: set[str] = set()

    def place(storage: Storage, size: int) -> int:
        member = members.get(f"{folder}data/{storage.key}")
        if member is None or member.offset is None:
            raise InteropError(f"the numbers of storage {storage.key!r:.40} are missing or compressed")
        if member.size != size:
            raise InteropError(f"storage {storage.key!r:.40} has {member.size} bytes, expected {size}")
        if storage.key not in checked:
            check_stored(path, member)
            checked.add(storage.key)
        return member.offset

    return _tensors(path, state, place)


def _from_pickles(path: Path, stream: BinaryIO) -> TensorsByName:
    """Read a file older than PyTorch 1.6: pickles, and then the storages, each after its number of elements."""
    if read_pickle(stream) != _MAGIC or read_pickle(stream) != _PROTOCOL:
        raise InteropError("not a file of torch.save")
    system = read_pickle(stream)
    if not isinstance(system, dict) or system.get("little_endian") is not True:
        raise InteropError("its numbers are not little-endian: save it again on a little-endian machine")
    state, keys = read_pickle(stream), read_pickle(stream)
    storages = {tensor.storage.key: tensor.storage for _, tensor in _named_tensors(state)}
    if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
        raise InteropError("the list of storages is damaged")
    offsets: dict[str, int] = {}
    offset = stream.tell()
    for key in keys:
        if key not in storages or key in offsets:
            raise InteropError(f"storage {key!r:.40} is in the list of storages, but of no tensor, or twice")
        offsets[key] = offset + 8
        offset += 8 + storages[key].elements * _element_size(storages[key])

    def place(storage: Storage, size: int) -> int:
        if storage.key not in offsets or storages[storage.key] != storage:
            raise InteropError(f"the numbers of storage {storage.key!r:.40} are missing")
        return offsets[storage.key]

    return _tensors(path, state, place)


def _tensors(path: Path, state: Any, place: Callable[[Storage, int], int]) -> TensorsByName:
    """Return the tensors of a state dict; `place` returns the offset of a storage of a size in bytes."""
    tensors = TensorsByName()
    for name, tensor in _named_tensors(state):
        kind = tensor.storage.type
        if kind not in _SIZES:
            tensors.other_types[name] = _OTHERS[kind][0] if kind in _OTHERS else kind
            continue
        dtype, size = _SIZES[kind]
        shape = _shape(name, tensor)
        elements, offset = math.prod(shape), tensor.offset
        if type(offset) is not int or not 0 <= offset <= tensor.storage.elements - elements:
            raise InteropError(
                f"tensor {name!r:.120} has {elements} elements, its storage only {tensor.storage.elements}"
            )
        start = place(tensor.storage, tensor.storage.elements * size)
        tensors.found[name] = file_tensor(path, name, dtype, start + offset * size, shape)
    return tensors


def _named_tensors(state: Any) -> list[tuple[str, PickledTensor]]:
    if not isinstance(state, Mapping):
        raise InteropError("does not hold tensors by name: save the model's state dict")
    if unnamed := [name for name in state if not isinstance(name, str)]:
        raise InteropError(f"holds a tensor with the name {unnamed[0]!r:.40}, which is no text: save the state dict")
    if unknown := [name for name, value in state.items() if not isinstance(value, PickledTensor)]:
        raise InteropError(f"holds {unknown[0]!r:.120}, which is no tensor: save the model's state dict")
    return list(state.items())


def _shape(name: str, tensor: PickledTensor) -> tuple[int, ...]:
    """Return the shape of a tensor whose elements lie in the order of its rows."""
    if not isinstance(tensor.shape, tuple) or not isinstance(tensor.strides, tuple):
        raise InteropError(f"tensor {name!r:.120} has no shape")
    shape = check_shape(name, tensor.shape)
    expected = tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))
    strides = tuple(
        right if extent == 1 else stride for extent, stride, right in zip(shape, tensor.strides, expected, strict=False)
    )
    if strides != expected or len(tensor.strides) != len(shape):
        raise InteropError(f"tensor {name!r:.120} is a view in another order of elements: save a copy of it")
    return shape


def _element_size(storage: Storage) -> int:
    if storage.type in _SIZES:
        return _SIZES[storage.type][1]
    if storage.type not in _OTHERS:
        raise InteropError(f"storage {storage.key!r:.40} is of the unknown type {storage.type!r:.40}")
    return _OTHERS[storage.type][1]


assert set(ELEMENTS) == {dtype for dtype, _ in _SIZES.values()}
