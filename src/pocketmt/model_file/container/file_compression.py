"""A whole model file as one xz stream, which shortens the header: it is repetitive, and a large part of a small file.

Entropy-coded codes keep their size.
"""

import lzma
from typing import Final

from pocketmt.errors import ModelFileError
from pocketmt.model_file.container import xz_tensor

MAGIC: Final = b"\xfd7zXZ\x00"  # start of every xz stream; as a header's length it would be 28 TB
# A stream must not expand more than this, so that a small file cannot ask for any memory it likes.
MAXIMUM_EXPANSION: Final = 32
# Larger files gain less than 1 %, and mapping them takes less memory.
LARGEST: Final = 8 << 20  # bytes
# A stream must save this share of the file: decompression takes 20 ms for each megabyte, at every load.
LEAST_GAIN: Final = 1 / 32
_WINDOW: Final = 1 << 16  # bytes; repetitions are near each other
_AT_ONCE: Final = 1 << 16  # bytes of the stream and of its content


def is_compressed(file: memoryview) -> bool:
    """Return whether a file is an xz stream."""
    return bytes(file[: len(MAGIC)]) == MAGIC


def compress(content: bytes) -> bytes:
    """Return the xz stream of a model file, or the file itself if it is large or the stream saves too little.

    The same bytes give the same result.
    """
    if len(content) > LARGEST:
        return content
    stream = xz_tensor.compress(content, _WINDOW)
    pays = len(stream) <= (1 - LEAST_GAIN) * len(content)
    return stream if pays and len(content) <= MAXIMUM_EXPANSION * len(stream) else content


def decompress(stream: memoryview) -> memoryview:
    """Return the model file in a stream, read-only.

    Raises:
        ModelFileError: it is not one whole xz stream, or expands too much.
    """
    decompressor = lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=xz_tensor.DECODER_MEMORY_LIMIT)
    content = bytearray()
    read = 0
    while not decompressor.eof:
        piece = bytes(stream[read : read + _AT_ONCE]) if decompressor.needs_input else b""
        if decompressor.needs_input and not piece:
            raise ModelFileError("the xz stream has no end: cut off")
        read += len(piece)
        try:
            content += decompressor.decompress(piece, max_length=_AT_ONCE)
        except lzma.LZMAError as error:
            raise ModelFileError(f"the xz stream is damaged: {error}") from error
        if len(content) > MAXIMUM_EXPANSION * len(stream):
            raise ModelFileError(
                f"the xz stream expands to more than {MAXIMUM_EXPANSION} times its {len(stream)} bytes"
            )
    if decompressor.unused_data or read < len(stream):
        raise ModelFileError("there are bytes after the end of the xz stream")
    return memoryview(content).toreadonly()
