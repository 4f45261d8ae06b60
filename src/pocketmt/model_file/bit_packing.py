"""Codes of fewer than eight bits, packed into bytes as the model file holds them.

Little-endian in bits: code j of a row occupies bits j * bits .. (j + 1) * bits - 1 of the row's bytes, bit 0 being the
least significant of byte 0. A row starts on a byte; what is left of its last byte is 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:  # reading and inspecting a model file needs no NumPy
    import numpy as np
    from numpy.typing import NDArray

BYTE_BITS: Final = 8


def pack_codes(codes: NDArray[np.uint8], bits: int) -> NDArray[np.uint8]:
    """Pack codes of 1 to 8 bits.

    Args:
        codes: uint8 [.., columns], each below 2^bits.
        bits: of one code.

    Returns:
        uint8 [.., ceil(columns * bits / 8)].
    """
    import numpy as np

    if codes.size and int(codes.max()) >> bits:
        raise ValueError(f"the code {int(codes.max())} does not fit in {bits} bits")
    if bits == BYTE_BITS:
        return codes
    separate = codes[..., None] >> np.arange(bits, dtype=np.uint8) & 1
    return np.packbits(separate.reshape(*codes.shape[:-1], codes.shape[-1] * bits), axis=-1, bitorder="little")


def unpack_codes(packed: NDArray[np.uint8], columns: int, bits: int) -> NDArray[np.uint8]:
    """Undo `pack_codes`: uint8 [.., ceil(columns * bits / 8)] -> uint8 [.., columns]."""
    import numpy as np

    if bits == BYTE_BITS:
        return packed
    separate = np.unpackbits(packed, axis=-1, count=columns * bits, bitorder="little")
    separate = separate.reshape(*packed.shape[:-1], columns, bits)
    codes: NDArray[np.uint8] = (separate << np.arange(bits, dtype=np.uint8)).sum(axis=-1, dtype=np.uint8)
    return codes


def unpack_indices(packed: bytes, count: int, bits: int) -> bytes:
    """Undo `pack_codes` for one row of 1, 2 or 4 bits, without NumPy: one byte a code."""
    indices = bytearray(len(packed) * BYTE_BITS // bits)
    for position in range(BYTE_BITS // bits):
        digit = bytes(byte >> position * bits & (1 << bits) - 1 for byte in range(256))
        indices[position :: BYTE_BITS // bits] = packed.translate(digit)
    return bytes(indices[:count])


def unused_bits(packed: memoryview, row_bytes: int, columns: int, bits: int) -> bool:
    """Whether a bit after the last code of some row is set.

    Args:
        packed: all rows, one after the other.
        row_bytes: of one row.
        columns: codes of a row.
        bits: of one code.
    """
    used = columns * bits - (row_bytes - 1) * BYTE_BITS
    return max(bytes(packed[row_bytes - 1 :: row_bytes])) >> used > 0
