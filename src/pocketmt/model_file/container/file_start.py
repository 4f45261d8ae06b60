"""The first bytes of a file, which tell a model file from others without reading all of it."""

import lzma
from pathlib import Path
from typing import Final

from pocketmt.model_file.container import xz_tensor
from pocketmt.model_file.container.file_compression import MAGIC
from pocketmt.model_file.container.header import ALIGNMENT, LENGTH_BYTES, MAXIMUM_HEADER

_MANIFEST: Final = b'"pocketmt"'  # its key in the header; other safetensors files have none
_READ: Final = 1 << 16  # bytes; the start of an xz stream


def begins_as_model_file(path: Path) -> bool:
    """Return whether a file begins as a model file does. A damaged one may begin so, too."""
    try:
        with path.open("rb") as stream:
            start = stream.read(_READ)
    except PermissionError:  # It may be anything.
        return False
    if start.startswith(MAGIC):
        try:
            decompressor = lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=xz_tensor.DECODER_MEMORY_LIMIT)
            start = decompressor.decompress(start, max_length=_READ)
        except lzma.LZMAError:
            return False
    length = int.from_bytes(start[:LENGTH_BYTES], "little")
    aligned = length <= MAXIMUM_HEADER and (LENGTH_BYTES + length) % ALIGNMENT == 0
    return aligned and _MANIFEST in start[LENGTH_BYTES : LENGTH_BYTES + length]
