"""The files of a CTranslate2 folder beside `model.bin`: configuration, pieces by id, and SentencePiece models."""

import json
from pathlib import Path
from typing import Any, Final

import sentencepiece

from pocketmt.errors import InteropError
from pocketmt.interop.ctranslate2.text_rules import OWN, FoundInText
from pocketmt.interop.file_content import read_whole
from pocketmt.interop.hugging_face.json_file import read_json
from pocketmt.interop.sentencepiece_file import all_pieces, read_sentencepiece
from pocketmt.text.stored_vocabulary import NORMALIZATIONS, StoredVocabularies, StoredVocabulary

MODEL, CONFIGURATION = "model.bin", "config.json"
LARGEST_VOCABULARY: Final = 64 << 20
# SentencePiece models, of both sides and of each.
_SHARED: Final = ("sentencepiece.model", "sentencepiece.bpe.model", "spm.model", "vocab.spm", "spm.shared.model")
_SIDES: Final = {
    "source": ("source.spm", "src.spm.model", "source.model", "srcvocab.spm"),
    "target": ("target.spm", "tgt.spm.model", "target.model", "trgvocab.spm"),
}


def read_optional_json(path: Path) -> dict[str, Any]:
    """Return the object of a file, empty if there is none; raises InteropError as `read_json` does."""
    return read_json(path) if path.is_file() else {}


def read_lists(folder: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the pieces of the source and of the target by id, the same tuple twice if both sides share one list.

    Raises InteropError if a list is missing or damaged.
    """
    shared = _pieces(folder, "shared")
    if shared is not None:
        return shared, shared
    source, target = (_pieces(folder, side) for side in _SIDES)
    if source is None or target is None:
        side = "source" if source is None else "target"
        raise InteropError(f"{folder}: has neither shared_vocabulary nor {side}_vocabulary, as .json or .txt")
    return source, target


def read_vocabularies(
    folder: Path,
    lists: tuple[tuple[str, ...], tuple[str, ...]],
    rules: tuple[FoundInText, FoundInText],
    normalization: Any,
) -> StoredVocabularies:
    """Return the vocabularies of a folder.

    Args:
        folder: with the SentencePiece models.
        lists: pieces by id, of the source and of the target.
        rules: of both sides.
        normalization: of text, as `pocketmt.json` says it.

    Raises InteropError if a SentencePiece model is missing or damaged, or there is no such normalization.
    """
    if normalization not in NORMALIZATIONS:
        raise InteropError(f"{folder / OWN}: normalization is {normalization!r:.40}, expected nfkc or none")
    sides = []
    for side, pieces, (verbatim, language_codes) in zip(_SIDES, lists, rules, strict=True):
        model = read_sentencepiece(_sentencepiece(folder, side))
        needed = bool(verbatim or language_codes)
        table = None if own_pieces(model) == pieces and not needed else pieces
        sides.append(StoredVocabulary(model, table, normalization, verbatim, language_codes))
    return StoredVocabularies(sides[0], sides[1] if sides[1] != sides[0] else None)


def pieces_of(side: StoredVocabulary) -> tuple[str, ...]:
    """Return the pieces of a vocabulary by id; raises InteropError as `own_pieces` does."""
    return side.pieces if side.pieces is not None else own_pieces(side.model)


def own_pieces(model: bytes) -> tuple[str, ...]:
    """Return the pieces of a SentencePiece model by id; raises InteropError if one is not UTF-8."""
    processor = sentencepiece.SentencePieceProcessor()
    processor.LoadFromSerializedProto(model)
    return all_pieces("the SentencePiece model", processor)


def _sentencepiece(folder: Path, side: str) -> Path:
    found = [folder / name for name in (*_SIDES[side], *_SHARED) if (folder / name).is_file()]
    if not found:
        raise InteropError(
            f"{folder}: has no SentencePiece model, which divides text: copy that of the model there, as {_SHARED[0]}, "
            f"or as {_SIDES['source'][0]} and {_SIDES['target'][0]}"
        )
    return found[0]


def _pieces(folder: Path, side: str) -> tuple[str, ...] | None:
    for ending in ("json", "txt"):
        path = folder / f"{side}_vocabulary.{ending}"
        if path.is_file():
            text = _text(path)
            return _listed(path, text) if ending == "json" else tuple(text.removesuffix("\n").split("\n"))
    return None


def _listed(path: Path, text: str) -> tuple[str, ...]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InteropError(f"{path}: is not JSON ({str(error)[:80]})") from error
    if not isinstance(found, list) or not all(isinstance(piece, str) for piece in found):
        raise InteropError(f"{path}: is not a list of pieces")
    for id, piece in enumerate(found):
        if "\0" in piece or (not piece.isascii() and any("\ud800" <= each <= "\udfff" for each in piece)):
            raise InteropError(f"{path}: piece {id} is {piece!r:.80}, which no text has")
    return tuple(found)


def _text(path: Path) -> str:
    try:
        return read_whole(path, LARGEST_VOCABULARY, too_large=", which no vocabulary has").decode("utf-8")
    except UnicodeDecodeError as error:
        raise InteropError(f"{path}: is not UTF-8") from error
