"""Ids of the pieces that stand for no text, on both sides of a network."""

from pocketmt.errors import ConfigurationError
from pocketmt.text.stored_vocabulary import SpecialIds


class SpecialPieces:
    """Special pieces by their roles. Every architecture has these fields, at the place where its JSON has them."""

    __slots__ = ()

    vocabulary_size: int
    source_vocabulary_size: int
    vocabularies: str
    first_decoder_input: str
    pad_id: int | None
    bos_id: int | None
    eos_id: int
    unk_id: int
    source_pad_id: int | None
    source_eos_id: int | None
    source_unk_id: int | None
    ban_special_pieces: bool
    banned_ids: tuple[int, ...]

    @property
    def source_size(self) -> int:
        """Pieces of the source's vocabulary, including the special ones."""
        return self.source_vocabulary_size or self.vocabulary_size

    @property
    def special_ids(self) -> SpecialIds:
        """Ids of the target's special pieces."""
        return SpecialIds(self.pad_id, self.bos_id, self.eos_id, self.unk_id)

    @property
    def source_special_ids(self) -> SpecialIds:
        """Ids of the source's special pieces; the encoder never reads bos, so a separate vocabulary has none here."""
        if self.vocabularies == "shared":
            return self.special_ids
        given = (self.source_pad_id, self.source_eos_id, self.source_unk_id)
        pad, eos, unk = (
            same if own is None else own
            for own, same in zip(given, (self.pad_id, self.eos_id, self.unk_id), strict=True)
        )
        assert eos is not None and unk is not None
        return SpecialIds(pad, None, eos, unk)

    @property
    def first_input_id(self) -> int | None:
        """Id of the piece that the decoder reads before the first target piece; None: it reads a zero vector."""
        ids = {"bos": self.bos_id, "eos": self.eos_id, "pad": self.pad_id, "zero": None}
        return ids[self.first_decoder_input]

    @property
    def never_generated_ids(self) -> tuple[int, ...]:
        """Ids of the pieces that no translation has, ascending; eos is none of them."""
        special = (self.pad_id, self.bos_id, self.unk_id) if self.ban_special_pieces else ()
        return tuple(sorted({id for id in special if id is not None}.union(self.banned_ids)))

    def check_special_pieces(self) -> None:
        """Raise ConfigurationError, naming the field, where ids do not fit each other; each alone is in range."""
        _check_distinct({"pad_id": self.pad_id, "bos_id": self.bos_id, "eos_id": self.eos_id, "unk_id": self.unk_id})
        if self.first_decoder_input != "zero" and self.first_input_id is None:
            raise ConfigurationError(
                f"architecture: first_decoder_input is {self.first_decoder_input!r}, but "
                f"{self.first_decoder_input}_id is None: there is no such piece"
            )
        separate = {name: getattr(self, name) for name in ("source_pad_id", "source_eos_id", "source_unk_id")}
        if self.vocabularies == "shared":
            for name, value in separate.items():
                if value is not None:
                    raise ConfigurationError(f"architecture: {name} is {value!r:.80}, but vocabularies are 'shared'")
        pad, _, eos, unk = self.source_special_ids
        _check_distinct({"source_pad_id": pad, "source_eos_id": eos, "source_unk_id": unk})
        if max(eos, unk, -1 if pad is None else pad) >= self.source_size:
            raise ConfigurationError(
                f"architecture: the special ids of the source are not all below its vocabulary's size, "
                f"{self.source_size}: give source_pad_id, source_eos_id and source_unk_id"
            )
        self._check_banned()

    def _check_banned(self) -> None:
        ids = self.banned_ids
        if not isinstance(ids, tuple) or not all(type(id) is int for id in ids) or list(ids) != sorted(set(ids)):
            raise ConfigurationError(f"architecture: banned_ids is {ids!r:.80}, expected a list of ascending ids")
        if ids and not 0 <= ids[0] <= ids[-1] < self.vocabulary_size:
            raise ConfigurationError(
                f"architecture: banned_ids has {ids[0] if ids[0] < 0 else ids[-1]}, expected ids from 0 to "
                f"{self.vocabulary_size - 1}"
            )
        if self.eos_id in ids:
            raise ConfigurationError(f"architecture: banned_ids has {self.eos_id}, which is eos_id: nothing would end")


def _check_distinct(ids: dict[str, int | None]) -> None:
    seen: dict[int, str] = {}
    for name, id in ids.items():
        if id is not None and id in seen:
            raise ConfigurationError(f"architecture: {seen[id]} and {name} are both {id}, expected different pieces")
        if id is not None:
            seen[id] = name
