"""Writing the tokenizer of a Hugging Face folder: two SentencePiece models and tables of ids."""

import json
from pathlib import Path
from typing import Any, Final

from pocketmt.errors import InteropError
from pocketmt.interop.foreign_model import ForeignModel
from pocketmt.model_file.vocabularies import load_checked
from pocketmt.text.vocabulary import Vocabularies, Vocabulary

_PAD: Final = "<pad>"


def write_tokenizer(model: ForeignModel, pad: int, folder: Path) -> tuple[str, ...]:
    """Write the tokenizer's files; returns notes.

    Args:
        model: with one or two vocabularies.
        pad: id of the piece for padding, which is added if the vocabulary ends before it.
        folder: to write to.

    Raises InteropError if the format cannot have these vocabularies.
    """
    found = load_checked(model.vocabularies, model.architecture)
    tables = [_table(side, pad) for side in (found.source, found.target)]
    separate = tables[0] != tables[1]
    special = [_special(side, pad, table) for side, table in zip((found.source, found.target), tables, strict=True)]
    if special[0] != special[1]:
        raise InteropError(f"special pieces of the two sides are {special}, but the format has the same for both")
    (folder / "source.spm").write_bytes(found.source.model)
    (folder / "target.spm").write_bytes(found.target.model)
    _write(folder / "vocab.json", tables[0])
    if separate:
        _write(folder / "target_vocab.json", tables[1])
    settings: dict[str, Any] = {
        "tokenizer_class": "MarianTokenizer",
        "source_lang": model.metadata.source_language,
        "target_lang": model.metadata.target_language,
        "separate_vocabs": separate,
        "model_max_length": 512,
    }
    if added := _added_tokens(found, set(special[0].values())):
        settings["added_tokens_decoder"] = added
    _write(folder / "tokenizer_config.json", settings | special[0])
    if any(side.stored.normalization == "nfkc" for side in (found.source, found.target)):
        return ("text must be in Unicode form NFKC: the format's tokenizer does not normalize it so",)
    return ()


def _table(side: Vocabulary, pad: int) -> dict[str, int]:
    """Return piece -> id; ids without a piece are left out."""
    pieces = side.pieces(range(len(side)))
    table = {piece: id for id, piece in enumerate(pieces) if piece}
    if pad >= len(pieces):
        if _PAD in table:
            raise InteropError(f"the vocabulary has the piece {_PAD} as text, which the format has for padding")
        table[_PAD] = pad
    return table


def _special(side: Vocabulary, pad: int, table: dict[str, int]) -> dict[str, str]:
    pieces = {id: piece for piece, id in table.items()}
    roles = {"eos_token": side.ids.eos, "unk_token": side.ids.unk, "pad_token": pad}
    if missing := [role for role, id in roles.items() if id not in pieces]:
        raise InteropError(f"the vocabulary has no piece for {missing[0]}, which the format needs")
    return {role: pieces[id] for role, id in roles.items()}


def _added_tokens(found: Vocabularies, special: set[str]) -> dict[str, dict[str, object]]:
    """Return the pieces that are found in raw text by id, except for special pieces that have a role."""
    source, target = (side.stored.verbatim for side in found)
    # The format's two tables have the same added tokens.
    return {
        str(found.source.id(piece)): {"content": piece, "special": piece in target}
        for piece in source
        if piece not in special
    }


def _write(path: Path, values: dict[str, Any]) -> None:
    path.write_text(json.dumps(values, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
