"""Entropy coding of codes: zlib writes the streams that the reader decodes."""

import zlib
from typing import Final

import numpy as np

from pocketmt.model_file.matrices.bit_packing import pack_codes, unpack_codes
from pocketmt.model_file.matrices.entropy_coding import MAXIMUM_EXPANSION, RAW_DEFLATE, coded_name
from pocketmt.model_file.matrices.packed_bits import stream_bits
from pocketmt.model_file.matrices.row_groups import StoredRowGroup
from pocketmt.model_file.writer import StoredTensor

HIGHEST_LEVEL: Final = 9
LARGEST_BLOCKS: Final = 9  # zlib's memory level; each block has its own code, which costs bytes
# Codes hardly repeat, so that coding repetitions may cost more than it gains: both ways are tried.
STRATEGIES: Final = (zlib.Z_DEFAULT_STRATEGY, zlib.Z_HUFFMAN_ONLY)


def entropy_code(name: str, tensor: StoredTensor, group: StoredRowGroup) -> tuple[str, StoredTensor]:
    """Entropy-code a code tensor if that makes it smaller; returns its name in the file and the tensor.

    The given name is the one without entropy coding; the tensor holds codes as the stored form of the group packs them.
    """
    content = tensor.data
    if not group.form.streams_unchanged:
        packed = np.frombuffer(content, dtype=np.uint8).reshape(tensor.shape)
        codes = group.form.codes_of_weights(unpack_codes(packed, group.columns, group.form.packed_bits))
        content = pack_codes(codes, stream_bits(group.form.bits)).tobytes()
    stream = min((_deflate(content, strategy) for strategy in STRATEGIES), key=len)
    # A reader refuses streams that expand too much.
    if len(stream) >= len(tensor.data) or len(content) > MAXIMUM_EXPANSION * len(stream):
        return name, tensor
    return coded_name(name), StoredTensor("U8", (len(stream),), stream)


def _deflate(content: bytes, strategy: int) -> bytes:
    deflater = zlib.compressobj(HIGHEST_LEVEL, zlib.DEFLATED, RAW_DEFLATE, LARGEST_BLOCKS, strategy)
    return deflater.compress(content) + deflater.flush()
