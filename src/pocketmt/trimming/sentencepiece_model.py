"""SentencePiece models with fewer pieces; text that had a piece that is cut away is divided into smaller ones.

A unigram model without some pieces divides text into the most probable ones that remain. A model by byte-pair encoding
merges pairs of pieces to larger ones, so that a piece needs all those that it is merged from: they stay in the model,
marked as unused, which SentencePiece divides again where they would end a merge.
"""

import struct
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from pocketmt.errors import DataError

NORMAL: Final = 1
UNUSED: Final = 5  # Text is never divided into such a piece.
_UNKNOWN, _CONTROL, _USER_DEFINED, _BYTE = 2, 3, 4, 6
_ALWAYS: Final = frozenset((_UNKNOWN, _CONTROL, _USER_DEFINED, _BYTE))
_NO_TEXT: Final = _ALWAYS - {_USER_DEFINED}
_BPE: Final = 2
# Numbers of fields in sentencepiece_model.proto.
_PIECES, _TRAINER = 1, 2
_PIECE, _SCORE, _TYPE = 1, 2, 3
_MODEL_TYPE: Final = 3
_VARINT, _EIGHT_BYTES, _LENGTH, _FOUR_BYTES = 0, 1, 2, 5


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a model, and the bytes of its message."""

    text: str
    score: float
    type: int
    message: bytes

    @property
    def is_always_kept(self) -> bool:
        """Whether the model needs the piece, whatever the text: special ones, bytes, and those that a user defined."""
        return self.type in _ALWAYS

    @property
    def is_text(self) -> bool:
        """Whether the piece stands for text, not for a byte, and is not special."""
        return self.type not in _NO_TEXT


@dataclass(frozen=True, slots=True)
class SentencePieceModel:
    """A serialized model as its pieces and the rest of its bytes, which stay as they are.

    Attributes:
        pieces: in the order of their ids.
        rest: all other fields.
        merges: whether it is a model by byte-pair encoding.
    """

    pieces: tuple[Piece, ...]
    rest: bytes
    merges: bool

    def restricted(self, kept: Set[str]) -> "SentencePieceModel":
        """Return the model with these pieces, the ones that are always kept, and those that they are merged from.

        The last are marked as unused. Text without any piece that is cut away is divided as before.
        """
        needed = _merged_from(self.pieces, kept) if self.merges else frozenset()
        pieces = []
        for piece in self.pieces:
            if piece.is_always_kept or piece.text in kept:
                pieces.append(piece)
            elif piece.text in needed:
                pieces.append(Piece(piece.text, piece.score, UNUSED, piece.message + _field(_TYPE, UNUSED)))
        return SentencePieceModel(tuple(pieces), self.rest, self.merges)

    def serialized(self) -> bytes:
        """Return the bytes of the model."""
        parts = [_tag(_PIECES, _LENGTH) + _varint(len(piece.message)) + piece.message for piece in self.pieces]
        return b"".join(parts) + self.rest


def parse_model(model: bytes) -> SentencePieceModel:
    """Read a serialized model; DataError if its bytes are no such message."""
    pieces: list[Piece] = []
    rest: list[bytes] = []
    merges = False
    try:
        for number, value, whole in _fields(model):
            if number == _PIECES and isinstance(value, bytes):
                pieces.append(_piece(value))
                continue
            rest.append(whole)
            if number == _TRAINER and isinstance(value, bytes):
                merges = any(field == _MODEL_TYPE and kind == _BPE for field, kind, _ in _fields(value))
    except (IndexError, ValueError) as error:
        raise DataError(f"not a SentencePiece model: {error}") from error
    return SentencePieceModel(tuple(pieces), b"".join(rest), merges)


def _piece(message: bytes) -> Piece:
    text, score, kind = "", 0.0, NORMAL
    for number, value, _ in _fields(message):
        if number == _PIECE and isinstance(value, bytes):
            text = value.decode("utf-8")
        elif number == _SCORE and isinstance(value, bytes):
            score = struct.unpack("<f", value)[0]
        elif number == _TYPE and isinstance(value, int):
            kind = value
    return Piece(text, score, kind, message)


def _merged_from(pieces: tuple[Piece, ...], kept: Set[str]) -> frozenset[str]:
    """Return all pieces that appear while the kept ones are merged from characters."""
    scores = {piece.text: piece.score for piece in pieces if not piece.is_always_kept}
    found: set[str] = set()
    for text in kept:
        symbols = list(text)
        found.update(symbols)
        while len(symbols) > 1:
            best = _best_merge(symbols, scores)
            if best is None:
                break
            symbols[best : best + 2] = [symbols[best] + symbols[best + 1]]
            found.add(symbols[best])
    return frozenset(found)


def _best_merge(symbols: list[str], scores: Mapping[str, float]) -> int | None:
    """Return the index of the pair with the highest score, the first of several; None: no pair is a piece."""
    pairs = [(scores.get(left + right), index) for index, (left, right) in enumerate(pairwise(symbols))]
    known = [(score, -index) for score, index in pairs if score is not None]
    return -max(known)[1] if known else None


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes, bytes]]:
    """Yield number, value and bytes of each field of a protocol buffer; ValueError or IndexError if it is cut off."""
    place = 0
    while place < len(message):
        start = place
        key, place = _read_varint(message, place)
        number, kind = key >> 3, key & 7
        value: int | bytes
        if kind == _VARINT:
            value, place = _read_varint(message, place)
        elif kind in (_EIGHT_BYTES, _FOUR_BYTES, _LENGTH):
            size = 8 if kind == _EIGHT_BYTES else 4
            if kind == _LENGTH:
                size, place = _read_varint(message, place)
            value = message[place : place + size]
            place += size
            if place > len(message):
                raise ValueError("a field is cut off")
        else:
            raise ValueError(f"a field has the unknown kind {kind}")
        yield number, value, message[start:place]


def _read_varint(message: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[place]
        place += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, place
        shift += 7
        if shift > 63:
            raise ValueError("a number has more than 64 bits")


def _varint(value: int) -> bytes:
    parts = bytearray()
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes([*parts, value])


def _tag(number: int, kind: int) -> bytes:
    return _varint(number << 3 | kind)


def _field(number: int, value: int) -> bytes:
    """Return a field with a number; a later field replaces an earlier one of the same message."""
    return _tag(number, _VARINT) + _varint(value)
