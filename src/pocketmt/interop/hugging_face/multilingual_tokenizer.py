"""The vocabularies of M2M100, SMaLL-100 and NLLB: one SentencePiece model, other ids, and a piece for each language."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pocketmt.errors import InteropError
from pocketmt.interop.hugging_face.added_tokens import read_added_tokens, with_added
from pocketmt.interop.hugging_face.language_tokens import language_tokens
from pocketmt.interop.hugging_face.tokenizer_files import TOKENIZER_CONFIGURATION, optional_json, read_ids, table_of
from pocketmt.interop.sentencepiece_file import all_pieces, read_sentencepiece, sentencepiece_of
from pocketmt.model_file.language_pieces import LanguagePieces, TargetPlace
from pocketmt.text.stored_vocabulary import StoredVocabularies, StoredVocabulary

SENTENCEPIECE: Final = "sentencepiece.bpe.model"
TABLE: Final = "vocab.json"
# Ids of fairseq's dictionaries, whatever the SentencePiece model has.
SPECIAL: Final = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3}
UNKNOWN: Final = SPECIAL["<unk>"]
PAD: Final = "<pad>"
_NLLB_LANGUAGE: Final = re.compile(r"[a-z]{3}_[A-Z][a-z]{3}")
_M2M100_LANGUAGE: Final = re.compile(r"__([a-z]{2,3}(?:_[A-Za-z]+)?)__")
_SPM_SPECIAL: Final = 3  # <unk>, <s>, </s> are the first pieces of the SentencePiece model


@dataclass(frozen=True, slots=True)
class MultilingualTokenizer:
    """The vocabulary, and the pieces of languages."""

    vocabularies: StoredVocabularies
    languages: LanguagePieces

    def language_of(self, forced: object) -> str:
        """Return the language whose piece, by its id, every translation begins with; "": the id is of no such piece."""
        pieces = self.vocabularies.sides[-1].pieces or ()
        if self.languages.target_place != "translation" or type(forced) is not int or not 0 <= forced < len(pieces):
            return ""
        return next((code for code, piece in self.languages.target.items() if piece == pieces[forced]), "")


def read_multilingual_tokenizer(folder: Path, size: int, target_place: TargetPlace) -> MultilingualTokenizer:
    """Read the tokenizer of a folder.

    Args:
        folder: of the model.
        size: rows of its embedding.
        target_place: of the target language's piece; if that is the source, the source's language has none there.

    Raises InteropError if a file is missing or damaged, does not fit the embedding, or asks for NLLB's old order.
    """
    if optional_json(folder / TOKENIZER_CONFIGURATION).get("legacy_behaviour") is True:
        raise InteropError(
            f"{folder / TOKENIZER_CONFIGURATION}: legacy_behaviour is true, but PocketMT only has the order "
            "that begins with the source's language: set it to false if the model was trained with that order"
        )
    model = read_sentencepiece(folder / SENTENCEPIECE)
    added = read_added_tokens(folder)
    if (folder / TABLE).is_file():
        ids = read_ids(folder / TABLE, size)
        found = language_tokens(folder, len(ids), _M2M100_LANGUAGE, added)
        languages = {piece.strip("_"): piece for piece in found}
    else:
        ids = _fairseq_ids(folder / SENTENCEPIECE, model)
        found = language_tokens(folder, len(ids), _NLLB_LANGUAGE, added)
        languages = {piece: piece for piece in found}
    if wrong := [piece for piece, id in SPECIAL.items() if ids.get(piece) != id]:
        raise InteropError(f"{folder}: {wrong[0]} is not piece {SPECIAL[wrong[0]]} of the vocabulary")
    rows = added.with_rows(size)
    table = table_of(with_added(folder, ids, found | rows, size), size)
    # Translations show added tokens that are not special.
    shown = rows.keys() - added.special - found.keys() - SPECIAL.keys()
    # transformers finds padding in text, too, and counts positions without it: here it is text like any other.
    sides = [
        StoredVocabulary(
            model, table, "none", tuple(each for each in dict.fromkeys((*SPECIAL, *found, *tokens)) if each != PAD)
        )
        for tokens in (rows, [token for token in rows if token not in shown])
    ]
    pieces = LanguagePieces(languages, target_place, languages if target_place == "translation" else {})
    return MultilingualTokenizer(StoredVocabularies(sides[0], sides[1] if shown else None), pieces)


def _fairseq_ids(path: Path, model: bytes) -> dict[str, int]:
    """Return the ids of NLLB: the four special pieces, and then those of the SentencePiece model, each one later."""
    processor = sentencepiece_of(path, model)
    pieces = all_pieces(path, processor)
    ids = SPECIAL | {piece: id + 1 for id, piece in enumerate(pieces) if id >= _SPM_SPECIAL}
    if len(ids) != len(pieces) + 1:
        raise InteropError(f"{path}: does not begin with <unk>, <s> and </s>, or has a piece twice")
    return ids
