"""Entropy-coded codes: one raw deflate stream a tensor, decoded within the size that its row group states.

In the stream each code takes as many bits as divide a byte (`stream_bits`), so that deflate's symbols, bytes, are whole
codes: across byte boundaries it sees nothing. Bit i of a code of a `binary` group is the weight's bit of plane i.
"""

import math
import mmap
import zlib
from collections.abc import Iterable
from functools import cache
from typing import Final

from pocketmt.errors import ModelFileError
from pocketmt.model_file.layout import RowGroup, packed_bytes
from pocketmt.model_file.packed_bits import BYTE_BITS, unpack_indices, unused_bits

CODING: Final = "deflate"  # in the manifest, and at the end of a coded tensor's name
CODED: Final = ("codes", "planes")  # parameters are too few to be worth it
# A stream expands at most so much: a small file must not ask for any memory it likes. Deflate itself would reach 1032.
MAXIMUM_EXPANSION: Final = 32
RAW_DEFLATE: Final = -zlib.MAX_WBITS
_READ_AT_ONCE: Final = 1 << 16  # bytes of the stream
_DECODED_AT_ONCE: Final = 1 << 19  # codes; what is kept beside the decoded tensor is a few times that


def coded_name(name: str) -> str:
    """Return the name that a tensor has in the file where it is coded."""
    return f"{name}.{CODING}"


def stream_bits(bits: int) -> int:
    """Return the bits of a code in a stream: the fewest of 1, 2, 4 and 8 that hold it."""
    return next(width for width in (1, 2, 4, 8) if bits <= width)


def is_stored_form(group: RowGroup, suffix: str) -> bool:
    """Whether a stream holds the bytes of the tensor as they are."""
    return suffix == "codes" and stream_bits(group.bits) == group.bits


