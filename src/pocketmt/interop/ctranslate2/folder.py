"""The files of a CTranslate2 folder beside `model.bin`: configuration, pieces by id, and SentencePiece models."""

import json
from pathlib import Path
from typing import Any, Final

import sentencepiece

from pocketmt.errors import InteropError
from pocketmt.interop.file_content import read_whole
from pocketmt.interop.hugging_face.json_file import read_json
from pocketmt.interop.sentencepiece_file import read_sentencepiece
from pocketmt.text.stored_vocabulary import NORMALIZATIONS, StoredVocabularies, StoredVocabulary

MODEL, CONFIGURATION = "model.bin", "config.json"
OWN: Final = "pocketmt.json"  # what CTranslate2 has no place for, in folders that PocketMT writes
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


def read_vocabularies(folder: Path, own: dict[str, Any]) -> StoredVocabularies:
    """Return the vocabularies of a folder; ids are those of its lists of pieces.

    Raises InteropError if a list or a SentencePiece model is missing or damaged.
    """
    pieces = _pieces(folder, "shared")
    lists = {side: pieces if pieces is not None else _pieces(folder, side) for side in _SIDES}
    for side, found in lists.items():
        if found is None:
            raise InteropError(f"{folder}: has neither shared_vocabulary nor {side}_vocabulary, as .json or .txt")
    normalization = own.get("normalization", "none")
    if normalization not in NORMALIZATIONS:
        raise InteropError(f"{folder / OWN}: normalization is {normalization!r:.40}, expected nfkc or none")
    sides = []
    for index, (side, found) in enumerate(lists.items()):
        model = read_sentencepiece(_sentencepiece(folder, side))
        assert found is not None
        verbatim, language_codes = _found_in_text(folder, own, 0 if pieces is not None else index)
        needed = bool(verbatim or language_codes)
        table = None if own_pieces(model) == found and not needed else found
        sides.append(StoredVocabulary(model, table, normalization, verbatim, language_codes))
    return StoredVocabularies(sides[0], sides[1] if sides[1] != sides[0] else None)


def _found_in_text(folder: Path, own: dict[str, Any], index: int) -> tuple[tuple[str, ...], bool]:
    """Return the pieces of a side that are found in raw text, and whether language codes are."""
    sides = own.get("sides", [{}, {}])
    said = sides[index] if isinstance(sides, list) and index < len(sides) else None
    if isinstance(said, dict):
        verbatim, language_codes = said.get("verbatim", []), said.get("language_codes", False)
        listed = isinstance(verbatim, list) and all(isinstance(piece, str) for piece in verbatim)
        if listed and isinstance(language_codes, bool):
            return tuple(verbatim), language_codes
    raise InteropError(
        f"{folder / OWN}: sides do not have lists of pieces as verbatim, or true or false as language_codes"
    )


def pieces_of(side: StoredVocabulary) -> tuple[str, ...]:
    """Return the pieces of a vocabulary by id; raises InteropError as `own_pieces` does."""
    return side.pieces if side.pieces is not None else own_pieces(side.model)


def own_pieces(model: bytes) -> tuple[str, ...]:
    """Return the pieces of a SentencePiece model by id; raises InteropError if one is not UTF-8."""
    processor = sentencepiece.SentencePieceProcessor()
    processor.LoadFromSerializedProto(model)
    try:
        return tuple(processor.IdToPiece(id) for id in range(processor.GetPieceSize()))
    except UnicodeDecodeError as error:
        raise InteropError(f"the SentencePiece model has a piece that is not UTF-8: {error}") from error


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
    return tuple(found)


def _text(path: Path) -> str:
    try:
        return read_whole(path, LARGEST_VOCABULARY, too_large=", which no vocabulary has").decode("utf-8")
    except UnicodeDecodeError as error:
        raise InteropError(f"{path}: is not UTF-8") from error
