"""SentencePiece models beside foreign weights."""

from pathlib import Path
from typing import Final

import sentencepiece

from pocketmt.errors import InteropError
from pocketmt.interop.file_content import read_whole

MAXIMUM_MODEL: Final = 64 << 20  # bytes


def read_sentencepiece(path: Path) -> bytes:
    """Return the bytes of a SentencePiece model that was loaded once; InteropError if it cannot be."""
    hint = "; PocketMT needs the SentencePiece models of a folder"
    model = read_whole(path, MAXIMUM_MODEL, too_large=": not a SentencePiece model", hint=hint)
    sentencepiece_of(path, model)
    return model


def all_pieces(where: Path | str, processor: "sentencepiece.SentencePieceProcessor") -> tuple[str, ...]:
    """Return the pieces of a loaded SentencePiece model by id; InteropError, which names it, if one is not UTF-8."""
    try:
        return tuple(processor.IdToPiece(id) for id in range(processor.GetPieceSize()))
    except UnicodeDecodeError as error:
        raise InteropError(f"{where}: has a piece that is not UTF-8: {error}") from error


def sentencepiece_of(path: Path, model: bytes) -> "sentencepiece.SentencePieceProcessor":
    """Return a loaded SentencePiece model; InteropError if it is none."""
    processor = sentencepiece.SentencePieceProcessor()
    try:
        processor.LoadFromSerializedProto(model)
    except (RuntimeError, TypeError) as error:
        raise InteropError(f"{path}: not a SentencePiece model: download it again") from error
    return processor
