"""A SentencePiece model of invented pieces, for networks with random weights."""

import struct

SPECIALS = ("<pad>", "<s>", "</s>", "<unk>")
# Constants of sentencepiece_model.proto: types of pieces and of models.
NORMAL, UNKNOWN, CONTROL = 1, 2, 3
BYTE_PAIR_ENCODING = 2


def made_up_vocabulary(size: int) -> bytes:
    """Return a serialized SentencePiece model of `size` pieces: pad 0, bos 1, eos 2, unk 3, then invented words."""
    kinds = (CONTROL, CONTROL, CONTROL, UNKNOWN)
    pieces = [_piece(text, 0.0, kind) for text, kind in zip(SPECIALS, kinds, strict=True)]
    pieces += [_piece(f"▁word{index}", -float(index), NORMAL) for index in range(len(SPECIALS), size)]
    ids = {40: 3, 41: 1, 42: 2, 43: 0}  # TrainerSpec: unk_id, bos_id, eos_id, pad_id
    trainer = _integer(3, BYTE_PAIR_ENCODING) + _integer(4, size)
    trainer += b"".join(_integer(number, value) for number, value in ids.items())
    trainer += b"".join(
        _bytes(number, text.encode()) for number, text in zip((48, 46, 47, 45), SPECIALS, strict=True)
    )  # pad_piece, bos_piece, eos_piece, unk_piece
    return b"".join(_bytes(1, piece) for piece in pieces) + _bytes(2, trainer) + _bytes(3, _bytes(1, b"identity"))


def _piece(text: str, score: float, kind: int) -> bytes:
    return _bytes(1, text.encode()) + _variable(2 << 3 | 5) + struct.pack("<f", score) + _integer(3, kind)


def _bytes(number: int, value: bytes) -> bytes:
    return _variable(number << 3 | 2) + _variable(len(value)) + value


def _integer(number: int, value: int) -> bytes:
    return _variable(number << 3) + _variable(value)


def _variable(value: int) -> bytes:
    """Return a protocol buffer varint: seven bits a byte, low bits first."""
    output = bytearray()
    while value >= 128:
        output.append(value & 127 | 128)
        value >>= 7
    output.append(value)
    return bytes(output)
