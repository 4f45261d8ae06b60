"""Reading safetensors files (the format of the package `safetensors`), with every offset and shape checked."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pocketmt.errors import InteropError, ModelFileError, unreadable
from pocketmt.interop.file_tensor import ELEMENTS, check_shape, file_tensor
from pocketmt.interop.git_lfs import refuse_pointer
from pocketmt.interop.hugging_face.tensors import TensorsByName
from pocketmt.model_file.container.strict_json import parse_object

LENGTH_BYTES: Final = 8
MAXIMUM_HEADER: Final = 16 << 20  # bytes
_TYPES: Final = {"F64": "float64", "I64": "int64", "I32": "int32", "I8": "int8", "U8": "uint8", "BOOL": "bool"}


def read_safetensors(path: Path) -> TensorsByName:
    """Return the tensors of a file.

    Raises InteropError if the file is not safetensors, is cut off, or an entry does not fit it.
    """
    refuse_pointer(path)
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(LENGTH_BYTES), "little")
            if length > MAXIMUM_HEADER:
                raise InteropError(f"{path}: the header claims {length} bytes: not a safetensors file")
            raw = file.read(length)
    except OSError as error:
        raise InteropError(unreadable(path, error)) from error
    if len(raw) != length:
        raise InteropError(f"{path}: ends within the header: download it again")
    try:
        entries = parse_object(raw, "the header")
    except ModelFileError as error:
        raise InteropError(f"{path}: {error}: not a safetensors file") from error
    entries.pop("__metadata__", None)
    tensors = TensorsByName()
    for name, entry in entries.items():
        _add(tensors, path, name, entry, LENGTH_BYTES + length)
    return tensors


def _add(tensors: TensorsByName, path: Path, name: str, entry: Any, start: int) -> None:
    where = f"{path}: tensor {name!r:.120}"
    if not isinstance(entry, Mapping) or not {"dtype", "shape", "data_offsets"} <= set(entry):
        raise InteropError(f"{where} lacks dtype, shape or data_offsets: not a safetensors file")
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or not isinstance(shape, list) or not isinstance(offsets, list):
        raise InteropError(f"{where}: dtype, shape or data_offsets have a wrong type: not a safetensors file")
    if dtype not in ELEMENTS:
        tensors.other_types[name] = _TYPES.get(dtype, dtype)
        return
    if len(offsets) != 2 or not all(type(offset) is int and offset >= 0 for offset in offsets):
        raise InteropError(f"{where}: data_offsets are {offsets!r:.80}, expected [begin, end]")
    checked = check_shape(name, shape)
    size = ELEMENTS[dtype].itemsize
    for extent in checked:
        size *= extent
    if offsets[1] - offsets[0] != size:
        raise InteropError(f"{where}: {dtype} of shape {shape!r:.80} takes {size} bytes, not data_offsets {offsets}")
    tensors.found[name] = file_tensor(path, name, dtype, start + offsets[0], checked)
