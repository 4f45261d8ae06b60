"""The joint SentencePiece vocabulary: text to piece ids and back."""

from collections.abc import Sequence
from pathlib import Path

import sentencepiece

from pocketmt.errors import DataError, unreadable
from pocketmt.text.normalization import normalize

PAD, BOS, EOS, UNK = 0, 1, 2, 3
SPECIAL_PIECES = 4
SPACE = "▁"  # in pieces


class Vocabulary:
    """A SentencePiece model with PocketMT's special ids: pad 0, bos 1, eos 2, unk 3."""

    def __init__(self, model: bytes) -> None:
        """Load a serialized SentencePiece model; DataError if it is invalid or has other special ids."""
        self._processor = sentencepiece.SentencePieceProcessor()
        try:
            self._processor.LoadFromSerializedProto(model)
        except (RuntimeError, TypeError) as error:
            raise DataError(f"not a SentencePiece model: {error}") from error
        loaded = self._processor
        ids = (loaded.pad_id(), loaded.bos_id(), loaded.eos_id(), loaded.unk_id())
        if ids != (PAD, BOS, EOS, UNK):
            raise DataError(
                f"the vocabulary has pad, bos, eos, unk = {ids}, expected {(PAD, BOS, EOS, UNK)}: "
                "train it with `pocketmt train`"
            )
        self.model = bytes(model)

    @classmethod
    def from_file(cls, path: Path) -> "Vocabulary":
        """Load a SentencePiece model from a file; DataError if it cannot be read or is invalid."""
        try:
            model = path.read_bytes()
        except OSError as error:
            raise DataError(unreadable(path, error)) from error
        try:
            return cls(model)
        except DataError as error:
            raise DataError(f"{path}: {error}") from error

    def __len__(self) -> int:
        """Return the number of pieces, special pieces included."""
        return int(self._processor.GetPieceSize())

    def encode(self, line: str) -> list[int]:
        """Return the piece ids of a line after normalization, without bos and eos."""
        ids: list[int] = self._processor.EncodeAsIds(normalize(line))
        return ids

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of piece ids, without special ids."""
        text: str = self._processor.DecodeIds([id for id in ids if id >= SPECIAL_PIECES])
        return text

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Return each id's piece, as SentencePiece writes it ("▁" for a space)."""
        return [self._processor.IdToPiece(id) for id in ids]

    def encode_as_pieces(self, line: str) -> list[str]:
        """Return the pieces of a line after normalization; text that no piece has is kept as it is."""
        pieces: list[str] = self._processor.EncodeAsPieces(normalize(line))
        return pieces

    def decode_pieces(self, pieces: Sequence[str]) -> str:
        """Return the text of pieces, among which may be words that are no pieces of the vocabulary."""
        text: str = self._processor.DecodePieces(list(pieces))
        return text

    def id(self, piece: str) -> int | None:
        """Return a piece's id, or None if the vocabulary has no such piece."""
        found = int(self._processor.PieceToId(piece))
        return found if self._processor.IdToPiece(found) == piece else None

    def surfaces(self) -> list[bytes]:
        """Return the bytes that each piece adds to a text, with "▁" for a space; none for special pieces."""
        ids = range(len(self))
        pieces = self.pieces(ids)
        return [
            b""
            if id < SPECIAL_PIECES
            else bytes.fromhex(piece[3:5])
            if self._processor.IsByte(id)
            else piece.encode("utf-8")
            for id, piece in zip(ids, pieces, strict=True)
        ]
