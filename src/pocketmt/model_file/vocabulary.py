"""The SentencePiece model inside the model file: xz, decompressed within the size that the manifest states."""

import lzma
from typing import Final

from pocketmt.errors import ModelFileError

# Many readers keep the decoder's window in memory: no larger than the vocabulary needs, and bounded when reading.
DECODER_MEMORY_LIMIT: Final = 96 << 20  # bytes
SMALLEST_WINDOW: Final = 1 << 12


def compress_vocabulary(model: bytes) -> bytes:
    """Compress a serialized SentencePiece model; the same bytes give the same result."""
    window = min(max(SMALLEST_WINDOW, 1 << (len(model) - 1).bit_length()), 64 << 20)
    # pb 0: pieces and their scores are text and unaligned bytes
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": window, "pb": 0}]
    return lzma.compress(model, format=lzma.FORMAT_XZ, check=lzma.CHECK_CRC32, filters=filters)


def decompress_vocabulary(compressed: bytes | memoryview, size: int) -> bytes:
    """Decompress a vocabulary of exactly `size` bytes; never allocates more than that and the decoder's bounded window.

    Raises:
        ModelFileError: where it is not one xz stream of that size.
    """
    decompressor = lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=DECODER_MEMORY_LIMIT)
    try:
        model = decompressor.decompress(compressed, max_length=size + 1)
    except lzma.LZMAError as error:
        raise ModelFileError(f"tensor 'vocabulary' is not an xz stream: {error}") from error
    if len(model) != size or not decompressor.eof or decompressor.unused_data:
        raise ModelFileError(f"tensor 'vocabulary' does not hold exactly the {size} bytes that the manifest states")
    return model
