"""An id table: a vocabulary's own numbers for the pieces of a SentencePiece model, as OPUS-MT's models have them."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from pocketmt.errors import DataError
from pocketmt.lazy_pattern import lazy_pattern
from pocketmt.text.stored_vocabulary import SpecialIds, StoredVocabulary

if TYPE_CHECKING:
    import sentencepiece

_SPACE: Final = "▁"
_BYTE: Final = lazy_pattern("<0x([0-9A-F]{2})>")
_CODE: Final = lazy_pattern(">>.*?<<", re.DOTALL)


class IdTable:
    """Ids of pieces by a table, for one SentencePiece model.

    Attributes:
        pieces: by id.

    Raises DataError if a piece is in the table twice, a special id is out of range, or a verbatim piece is missing.
    """

    def __init__(
        self, stored: StoredVocabulary, ids: SpecialIds, processor: "sentencepiece.SentencePieceProcessor"
    ) -> None:
        assert stored.pieces is not None
        self.pieces: Final = stored.pieces
        self._unknown = ids.unk
        self._processor = processor
        self._language_codes = stored.language_codes
        self._ids = {piece: id for id, piece in enumerate(stored.pieces) if piece}
        if len(self._ids) + stored.pieces.count("") != len(stored.pieces):
            twice = next(piece for piece, count in Counter(stored.pieces).items() if piece and count > 1)
            raise DataError(f"the id table has the piece {twice!r:.80} twice")
        for name, id in zip(SpecialIds._fields, ids, strict=True):
            if id is not None and not 0 <= id < len(stored.pieces):
                raise DataError(f"the id of {name} is {id}, but the id table has {len(stored.pieces)} pieces")
        for piece in stored.verbatim:
            if piece not in self._ids:
                raise DataError(f"the id table lacks {piece!r:.80}, which is to be found in raw text")
        self._verbatim = _any_of(stored.verbatim)
        self._byte_pieces = bool(processor.IsByte(processor.PieceToId("<0x00>")))

    def __len__(self) -> int:
        """Return the number of ids."""
        return len(self.pieces)

    def id(self, piece: str) -> int | None:
        """Return a piece's id, or None if the table lacks it."""
        return self._ids.get(piece)

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text."""
        find, unknown = self._ids.get, self._unknown
        return [find(piece, unknown) for piece in self.divide(text)]

    def divide(self, text: str) -> list[str]:
        """Return the pieces of a text, one for each id of `encode`; the table may lack some."""
        if self._verbatim is None:
            return self._divide_plain(text)
        pieces: list[str] = []
        for index, part in enumerate(self._verbatim.split(text)):
            if index % 2:
                pieces.append(part)
            elif part:
                pieces += self._divide_plain(part)
        return pieces

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of ids."""
        return self.join([self.pieces[id] for id in ids])

    def join(self, pieces: Sequence[str]) -> str:
        """Return the text of pieces; bytes that are no UTF-8 become U+FFFD."""
        if self._byte_pieces and any(map(_BYTE.fullmatch, pieces)):
            text = b"".join(map(self._surface, pieces)).decode("utf-8", "replace")
        else:
            text = "".join(pieces)
        return text.replace(_SPACE, " ").strip()

    def surfaces(self) -> list[bytes]:
        """Return the bytes that each piece adds to a text, with "▁" for a space."""
        return [self._surface(piece) for piece in self.pieces]

    def _divide_plain(self, text: str) -> list[str]:
        code = []
        if self._language_codes and (found := _CODE.match(text)):
            code, text = [found.group()], text[found.end() :]
        pieces: list[str] = self._processor.EncodeAsPieces(text)
        return code + pieces

    def _surface(self, piece: str) -> bytes:
        byte = _BYTE.fullmatch(piece) if self._byte_pieces else None
        return piece.encode("utf-8") if byte is None else bytes.fromhex(byte[1])


def _any_of(pieces: Sequence[str]) -> re.Pattern[str] | None:
    """Return a pattern that finds any of these pieces, of several at one place the longest."""
    if not pieces:
        return None
    return re.compile(f"({'|'.join(map(re.escape, sorted(pieces, key=len, reverse=True)))})")
