"""SentencePiece models beside foreign weights."""

from pathlib import Path
from typing import Final

import sentencepiece

from pocketmt.errors import InteropError, unreadable

MAXIMUM_MODEL: Final = 64 << 20  # bytes


def read_sentencepiece(path: Path) -> bytes:
    """Return the bytes of a SentencePiece model that was loaded once; InteropError if it cannot be."""
    try:
        with path.open("rb") as file:
            model = file.read(MAXIMUM_MODEL + 1)
    except OSError as error:
        raise InteropError(f"{unreadable(path, error)}; PocketMT needs the SentencePiece models of a folder") from error
    if len(model) > MAXIMUM_MODEL:
        raise InteropError(f"{path}: has more than {MAXIMUM_MODEL} bytes: not a SentencePiece model")
    sentencepiece_of(path, model)
    return model


def sentencepiece_of(path: Path, model: bytes) -> "sentencepiece.SentencePieceProcessor":
    """Return a loaded SentencePiece model; InteropError if it is none."""
    processor = sentencepiece.SentencePieceProcessor()
    try:
        processor.LoadFromSerializedProto(model)
    except (RuntimeError, TypeError) as error:
        raise InteropError(f"{path}: not a SentencePiece model ({str(error)[:120]})") from error
    return processor
