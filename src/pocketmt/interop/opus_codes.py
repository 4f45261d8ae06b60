"""Language codes of OPUS-MT models: pieces such as >>deu<<, which a source begins with."""

import re
from collections.abc import Iterable
from typing import Final

from pocketmt.model_file.language_pieces import LanguagePieces

_CODE: Final = re.compile(">>[^<>]{1,64}<<")


def opus_languages(pieces: Iterable[str]) -> LanguagePieces | None:
    """Return the languages of a source vocabulary, None if it has no codes."""
    codes = {piece[2:-2]: piece for piece in pieces if _CODE.fullmatch(piece)}
    return LanguagePieces(codes, "source") if codes else None
