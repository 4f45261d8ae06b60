"""Special ids of a model whose vocabularies are SentencePiece models without id tables."""

from typing import Any

import sentencepiece

from pocketmt.errors import InteropError
from pocketmt.text.stored_vocabulary import StoredVocabularies, StoredVocabulary


def special_fields(vocabularies: StoredVocabularies) -> tuple[dict[str, Any], tuple[int, int]]:
    """Return the fields of an architecture that say special ids, and the pieces of source and target.

    Raises InteropError if a vocabulary is no SentencePiece model, or has no end of sentence or no unknown piece.
    """
    sides = [_special(side) for side in vocabularies.sides]
    target, size = sides[-1]
    source, source_size = sides[0]
    fields: dict[str, Any] = {
        **target,
        "vocabularies": "shared" if vocabularies.target is None else "separate",
    }
    if vocabularies.target is not None:
        others = {name: id for name, id in source.items() if name != "bos_id" and id != target[name]}
        fields |= {f"source_{name}": id for name, id in others.items()}
    return fields, (source_size, size)


def _special(side: StoredVocabulary) -> tuple[dict[str, int | None], int]:
    processor = sentencepiece.SentencePieceProcessor()
    try:
        processor.LoadFromSerializedProto(side.model)
    except (RuntimeError, TypeError) as error:
        raise InteropError(f"the vocabulary is not a SentencePiece model: {error}") from error
    ids = {
        "pad_id": processor.pad_id(),
        "bos_id": processor.bos_id(),
        "eos_id": processor.eos_id(),
        "unk_id": processor.unk_id(),
    }
    for name in ("eos_id", "unk_id"):
        if ids[name] < 0:
            raise InteropError(f"the vocabulary has no {name.removesuffix('_id')} piece, which a model needs")
    return {name: id if id >= 0 else None for name, id in ids.items()}, int(processor.GetPieceSize())
