"""The vocabularies of M2M100 and NLLB folders: one SentencePiece model, other ids, and a piece for each language."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pocketmt.errors import InteropError
from pocketmt.interop.hugging_face.tokenizer_files import (
    language_tokens,
    read_ids,
    table_of,
)
from pocketmt.interop.sentencepiece_file import read_sentencepiece, sentencepiece_of
from pocketmt.model_file.language_pieces import LanguagePieces
from pocketmt.text.stored_vocabulary import StoredVocabularies, StoredVocabulary

SENTENCEPIECE: Final = "sentencepiece.bpe.model"
TABLE: Final = "vocab.json"
# Ids of fairseq's dictionaries, whatever the SentencePiece model has.
SPECIAL: Final = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3}
UNKNOWN: Final = SPECIAL["<unk>"]
_NLLB_LANGUAGE: Final = re.compile(r"[a-z]{3}_[A-Z][a-z]{3}")
_M2M100_LANGUAGE: Final = re.compile(r"__([a-z]{2,3}(?:_[A-Za-z]+)?)__")
_SPM_SPECIAL: Final = 3  # <unk>, <s>, </s> are the first pieces of the SentencePiece model


@dataclass(frozen=True, slots=True)
class MultilingualTokenizer:
    """The vocabulary, and the pieces of languages."""

    vocabularies: StoredVocabularies
    languages: LanguagePieces


def read_multilingual_tokenizer(folder: Path, size: int) -> MultilingualTokenizer:
    """Read the tokenizer of a folder whose embedding has `size` rows.

    Raises InteropError if a file is missing or damaged, or does not fit the embedding.
    """
    model = read_sentencepiece(folder / SENTENCEPIECE)
    if (folder / TABLE).is_file():
        ids = read_ids(folder / TABLE, size)
        found = language_tokens(folder, len(ids), _M2M100_LANGUAGE)
        languages = {piece.strip("_"): piece for piece in found}
    else:
        ids = _fairseq_ids(folder / SENTENCEPIECE, model)
        found = language_tokens(folder, len(ids), _NLLB_LANGUAGE)
        languages = {piece: piece for piece in found}
    if wrong := [piece for piece, id in SPECIAL.items() if ids.get(piece) != id]:
        raise InteropError(f"{folder}: {wrong[0]} is not piece {SPECIAL[wrong[0]]} of the vocabulary")
    taken = set(ids.values())
    for piece, id in found.items():
        if id >= size or id in taken or (piece in ids and ids[piece] != id):
            raise InteropError(f"{folder}: the id of {piece!r:.80} is {id}, which another piece has, or none of {size}")
        taken.add(id)
    vocabulary = StoredVocabulary(model, table_of(ids | found, size), "none", verbatim=(*SPECIAL, *found))
    pieces = LanguagePieces(languages, "translation", languages)
    return MultilingualTokenizer(StoredVocabularies(vocabulary), pieces)


def _fairseq_ids(path: Path, model: bytes) -> dict[str, int]:
    """Return the ids of NLLB: the four special pieces, and then those of the SentencePiece model, each one later."""
    processor = sentencepiece_of(path, model)
    pieces = [processor.IdToPiece(id) for id in range(processor.GetPieceSize())]
    ids = SPECIAL | {piece: id + 1 for id, piece in enumerate(pieces) if id >= _SPM_SPECIAL}
    if len(ids) != len(pieces) + 1:
        raise InteropError(f"{path}: does not begin with <unk>, <s> and </s>, or has a piece twice")
    return ids
