"""Vocabularies: text to piece ids and back, by a SentencePiece model and, where a model has one, an id table."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from pocketmt.errors import DataError, unreadable
from pocketmt.text.id_table import IdTable
from pocketmt.text.normalization import normalize, replace_surrogates
from pocketmt.text.stored_vocabulary import SpecialIds, StoredVocabularies, StoredVocabulary

# Of the vocabularies that PocketMT trains.
PAD, BOS, EOS, UNK = 0, 1, 2, 3
OWN_IDS: Final = SpecialIds(PAD, BOS, EOS, UNK)
SPECIAL_PIECES = 4
SPACE: Final = "▁"  # in pieces


class Vocabulary:
    """The vocabulary of one side: text to ids and back.

    Attributes:
        stored: what it was made from.
        ids: of the special pieces.
        special: ids of pieces that are no text: special ones, and those that are found in raw text.
    """

    def __init__(self, vocabulary: bytes | StoredVocabulary, ids: SpecialIds = OWN_IDS) -> None:
        """Load a vocabulary; bytes are a SentencePiece model without an id table.

        Raises DataError if the model is invalid, an id table has a piece twice, or special ids do not fit.
        """
        stored = vocabulary if isinstance(vocabulary, StoredVocabulary) else StoredVocabulary(bytes(vocabulary))
        self.stored = stored
        self.ids = ids
        import sentencepiece  # Not at the top: a model is loaded while this module is imported.

        self._processor = sentencepiece.SentencePieceProcessor()
        try:
            self._processor.LoadFromSerializedProto(self.stored.model)
        except (RuntimeError, TypeError) as error:
            raise DataError("not a SentencePiece model: give a model that SentencePiece has trained") from error
        self._table = None if self.stored.pieces is None else IdTable(self.stored, ids, self._processor)
        if self._table is None:
            self._check_own_ids()
        verbatim = (self.id(piece) for piece in self.stored.verbatim)
        self.special: frozenset[int] = frozenset(id for id in (*ids, *verbatim) if id is not None)

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

    @property
    def model(self) -> bytes:
        """The serialized SentencePiece model."""
        return self.stored.model

    def __len__(self) -> int:
        """Return the number of pieces, special pieces included."""
        return int(self._processor.GetPieceSize()) if self._table is None else len(self._table)

    def normalize(self, line: str) -> str:
        """Return a line with its white space as single spaces, and after `normalize` if the vocabulary says so."""
        return normalize(line) if self.stored.normalization == "nfkc" else " ".join(line.split())

    def encode(self, line: str) -> list[int]:
        """Return the piece ids of a line after normalization, without bos and eos."""
        text = self._normalized(line)
        if self._table is not None:
            return self._table.encode(text)
        ids: list[int] = self._processor.EncodeAsIds(text)
        return ids

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of piece ids, without special ids."""
        plain = [id for id in ids if id not in self.special]
        if self._table is not None:
            return self._table.decode(plain)
        text: str = self._processor.DecodeIds(plain)
        return text

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """Return each id's piece, as SentencePiece writes it ("▁" for a space)."""
        if self._table is not None:
            return [self._table.pieces[id] for id in ids]
        return [self._processor.IdToPiece(id) for id in ids]

    def encode_as_pieces(self, line: str) -> list[str]:
        """Return the pieces of a line after normalization; text that no piece has is kept as it is."""
        text = self._normalized(line)
        if self._table is not None:
            return self._table.divide(text)
        pieces: list[str] = self._processor.EncodeAsPieces(text)
        return pieces

    def decode_pieces(self, pieces: Sequence[str]) -> str:
        """Return the text of pieces, among which may be words that are no pieces of the vocabulary."""
        if self._table is not None:
            return self._table.join(pieces)
        text: str = self._processor.DecodePieces(list(pieces))
        return text

    def id(self, piece: str) -> int | None:
        """Return a piece's id, or None if the vocabulary has no such piece."""
        if self._table is not None:
            return self._table.id(piece)
        found = int(self._processor.PieceToId(piece))
        return found if self._processor.IdToPiece(found) == piece else None

    def surfaces(self) -> list[bytes]:
        """Return the bytes that each piece adds to a text, with "▁" for a space; none for special pieces."""
        if self._table is not None:
            surfaces = self._table.surfaces()
        else:
            surfaces = [
                bytes.fromhex(piece[3:5]) if self._processor.IsByte(id) else piece.encode("utf-8")
                for id, piece in enumerate(self.pieces(range(len(self))))
            ]
        return [b"" if id in self.special else surface for id, surface in enumerate(surfaces)]

    def _normalized(self, line: str) -> str:
        line = replace_surrogates(line)
        return normalize(line) if self.stored.normalization == "nfkc" else line

    def _check_own_ids(self) -> None:
        loaded = self._processor
        found = (loaded.pad_id(), loaded.bos_id(), loaded.eos_id(), loaded.unk_id())
        if any(expected is not None and id != expected for id, expected in zip(found, self.ids, strict=True)):
            hint = ": train it with `pocketmt train`" if self.ids == OWN_IDS else ""
            raise DataError(f"the vocabulary has pad, bos, eos, unk = {found}, expected {tuple(self.ids)}{hint}")


class Vocabularies(NamedTuple):
    """The vocabularies of a model; where both sides share one, it is the same object twice."""

    source: Vocabulary
    target: Vocabulary

    @property
    def shared(self) -> bool:
        """Whether both sides share one vocabulary."""
        return self.source is self.target

    @property
    def stored(self) -> StoredVocabularies:
        """What they were made from."""
        return StoredVocabularies(self.source.stored, None if self.shared else self.target.stored)


def shared_vocabulary(vocabulary: Vocabulary) -> Vocabularies:
    """Return the vocabularies of a model whose sides share one."""
    return Vocabularies(vocabulary, vocabulary)


def load_vocabularies(
    stored: StoredVocabularies, source_ids: SpecialIds = OWN_IDS, target_ids: SpecialIds = OWN_IDS
) -> Vocabularies:
    """Load the vocabularies of a model; raises DataError as `Vocabulary` does, naming the side if there are two."""
    if stored.target is None:
        return shared_vocabulary(Vocabulary(stored.source, target_ids))
    sides = []
    for name, side, ids in (("source", stored.source, source_ids), ("target", stored.target, target_ids)):
        try:
            sides.append(Vocabulary(side, ids))
        except DataError as error:
            raise DataError(f"{name} vocabulary: {error}") from error
    return Vocabularies(*sides)
