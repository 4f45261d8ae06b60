"""A whole model file as one xz stream: its header repeats itself, and is no small part of a small file.

Codes that are entropy-coded already come through at their size, and the reader has no more work than to read on.
"""

import lzma
from typing import Final

from pocketmt.errors import ModelFileError
from pocketmt.model_file import xz

MAGIC: Final = b"\xfd7zXZ\x00"  # how every xz stream begins; a header's length would be 28 TB
# A stream expands at most so much: a small file must not ask for any memory it likes.
MAXIMUM_EXPANSION: Final = 32
# Larger files gain less than a hundredth, and are better mapped than held in memory beside the weights.
LARGEST: Final = 8 << 20  # bytes
_WINDOW: Final = 1 << 16  # bytes: what repeats itself lies near
_AT_ONCE: Final = 1 << 16  # bytes of the stream, and of what it holds


def is_compressed(file: memoryview) -> bool:
    """Whether a file is an xz stream."""
    return bytes(file[: len(MAGIC)]) == MAGIC


def compress(content: bytes) -> bytes:
    """Return the shorter of a model file of at most `LARGEST` bytes and its xz stream; of a larger one the file.

    The same bytes give the same result.
    """
    if len(content) > LARGEST:
        return content
    stream = xz.compress(content, _WINDOW)
    return stream if len(stream) < len(content) <= MAXIMUM_EXPANSION * len(stream) else content


def decompress(stream: memoryview) -> memoryview:
    """Return the model file that a stream holds, read-only.

    Raises:
        ModelFileError: where it is not one whole xz stream, or expands too much.
    """
    decompressor = lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=xz.DECODER_MEMORY_LIMIT)
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
