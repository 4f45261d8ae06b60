"""Tokens that were added to a Hugging Face tokenizer: languages, special pieces, and those of a fine-tuned model."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pocketmt.errors import InteropError
from pocketmt.interop.hugging_face.tokenizer_files import (
    TOKENIZER_CONFIGURATION,
    listed_tokens,
    optional_json,
    special_piece,
)

_FILE: Final = "added_tokens.json"
_ROLES: Final = ("bos", "eos", "unk", "sep", "pad", "cls", "mask")


@dataclass(frozen=True, slots=True)
class AddedTokens:
    """Tokens that are found in raw text before the SentencePiece model divides the rest.

    Attributes:
        ids: of each token.
        special: those that decoded text does not show.
        complete: whether no other file lists more of them.
    """

    ids: dict[str, int]
    special: frozenset[str]
    complete: bool

    def with_rows(self, size: int) -> dict[str, int]:
        """Return the ids below the number of rows of an embedding; transformers fails on a text with another one."""
        return {token: id for token, id in self.ids.items() if id < size}


def read_added_tokens(folder: Path) -> AddedTokens:
    """Return the added tokens of a folder.

    As in transformers, `tokenizer_config.json` has precedence over `added_tokens.json`, which older versions wrote.

    Raises InteropError if a file is damaged, or a token is found only as a whole word.
    """
    configuration = optional_json(folder / TOKENIZER_CONFIGURATION)
    if (table := configuration.get("added_tokens_decoder")) is not None:
        ids, special = _of_decoder(folder / TOKENIZER_CONFIGURATION, table)
    else:
        entries = optional_json(folder / _FILE).items()
        ids = {text: id for text, id in entries if text and type(id) is int and id >= 0}
        named = (special_piece(folder, role, "") for role in _ROLES)
        special = {*named, *(text for texts in listed_tokens(folder) for text in texts)}
    if wrong := [text for text in ids if "\0" in text]:
        raise InteropError(f"{folder}: id {ids[wrong[0]]} has the piece {wrong[0]!r:.80}, which no text has")
    return AddedTokens(ids, frozenset(special & ids.keys()), complete=table is not None)


def with_added(folder: Path, ids: Mapping[str, int], added: Mapping[str, int], size: int) -> dict[str, int]:
    """Return the ids of a vocabulary and of added tokens.

    Raises InteropError if a token has the id of another piece, another id than its piece, or one of `size` or more.
    """
    pieces = {id: piece for piece, id in ids.items()}
    for piece, id in added.items():
        if id >= size or ids.get(piece, id) != id or pieces.setdefault(id, piece) != piece:
            raise InteropError(f"{folder}: the id of {piece!r:.80} is {id}, which another piece has, or none of {size}")
    return {**ids, **added}


def _of_decoder(path: Path, table: Any) -> tuple[dict[str, int], set[str]]:
    """Return the ids of tokens, and those that are special, of an object of ids -> tokens."""
    ids, special = {}, set()
    for id, token in table.items() if isinstance(table, dict) else ():
        text = token.get("content") if isinstance(token, dict) else None
        if not isinstance(text, str) or not text or not id.isascii() or not id.isdecimal() or len(id) >= 10:
            continue
        if token.get("single_word") is True:
            raise InteropError(
                f"{path}: the added token {text!r:.80} is found only as a whole word (single_word), which PocketMT "
                "does not have: add it without single_word"
            )
        ids[text] = int(id)
        if token.get("special") is True:
            special.add(text)
    return ids, special
