"""Entropy coding of the codes of a model file: zlib writes the streams that the reader decodes."""

import zlib
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pocketmt.model_file.bit_packing import pack_codes, unpack_codes
from pocketmt.model_file.entropy_coding import (
    CODED,
    MAXIMUM_EXPANSION,
    RAW_DEFLATE,
    coded_name,
    is_stored_form,
    stream_bits,
)
from pocketmt.model_file.layout import RowGroup
from pocketmt.model_file.writer import StoredTensor

HIGHEST_LEVEL: Final = 9
LARGEST_BLOCKS: Final = 9  # zlib's memory level: each block has a code of its own, which must be paid for
# Codes hardly repeat, so that looking for repetitions may cost more than it gains: both ways are tried.
STRATEGIES: Final = (zlib.Z_DEFAULT_STRATEGY, zlib.Z_HUFFMAN_ONLY)


def code_tensors(
    tensors: Mapping[str, StoredTensor], matrices: Mapping[str, Sequence[RowGroup]]
) -> dict[str, StoredTensor]:
    """Code the codes of all row groups, where that makes them smaller; the order of tensors stays.

    Args:
        tensors: of a model file.
        matrices: its quantized matrices -> their row groups.
    """
    groups = {f"{name}.{index}": group for name, each in matrices.items() for index, group in enumerate(each)}
    coded = {}
    for name, tensor in tensors.items():
        prefix, _, suffix = name.rpartition(".")
        stream = _encode(tensor, groups[prefix], suffix) if prefix in groups and suffix in CODED else tensor.data
        if len(stream) < len(tensor.data):
            coded[coded_name(name)] = StoredTensor("U8", (len(stream),), stream)
        else:
            coded[name] = tensor
    return coded


def _encode(tensor: StoredTensor, group: RowGroup, suffix: str) -> bytes:
    """Return the shortest stream, or the tensor's bytes where a reader would refuse a stream so short."""
    content = tensor.data
    if not is_stored_form(group, suffix):
        content = pack_codes(_codes(tensor, group, suffix), stream_bits(group.bits)).tobytes()
    stream = min((_deflate(content, strategy) for strategy in STRATEGIES), key=len)
    return stream if len(content) <= MAXIMUM_EXPANSION * len(stream) else tensor.data


def _codes(tensor: StoredTensor, group: RowGroup, suffix: str) -> NDArray[np.uint8]:
    """Return a code a weight, uint8 [rows, columns]."""
    stored = np.frombuffer(tensor.data, dtype=np.uint8).reshape(tensor.shape)
    if suffix == "codes":
        return unpack_codes(stored, group.columns, group.bits)
    planes = unpack_codes(stored, group.columns, 1)
    shifts = np.arange(group.bits, dtype=np.uint8)[:, None]
    codes: NDArray[np.uint8] = (planes << shifts).sum(axis=1, dtype=np.uint8)
    return codes


def _deflate(content: bytes, strategy: int) -> bytes:
    deflater = zlib.compressobj(HIGHEST_LEVEL, zlib.DEFLATED, RAW_DEFLATE, LARGEST_BLOCKS, strategy)
    return deflater.compress(content) + deflater.flush()
