"""The vocabularies of OPUS-MT folders: two SentencePiece models, and tables of ids that are not theirs."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pocketmt.errors import InteropError
from pocketmt.interop.hugging_face.added_tokens import read_added_tokens, with_added
from pocketmt.interop.hugging_face.tokenizer_files import (
    TOKENIZER_CONFIGURATION,
    optional_json,
    read_ids,
    special_piece,
    table_of,
)
from pocketmt.interop.opus_codes import opus_language, opus_languages
from pocketmt.interop.sentencepiece_file import read_sentencepiece
from pocketmt.model_file.language_pieces import LanguagePieces
from pocketmt.text.stored_vocabulary import StoredVocabularies, StoredVocabulary

_ROLES: Final = {"eos": "</s>", "unk": "<unk>", "pad": "<pad>"}


@dataclass(frozen=True, slots=True)
class MarianTokenizer:
    """Vocabularies, the ids of special pieces on both sides, and languages."""

    vocabularies: StoredVocabularies
    source: dict[str, int]  # of "eos" and "unk", and of "pad" if the table has it
    target: dict[str, int]
    source_language: str
    target_language: str
    languages: LanguagePieces | None


def read_marian_tokenizer(folder: Path, source_size: int, target_size: int) -> MarianTokenizer:
    """Read the tokenizer of a folder whose embeddings have these numbers of rows.

    Raises InteropError if a file is missing or damaged, or does not fit the embeddings.
    """
    configuration = optional_json(folder / TOKENIZER_CONFIGURATION)
    separate = configuration.get("separate_vocabs") is True
    added = read_added_tokens(folder)
    rows = added.with_rows(source_size)
    source_ids = with_added(folder, read_ids(folder / "vocab.json", source_size), rows, source_size)
    target_ids = read_ids(folder / "target_vocab.json", target_size) if separate else source_ids
    if not separate and source_size != target_size:
        raise InteropError(
            f"{folder}: the two sides have {source_size} and {target_size} pieces, but {TOKENIZER_CONFIGURATION} does "
            "not say separate_vocabs"
        )
    special = {role: special_piece(folder, role, default) for role, default in _ROLES.items()}
    sides = [
        StoredVocabulary(
            read_sentencepiece(folder / name),
            table_of(ids, size),
            "none",
            verbatim=tuple(dict.fromkeys(piece for piece in (*special.values(), *tokens) if piece in ids)),
            language_codes=True,
        )
        for name, ids, size, tokens in (
            ("source.spm", source_ids, source_size, rows.keys()),
            # Translations show added tokens that are not special.
            ("target.spm", target_ids, target_size, [token for token in rows if token in added.special]),
        )
    ]
    source, target = (opus_language(configuration.get(key)) for key in ("source_lang", "target_lang"))
    return MarianTokenizer(
        StoredVocabularies(*sides) if sides[0] != sides[1] else StoredVocabularies(sides[0]),
        _special_ids(folder / "vocab.json", source_ids, special),
        _special_ids(folder / ("target_vocab.json" if separate else "vocab.json"), target_ids, special),
        source,
        target,
        opus_languages(source_ids),
    )


def _special_ids(path: Path, ids: dict[str, int], special: dict[str, str]) -> dict[str, int]:
    for role in ("eos", "unk"):
        if special[role] not in ids:
            raise InteropError(f"{path}: lacks the special piece {special[role]!r:.80}")
    return {role: ids[piece] for role, piece in special.items() if piece in ids}
