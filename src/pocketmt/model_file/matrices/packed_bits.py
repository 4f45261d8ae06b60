"""Packed codes without NumPy, which the runtime does not have; `bit_packing` describes the packing."""

from collections.abc import Iterable
from functools import cache
from typing import Final

BYTE_BITS: Final = 8
STREAM_BITS: Final = (1, 2, 4, 8)


def packed_bytes(columns: int, bits: int) -> int:
    """Return the bytes of a row of packed codes."""
    return -(-columns * bits // BYTE_BITS)


def stream_bits(bits: int) -> int:
    """Return the bits of a code in an entropy-coded stream: the fewest of 1, 2, 4 and 8 that hold it."""
    return next(width for width in STREAM_BITS if bits <= width)


def unpack_indices(packed: bytes, count: int, bits: int) -> bytes:
    """Undo `pack_codes` for one row of 1, 2, 4 or 8 bits: one byte for each code."""
    indices = bytearray(len(packed) * BYTE_BITS // bits)
    for position in range(BYTE_BITS // bits):
        digit = bytes(byte >> position * bits & (1 << bits) - 1 for byte in range(256))
        indices[position :: BYTE_BITS // bits] = packed.translate(digit)
    return bytes(indices[:count])


def unused_bits(packed: memoryview, row_bytes: int, columns: int, bits: int) -> bool:
    """Return whether any bit after the last code of a row is set.

    Args:
        packed: all rows, one after the other.
        row_bytes: of one row.
        columns: codes of a row.
        bits: of one code.
    """
    used = columns * bits - (row_bytes - 1) * BYTE_BITS
    return used < BYTE_BITS and max(bytes(packed[row_bytes - 1 :: row_bytes])) >> used > 0


def split_lanes(codes: bytes) -> list[bytes]:
    """Split codes, one byte each, into eight lanes: lane i holds code i of every block of eight."""
    return [codes[position::BYTE_BITS] for position in range(BYTE_BITS)]


def pack_lanes(lanes: list[bytes], bits: int, columns: int) -> bytes:
    """Pack codes in lanes, whose rows are whole blocks of eight, as `pack_codes` does.

    Eight codes take `bits` bytes. Each of these bytes is computed from the codes with bits in it.
    """
    packed = bytearray(len(lanes[0]) * bits)
    for byte in range(bits):
        shifts = [position * bits - byte * BYTE_BITS for position in range(BYTE_BITS)]
        packed[byte::bits] = _joined(
            (lane, _shift_table(shift)) for lane, shift in zip(lanes, shifts, strict=True) if -bits < shift < BYTE_BITS
        )
    whole, used = packed_bytes(columns, 1) * bits, packed_bytes(columns, bits)
    if whole == used:
        return bytes(packed)
    return b"".join(packed[begin : begin + used] for begin in range(0, len(packed), whole))


def pack_planes(lanes: list[bytes], bits: int, columns: int) -> bytes:
    """Pack codes in lanes as bit planes [rows, bits, bytes]: each byte of a plane holds one bit of eight codes."""
    blocks = packed_bytes(columns, 1)
    planes = bytearray(len(lanes[0]) * bits)
    for bit in range(bits):
        plane = _joined((lane, _bit_table(bit, position)) for position, lane in enumerate(lanes))
        for block in range(blocks):
            planes[bit * blocks + block :: bits * blocks] = plane[block::blocks]
    return bytes(planes)


def _joined(parts: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Translate byte strings of one length, each by its table, and return their bitwise or."""
    number, size = 0, 0
    for lane, table in parts:
        number |= int.from_bytes(lane.translate(table), "little")
        size = len(lane)
    return number.to_bytes(size, "little")


@cache
def _shift_table(shift: int) -> bytes:
    """Return the byte that holds part of each code, if bit 0 of the code is at bit `shift` of that byte."""
    return bytes((code << shift if shift >= 0 else code >> -shift) & 0xFF for code in range(256))


@cache
def _bit_table(bit: int, position: int) -> bytes:
    """Return one bit of each code, at `position` of a byte."""
    return bytes((code >> bit & 1) << position for code in range(256))
