"""Writing the container: header, tensors and padding as a stream, a tensor or a part of one at a time."""

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO, Final

from pocketmt.errors import ModelFileError
from pocketmt.model_file.container.header import ALIGNMENT, DIGEST_CHARACTERS, ELEMENT_BYTES, LENGTH_BYTES

NO_DIGEST: Final = "0" * DIGEST_CHARACTERS


@dataclass(frozen=True, slots=True)
class StoredTensor:
    """A tensor of the file: dtype ("F32", "BF16", "I8", "U8"), shape, little-endian row-major bytes."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes

    @property
    def size(self) -> int:
        """Bytes of the tensor."""
        return len(self.data)

    def blocks(self) -> Iterator[bytes]:
        """Yield the bytes."""
        yield self.data


@dataclass(frozen=True, slots=True)
class StreamedTensor:
    """A tensor that is read only when it is written, block by block, so that it never has to fit into memory.

    Attributes:
        dtype, shape: as in `StoredTensor`.
        read: returns the blocks, little-endian row-major bytes that have the size of dtype and shape together.
    """

    dtype: str
    shape: tuple[int, ...]
    read: Callable[[], Iterable[bytes | memoryview]]

    @property
    def size(self) -> int:
        """Bytes of the tensor."""
        return math.prod(self.shape) * ELEMENT_BYTES[self.dtype]

    def blocks(self) -> Iterator[bytes | memoryview]:
        """Yield the blocks."""
        yield from self.read()


FileTensor = StoredTensor | StreamedTensor


def write_container(stream: BinaryIO, manifest: Mapping[str, object], tensors: Mapping[str, FileTensor]) -> None:
    """Write a file, with its digest, from the beginning of a seekable stream.

    Raises:
        ModelFileError: a streamed tensor has another size than its dtype and shape say.
    """
    entries, gaps = _layout(tensors)
    text = _compact(manifest)
    header = _header(text, NO_DIGEST, entries)
    state = hashlib.sha256(header)
    stream.write(header)
    for (name, tensor), gap in zip(tensors.items(), gaps, strict=True):
        written = 0
        for block in tensor.blocks():
            state.update(block)
            written += stream.write(block)
        if written != tensor.size:
            raise ModelFileError(f"tensor {name!r} gave {written} bytes, its shape has {tensor.size}")
        state.update(bytes(gap))
        stream.write(bytes(gap))
    end = stream.tell()
    stream.seek(0)
    stream.write(_header(text, state.hexdigest(), entries))
    stream.seek(end)


def _layout(tensors: Mapping[str, FileTensor]) -> tuple[dict[str, object], list[int]]:
    """Return the header's entries, and the bytes of padding after each tensor."""
    entries: dict[str, object] = {}
    gaps: list[int] = []
    offset = 0
    for index, (name, tensor) in enumerate(tensors.items()):
        entries[name] = _entry(tensor.dtype, tensor.shape, offset, tensor.size)
        offset += tensor.size
        gap = -offset % ALIGNMENT if index < len(tensors) - 1 else 0
        if gap:
            entries[f"padding.{index}"] = _entry("U8", (gap,), offset, gap)
            offset += gap
        gaps.append(gap)
    return entries, gaps


def _header(manifest: str, digest: str, entries: Mapping[str, object]) -> bytes:
    header = _compact({"__metadata__": {"pocketmt": manifest, "digest": digest}, **entries}).encode()
    header += b" " * (-(LENGTH_BYTES + len(header)) % ALIGNMENT)
    return len(header).to_bytes(LENGTH_BYTES, "little") + header


def _entry(dtype: str, shape: tuple[int, ...], offset: int, size: int) -> dict[str, object]:
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [offset, offset + size]}


def _compact(value: object) -> str:
    """Return JSON without spaces, as the header is part of the size of the file."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