def decode(name: str, stream: memoryview, group: RowGroup, suffix: str) -> memoryview:
    """Decode a tensor of codes; allocates its stated size and a few MiB, whatever the stream holds.

    Args:
        name: of the coded tensor, for messages.
        stream: its bytes.
        group: the row group.
        suffix: "codes" or "planes".

    Returns:
        The bytes of the tensor, in dtype and shape of the group's layout.

    Raises:
        ModelFileError: where the stream is damaged, of another size, expands too much or holds no such codes.
    """
    width = stream_bits(group.bits)
    row_bytes = packed_bytes(group.columns, width)
    if group.rows * row_bytes > MAXIMUM_EXPANSION * len(stream):
        raise ModelFileError(
            f"tensor {name!r} states {group.rows * row_bytes} bytes in {len(stream)}, "
            f"more than {MAXIMUM_EXPANSION} times as many"
        )
    # Pages of its own go back to the system with it; the heap would keep those of the largest matrix.
    decoded = memoryview(mmap.mmap(-1, math.prod(group.tensors()[suffix][1])))
    source = _Stream(name, stream)
    step = max(1, _DECODED_AT_ONCE // group.columns)
    row_size = len(decoded) // group.rows
    for first in range(0, group.rows, step):
        rows = min(step, group.rows - first)
        piece = source.read(rows * row_bytes)
        if not is_stored_form(group, suffix):
            piece = _restore(name, piece, group, suffix)
        decoded[first * row_size : (first + rows) * row_size] = piece
    source.check_end()
    return decoded.toreadonly()


class _Stream:
    """Reads a raw deflate stream by pieces."""

    def __init__(self, name: str, stream: memoryview) -> None:
        self._name = name
        self._rest = stream
        self._pending = b""
        self._inflater = zlib.decompressobj(RAW_DEFLATE)

    def read(self, count: int) -> bytes:
        """Return the next `count` bytes, at least 1; raises ModelFileError where there are fewer."""
        pieces = []
        while count:
            piece = self._inflate(count)
            if not piece and not self._more():
                raise ModelFileError(f"tensor {self._name!r} decodes to fewer bytes than its row group states")
            pieces.append(piece)
            count -= len(piece)
        return b"".join(pieces)

    def check_end(self) -> None:
        """Raise ModelFileError unless all bytes were read, and the stream ends where the tensor does."""
        while not self._inflater.eof:
            if self._inflate(1):
                raise ModelFileError(f"tensor {self._name!r} decodes to more bytes than its row group states")
            if not self._inflater.eof and not self._more():
                raise ModelFileError(f"tensor {self._name!r} is a stream without an end")
        if self._inflater.unused_data or self._rest:
            raise ModelFileError(f"tensor {self._name!r} holds bytes after the end of its stream")

    def _more(self) -> bool:
        return not self._inflater.eof and bool(self._pending or self._rest)

    def _inflate(self, limit: int) -> bytes:
        if not self._pending:
            self._pending = bytes(self._rest[:_READ_AT_ONCE])
            self._rest = self._rest[_READ_AT_ONCE:]
        try:
            piece = self._inflater.decompress(self._pending, limit)
        except zlib.error as error:
            raise ModelFileError(f"tensor {self._name!r} is not a deflate stream: {error}") from error
        self._pending = self._inflater.unconsumed_tail
        return piece


def _restore(name: str, stream: bytes, group: RowGroup, suffix: str) -> bytes:
    """From rows of codes as a stream holds them to rows of the tensor."""
    width = stream_bits(group.bits)
    row_bytes = packed_bytes(group.columns, width)
    blocks = packed_bytes(group.columns, 1)  # of eight codes, each row
    if unused_bits(memoryview(stream), row_bytes, group.columns, width):
        raise ModelFileError(f"tensor {name!r} has bits that are not 0 after the last code of a row")
    if gap := bytes(blocks * width - row_bytes):
        stream = b"".join(stream[begin : begin + row_bytes] + gap for begin in range(0, len(stream), row_bytes))
    codes = unpack_indices(stream, len(stream) * BYTE_BITS // width, width)
    if max(codes) >> group.bits:
        raise ModelFileError(f"tensor {name!r} holds a code of more than {group.bits} bits")
    lanes = [codes[position::BYTE_BITS] for position in range(BYTE_BITS)]
    return _planes(lanes, group.bits, blocks) if suffix == "planes" else _packed(lanes, group, blocks)


def _packed(lanes: list[bytes], group: RowGroup, blocks: int) -> bytes:
    """Eight codes of `bits` bits are `bits` bytes: byte by byte, from the codes that have a bit there."""
    bits = group.bits
    packed = bytearray(len(lanes[0]) * bits)
    for byte in range(bits):
        shifts = [position * bits - byte * BYTE_BITS for position in range(BYTE_BITS)]
        packed[byte::bits] = _joined(
            (lane, _shift_table(shift)) for lane, shift in zip(lanes, shifts, strict=True) if -bits < shift < BYTE_BITS
        )
    whole, used = blocks * bits, packed_bytes(group.columns, bits)
    if whole == used:
        return bytes(packed)
    return b"".join(packed[begin : begin + used] for begin in range(0, len(packed), whole))


def _planes(lanes: list[bytes], bits: int, blocks: int) -> bytes:
    """A byte of a plane is one bit of eight codes; [rows, bits, blocks]."""
    planes = bytearray(len(lanes[0]) * bits)
    for bit in range(bits):
        plane = _joined((lane, _bit_table(bit, position)) for position, lane in enumerate(lanes))
        for block in range(blocks):
            planes[bit * blocks + block :: bits * blocks] = plane[block::blocks]
    return bytes(planes)


def _joined(parts: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Bitwise or of byte strings of one length, each through its table: as whole numbers, since NumPy is not there."""
    number, size = 0, 0
    for lane, table in parts:
        number |= int.from_bytes(lane.translate(table), "little")
        size = len(lane)
    return number.to_bytes(size, "little")


@cache
def _shift_table(shift: int) -> bytes:
    """The byte that holds part of a code, for each code whose bit 0 lies at bit `shift` of that byte."""
    return bytes((code << shift if shift >= 0 else code >> -shift) & 0xFF for code in range(256))


@cache
def _bit_table(bit: int, position: int) -> bytes:
    """The bit of each code, at `position` of a byte."""
    return bytes((code >> bit & 1) << position for code in range(256))
