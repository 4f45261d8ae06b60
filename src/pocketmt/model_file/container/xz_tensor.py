"""Tensors that are one xz stream of a size that the manifest states: vocabulary and shortlist."""

import lzma
from typing import Final

from pocketmt.errors import ModelFileError

ENCODING: Final = "xz"  # in the manifest's entry of such a tensor
# The decoder keeps its window in memory: it is no larger than the content needs, and bounded when reading.
DECODER_MEMORY_LIMIT: Final = 96 << 20  # bytes
SMALLEST_WINDOW: Final = 1 << 12
LARGEST_WINDOW: Final = 64 << 20


def check_encoding(value: object, where: str) -> None:
    """Raise ModelFileError, beginning with `where`, unless a manifest's entry names the encoding of such tensors."""
    if value != ENCODING:
        raise ModelFileError(f"{where}: encoding is {value!r:.40}, expected {ENCODING!r}")


def compress(content: bytes, largest_window: int = LARGEST_WINDOW) -> bytes:
    """Compress at least one byte, finding repetitions within a window; the same bytes give the same result."""
    window = min(max(SMALLEST_WINDOW, 1 << (len(content) - 1).bit_length()), largest_window)
    # pb 0: numbers and text are not aligned
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": window, "pb": 0}]
    return lzma.compress(content, format=lzma.FORMAT_XZ, check=lzma.CHECK_CRC32, filters=filters)


def decompress(name: str, compressed: bytes | memoryview, size: int) -> bytes:
    """Decompress a tensor of exactly `size` bytes; allocates no more than that and the decoder's bounded window.

    Raises:
        ModelFileError: naming the tensor, if it is not one xz stream of that size.
    """
    decompressor = lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=DECODER_MEMORY_LIMIT)
    try:
        content = decompressor.decompress(compressed, max_length=size + 1)
    except lzma.LZMAError as error:
        raise ModelFileError(f"tensor {name!r} is not an xz stream: {error}") from error
    if len(content) != size or not decompressor.eof or decompressor.unused_data:
        raise ModelFileError(f"tensor {name!r} does not hold exactly the {size} bytes that the manifest states")
    return content
