"""Reading safetensors files (the format of the package `safetensors`), with every offset and shape checked."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pocketmt.errors import InteropError, ModelFileError, unreadable
from pocketmt.interop.file_tensor import ELEMENTS, check_shape, file_tensor
from pocketmt.interop.foreign_tensor import ForeignTensor
from pocketmt.model_file.container.strict_json import parse_object

LENGTH_BYTES: Final = 8
MAXIMUM_HEADER: Final = 16 << 20  # bytes


def read_safetensors(path: Path) -> dict[str, ForeignTensor]:
    """Return the tensors of a file by name; those of other types than fp32, fp16 and bf16 are left out.

    Raises InteropError if the file is not safetensors, is cut off, or an entry does not fit it.
    """
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
    found = {name: _tensor(path, name, entry, LENGTH_BYTES + length) for name, entry in entries.items()}
    return {name: tensor for name, tensor in found.items() if tensor is not None}


def _tensor(path: Path, name: str, entry: Any, start: int) -> ForeignTensor | None:
    where = f"{path}: tensor {name!r:.120}"
    if not isinstance(entry, Mapping) or not {"dtype", "shape", "data_offsets"} <= set(entry):
        raise InteropError(f"{where} lacks dtype, shape or data_offsets: not a safetensors file")
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or not isinstance(shape, list) or not isinstance(offsets, list):
        raise InteropError(f"{where}: dtype, shape or data_offsets have a wrong type: not a safetensors file")
    if dtype not in ELEMENTS:
        return None
    if len(offsets) != 2 or not all(type(offset) is int and offset >= 0 for offset in offsets):
        raise InteropError(f"{where}: data_offsets are {offsets!r:.80}, expected [begin, end]")
    checked = check_shape(name, shape)
    size = ELEMENTS[dtype].itemsize
    for extent in checked:
        size *= extent
    if offsets[1] - offsets[0] != size:
        raise InteropError(f"{where}: {dtype} of shape {shape!r:.80} takes {size} bytes, not data_offsets {offsets}")
    return file_tensor(path, name, dtype, start + offsets[0], checked)
