"""What a reader looks at in packed codes (bit_packing.py), without NumPy, which the runtime does not have."""

from typing import Final

BYTE_BITS: Final = 8


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
