"""Codes of one to eight bits, packed into bytes as the model file holds them.

The packing is little-endian in bits: code j of a row occupies bits j * bits .. (j + 1) * bits - 1 of the row's bytes,
and bit 0 is the least significant bit of byte 0. A row starts on a byte; unused bits of its last byte are 0.
"""

import numpy as np
from numpy.typing import NDArray

from pocketmt.model_file.matrices.packed_bits import BYTE_BITS


def pack_codes(codes: NDArray[np.uint8], bits: int) -> NDArray[np.uint8]:
    """Pack codes of 1 to 8 bits.

    Args:
        codes: uint8 [.., columns], each below 2^bits.
        bits: of one code.

    Returns:
        uint8 [.., ceil(columns * bits / 8)].
    """
    if codes.size and int(codes.max()) >> bits:
        raise ValueError(f"the code {int(codes.max())} does not fit in {bits} bits")
    if bits == BYTE_BITS:
        return codes
    separate = codes[..., None] >> np.arange(bits, dtype=np.uint8) & 1
    return np.packbits(separate.reshape(*codes.shape[:-1], codes.shape[-1] * bits), axis=-1, bitorder="little")


def unpack_codes(packed: NDArray[np.uint8], columns: int, bits: int) -> NDArray[np.uint8]:
    """Undo `pack_codes`: uint8 [.., ceil(columns * bits / 8)] -> uint8 [.., columns]."""
    if bits == BYTE_BITS:
        return packed
    separate = np.unpackbits(packed, axis=-1, count=columns * bits, bitorder="little")
    separate = separate.reshape(*packed.shape[:-1], columns, bits)
    codes: NDArray[np.uint8] = (separate << np.arange(bits, dtype=np.uint8)).sum(axis=-1, dtype=np.uint8)
    return codes
