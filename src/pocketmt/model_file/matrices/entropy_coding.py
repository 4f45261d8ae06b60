"""Entropy-coded codes: one raw deflate stream for each code tensor, decoded within the size that its group states.

A stream holds one code for each weight. A code takes as many bits as divide a byte (`stream_bits`), so that the symbols
of deflate, which are bytes, are whole codes. Each row starts on a byte.
"""

import math
import mmap
import zlib
from typing import Final

from pocketmt.errors import ModelFileError
from pocketmt.model_file.matrices.packed_bits import (
    BYTE_BITS,
    packed_bytes,
    split_lanes,
    stream_bits,
    unpack_indices,
    unused_bits,
)
from pocketmt.model_file.matrices.row_groups import StoredRowGroup

CODING: Final = "deflate"  # in the manifest, and at the end of the name of an entropy-coded tensor
# A stream must not expand more than this, so that a small file cannot ask for any memory it likes. Deflate itself
# reaches 1032.
MAXIMUM_EXPANSION: Final = 32
RAW_DEFLATE: Final = -zlib.MAX_WBITS
_READ_AT_ONCE: Final = 1 << 16  # bytes of the stream
_DECODED_AT_ONCE: Final = 1 << 19  # codes; decoding needs a few times as many bytes in addition to the result


def coded_name(name: str) -> str:
    """Return the name that a code tensor has in the file if it is entropy-coded."""
    return f"{name}.{CODING}"


def decode(name: str, stream: memoryview, group: StoredRowGroup) -> memoryview:
    """Decode a code tensor; allocates its stated size and a few MiB, whatever the stream holds.

    Args:
        name: of the entropy-coded tensor, for messages.
        stream: its bytes.
        group: the row group.

    Returns:
        The bytes of the tensor, in dtype and shape of the group's stored form.

    Raises:
        ModelFileError: the stream is damaged, has another size, expands too much or holds other codes.
    """
    row_bytes = packed_bytes(group.columns, stream_bits(group.form.bits))
    if group.rows * row_bytes > MAXIMUM_EXPANSION * len(stream):
        raise ModelFileError(
            f"tensor {name!r} states {group.rows * row_bytes} bytes in {len(stream)}, "
            f"more than {MAXIMUM_EXPANSION} times as many"
        )
    # Separate pages return to the system when they are released; the heap would keep those of the largest matrix.
    _, shape = group.form.code_layout(group.rows, group.columns)
    decoded = memoryview(mmap.mmap(-1, math.prod(shape)))
    source = _Stream(name, stream)
    step = max(1, _DECODED_AT_ONCE // group.columns)
    row_size = len(decoded) // group.rows
    for first in range(0, group.rows, step):
        rows = min(step, group.rows - first)
        piece = source.read(rows * row_bytes)
        if not group.form.streams_unchanged:
            piece = _restore(name, piece, group)
        decoded[first * row_size : (first + rows) * row_size] = piece
    source.check_end()
    return decoded.toreadonly()


class _Stream:
    """Reads a raw deflate stream in pieces."""

    def __init__(self, name: str, stream: memoryview) -> None:
        self._name = name
        self._rest = stream
        self._pending = b""
        self._inflater = zlib.decompressobj(RAW_DEFLATE)

    def read(self, count: int) -> bytes:
        """Return the next `count` bytes, at least 1; raises ModelFileError if there are fewer."""
        pieces = []
        while count:
            piece = self._inflate(count)
            if not piece and not self._more():
                raise ModelFileError(f"tensor {self._name!r} decodes to fewer bytes than its row group states")
            pieces.append(piece)
            count -= len(piece)
        return b"".join(pieces)

    def check_end(self) -> None:
        """Raise ModelFileError unless all bytes were read and the stream ends with the tensor."""
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


def _restore(name: str, stream: bytes, group: StoredRowGroup) -> bytes:
    """Return rows of the code tensor from rows of a stream."""
    width = stream_bits(group.form.bits)
    row_bytes = packed_bytes(group.columns, width)
    block_bytes = packed_bytes(group.columns, 1) * width  # of a row in whole blocks of eight codes
    if unused_bits(memoryview(stream), row_bytes, group.columns, width):
        raise ModelFileError(f"tensor {name!r} has bits that are not 0 after the last code of a row")
    if gap := bytes(block_bytes - row_bytes):
        stream = b"".join(stream[begin : begin + row_bytes] + gap for begin in range(0, len(stream), row_bytes))
    codes = unpack_indices(stream, len(stream) * BYTE_BITS // width, width)
    if max(codes) >> group.form.bits:
        raise ModelFileError(f"tensor {name!r} holds a code of more than {group.form.bits} bits")
    return group.form.pack_stream(split_lanes(codes), group.columns)
