"""The container: a safetensors file whose tensors all start on 64-byte boundaries, without holes or overlap."""

import math
from typing import Final, NamedTuple

from pocketmt.errors import ModelFileError
from pocketmt.lazy_pattern import lazy_pattern
from pocketmt.model_file.container.strict_json import parse_object

ALIGNMENT: Final = 64  # bytes; a cache line, and the widest vector load
LENGTH_BYTES: Final = 8  # of the header's length, little-endian, at the start of the file
DIGEST_CHARACTERS: Final = 64  # a SHA-256 in hexadecimal
MAXIMUM_HEADER: Final = 4 << 20  # bytes
MAXIMUM_EXTENT: Final = 1 << 32  # of one dimension
ELEMENT_BYTES: Final = {"F32": 4, "BF16": 2, "I8": 1, "U8": 1}
PADDING_NAME: Final = lazy_pattern(r"padding\.(0|[1-9][0-9]{0,9})")


class TensorEntry(NamedTuple):
    """A tensor in the file: dtype ("F32", "BF16", "I8", "U8"), shape, offset and size in bytes."""

    dtype: str
    shape: tuple[int, ...]
    offset: int
    size: int


class Header(NamedTuple):
    """A checked header: metadata, tensors in file order without padding, and the offset of the data in bytes."""

    metadata: dict[str, str]
    tensors: dict[str, TensorEntry]
    data_start: int


def header_bytes(buffer: memoryview) -> memoryview:
    """Return the JSON header of a whole file, after checking its length; raises ModelFileError."""
    if len(buffer) < LENGTH_BYTES:
        raise ModelFileError(f"only {len(buffer)} bytes long: not a model file, or cut off")
    length = int.from_bytes(buffer[:LENGTH_BYTES], "little")
    if length > MAXIMUM_HEADER:
        raise ModelFileError(f"not a model file: its header would have {length} bytes, and may have {MAXIMUM_HEADER}")
    if length > len(buffer) - LENGTH_BYTES:
        raise ModelFileError(f"the header claims {length} bytes, {len(buffer) - LENGTH_BYTES} are there: cut off")
    if (LENGTH_BYTES + length) % ALIGNMENT:
        raise ModelFileError(f"the header's {length} bytes do not end on a {ALIGNMENT}-byte boundary: not a model file")
    return buffer[LENGTH_BYTES : LENGTH_BYTES + length]


def parse_header(raw: memoryview, file_size: int) -> Header:
    """Check every entry of a header against the size of the file; raises ModelFileError naming the entry.

    Args:
        raw: the JSON header, as `header_bytes` returns it.
        file_size: of the whole file, in bytes.
    """
    entries = parse_object(bytes(raw), "the header")
    metadata = _metadata(entries.pop("__metadata__", None))
    data_start = LENGTH_BYTES + len(raw)
    located = [(name, _entry(name, entry, data_start, file_size)) for name, entry in entries.items()]
    located.sort(key=lambda item: item[1].offset)
    end = data_start
    for name, tensor in located:
        if tensor.offset != end:
            fault = "overlaps the tensor before it" if tensor.offset < end else "leaves a hole before it"
            raise ModelFileError(f"tensor {name!r:.120} at byte {tensor.offset} {fault}, which ends at byte {end}")
        end = tensor.offset + tensor.size
        _check_alignment(name, tensor)
    if end != file_size:
        raise ModelFileError(f"the tensors end at byte {end}, the file at byte {file_size}: cut off or appended to")
    return Header(metadata, {name: tensor for name, tensor in located if not is_padding(name)}, data_start)


def is_padding(name: str) -> bool:
    """Return whether a tensor of this name only fills the gap up to the next boundary."""
    return PADDING_NAME.fullmatch(name) is not None


def _metadata(value: object) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(member, str) for member in value.values()):
        raise ModelFileError("the header has no __metadata__ object of strings: safetensors, but not a model file")
    return value


def _entry(name: str, value: object, data_start: int, file_size: int) -> TensorEntry:
    where = f"tensor {name!r:.120}"
    if not isinstance(value, dict) or set(value) != {"dtype", "shape", "data_offsets"}:
        raise ModelFileError(f"{where}: expected exactly dtype, shape and data_offsets")
    dtype, shape, offsets = value["dtype"], value["shape"], value["data_offsets"]
    if not isinstance(dtype, str) or dtype not in ELEMENT_BYTES:
        raise ModelFileError(f"{where}: dtype is {dtype!r:.80}, expected one of {', '.join(ELEMENT_BYTES)}")
    if not _whole_numbers(shape, 1, MAXIMUM_EXTENT) or not 1 <= len(shape) <= 4:
        raise ModelFileError(f"{where}: shape is {shape!r:.80}, expected 1 to 4 whole numbers of at least 1")
    limit = file_size - data_start
    if not _whole_numbers(offsets, 0, limit) or len(offsets) != 2 or offsets[0] > offsets[1]:
        raise ModelFileError(f"{where}: data_offsets are {offsets!r:.80}, expected [begin, end] within 0 and {limit}")
    size = math.prod(shape) * ELEMENT_BYTES[dtype]
    if size != offsets[1] - offsets[0]:
        raise ModelFileError(
            f"{where}: {dtype} of shape {shape} takes {size} bytes, its data_offsets hold {offsets[1] - offsets[0]}"
        )
    return TensorEntry(dtype, tuple(shape), data_start + offsets[0], size)


def _whole_numbers(value: object, lowest: int, highest: int) -> bool:
    """Return whether `value` is a list of whole numbers in range; a JSON boolean is not a number."""
    return isinstance(value, list) and all(type(member) is int and lowest <= member <= highest for member in value)


def _check_alignment(name: str, tensor: TensorEntry) -> None:
    if is_padding(name):
        fills = tensor.dtype == "U8" and len(tensor.shape) == 1 and tensor.size < ALIGNMENT
        if not fills or (tensor.offset + tensor.size) % ALIGNMENT:
            raise ModelFileError(f"{name}: padding is fewer than {ALIGNMENT} bytes of U8 that end on a boundary")
    elif tensor.offset % ALIGNMENT:
        raise ModelFileError(f"tensor {name!r:.120} starts at byte {tensor.offset}, not a multiple of {ALIGNMENT}")
