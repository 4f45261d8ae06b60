"""The pieces of languages in the tokenizers of M2M100 and NLLB."""

import itertools
import re
from pathlib import Path

from pocketmt.errors import InteropError
from pocketmt.interop.hugging_face.added_tokens import AddedTokens
from pocketmt.interop.hugging_face.tokenizer_files import SPECIAL_TOKENS, TOKENIZER_CONFIGURATION, listed_tokens


def language_tokens(folder: Path, first: int, pattern: re.Pattern[str], added: AddedTokens) -> dict[str, int]:
    """Return the pieces that name languages -> their ids.

    Args:
        folder: of the tokenizer.
        first: id of the first language, where the folder only lists them; added tokens may have other ids.
        pattern: of such a piece.
        added: tokens of the tokenizer.

    Raises InteropError if there are none.
    """
    explicit = {piece: id for piece, id in added.ids.items() if pattern.fullmatch(piece)}
    if explicit and added.complete:
        return explicit
    for texts in listed_tokens(folder):
        if languages := [text for text in texts if pattern.fullmatch(text)]:
            return dict(zip(languages, itertools.count(first), strict=False)) | explicit
    if explicit:
        return explicit
    raise InteropError(
        f"{folder}: neither {TOKENIZER_CONFIGURATION} nor {SPECIAL_TOKENS} lists the pieces of languages: "
        "download both files"
    )
