"""Files of a Hugging Face tokenizer: SentencePiece models, tables of ids, special pieces."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pocketmt.errors import InteropError
from pocketmt.interop.hugging_face.json_file import read_json

TOKENIZER_CONFIGURATION: Final = "tokenizer_config.json"
SPECIAL_TOKENS: Final = "special_tokens_map.json"


def optional_json(path: Path) -> dict[str, Any]:
    """Return the object of a file, or nothing if there is no such file."""
    return read_json(path) if path.is_file() else {}


def read_ids(path: Path, size: int) -> dict[str, int]:
    """Return piece -> id of a table; InteropError unless ids are different and below `size`, and pieces have no zero.

    Args:
        path: of a JSON object.
        size: rows of the embedding.
    """
    table = read_json(path)
    for piece, id in table.items():
        if type(id) is not int or not 0 <= id < size:
            raise InteropError(
                f"{path}: the id of {piece!r:.80} is {id!r:.40}, but the model has {size} pieces: it is the vocabulary "
                "of another model"
            )
        if not piece or "\0" in piece:
            raise InteropError(f"{path}: id {id} has the piece {piece!r:.80}, which no text has")
    if len(set(table.values())) != len(table):
        raise InteropError(f"{path}: two pieces have the same id")
    return table


def table_of(ids: Mapping[str, int], size: int) -> tuple[str, ...]:
    """Return each id's piece, "" for an id without one."""
    pieces = [""] * size
    for piece, id in ids.items():
        pieces[id] = piece
    return tuple(pieces)


def special_piece(folder: Path, role: str, default: str) -> str:
    """Return the text of a special piece, such as "eos"."""
    for name in (SPECIAL_TOKENS, TOKENIZER_CONFIGURATION):
        value = optional_json(folder / name).get(f"{role}_token")
        if isinstance(value, dict):
            value = value.get("content")
        if isinstance(value, str) and value:
            return value
    return default


def listed_tokens(folder: Path) -> list[list[str]]:
    """Return the lists of special tokens without ids."""
    lists = []
    for name in (SPECIAL_TOKENS, TOKENIZER_CONFIGURATION):
        for key in ("additional_special_tokens", "extra_special_tokens"):
            listed = optional_json(folder / name).get(key)
            if isinstance(listed, list):
                texts = [each.get("content") if isinstance(each, dict) else each for each in listed]
                lists.append([text for text in texts if isinstance(text, str)])
    return lists
