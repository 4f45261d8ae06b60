"""A lexical shortlist as ids, and as the bytes in a model file; needs NumPy, which the runtime does not have."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pocketmt.errors import ConfigurationError
from pocketmt.model_file.architecture import Architecture
from pocketmt.model_file.shortlist import MOST_TARGETS, StoredShortlist, id_bytes
from pocketmt.text.vocabulary import BOS, EOS, PAD, UNK

Ids = Sequence[int]


class ListedSides(NamedTuple):
    """The vocabularies that a shortlist is for: their sizes, and pieces with a part in every list."""

    source_size: int
    target_size: int
    source_eos: int  # ends every source
    special: tuple[int, ...]  # of the target, ascending; in every list


def listed_sides(architecture: Architecture) -> ListedSides:
    """Return what a shortlist of this network is for."""
    special = sorted(id for id in architecture.special_ids if id is not None)
    sizes = architecture.source_size, architecture.vocabulary_size
    return ListedSides(*sizes, architecture.source_special_ids.eos, tuple(special))


def own_sides(size: int) -> ListedSides:
    """Return what a shortlist for a vocabulary that PocketMT trained is for."""
    return ListedSides(size, size, EOS, (PAD, BOS, EOS, UNK))


@dataclass(frozen=True)
class Shortlist:
    """The pieces that translations may contain.

    Attributes:
        frequent: pieces in the list of every sentence, ascending, at least one.
        targets: for each source piece, by id, the pieces in the list of every sentence that contains it, ascending.
        given_sides: the vocabularies; None: one of both sides, with PocketMT's own special ids.

    Raises ConfigurationError if ids are not ascending or out of range, or too many for one source piece.
    """

    frequent: Ids
    targets: Sequence[Ids]
    given_sides: ListedSides | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not len(self.frequent):
            raise ConfigurationError("shortlist: there is no frequent piece, expected at least one")
        sides = self.sides
        if len(self.targets) != sides.source_size:
            raise ConfigurationError(
                f"shortlist: it has targets of {len(self.targets)} pieces, the source's vocabulary {sides.source_size}"
            )
        _check_ids("frequent", self.frequent, sides.target_size)
        for piece, ids in enumerate(self.targets):
            _check_ids(f"targets of piece {piece}", ids, sides.target_size)
            if len(ids) > MOST_TARGETS:
                raise ConfigurationError(
                    f"shortlist: piece {piece} has {len(ids)} targets, at most {MOST_TARGETS} fit the file"
                )

    @property
    def sides(self) -> ListedSides:
        """The vocabularies."""
        return self.given_sides or own_sides(len(self.targets))

    def pieces(self, source: Iterable[int]) -> list[int]:
        """Return the list of a sentence, ascending: special and frequent pieces, and targets of its ids and of eos."""
        chosen = {*self.sides.special, *self.frequent, *self.targets[self.sides.source_eos]}
        return sorted(chosen.union(*(self.targets[piece] for piece in source)))

    def without_repetition(self) -> "Shortlist":
        """Return a shortlist with the same lists, without targets that are in every list."""
        everywhere = {*self.sides.special, *self.frequent}
        return replace(self, targets=[[id for id in ids if id not in everywhere] for ids in self.targets])


def encode_shortlist(shortlist: Shortlist) -> tuple[bytes, StoredShortlist]:
    """Return the decompressed content of the tensor, and the manifest's entry."""
    size = shortlist.sides.target_size
    ids = np.concatenate([np.asarray(each, np.int64) for each in (shortlist.frequent, *shortlist.targets)])
    differences = np.diff(ids, prepend=0) % size
    planes = differences.astype("<u4").view(np.uint8).reshape(-1, 4).T[: id_bytes(size)]
    content = bytes(map(len, shortlist.targets)) + planes.tobytes()
    return content, StoredShortlist(len(content), len(shortlist.frequent))


def decode_shortlist(content: bytes, stored: StoredShortlist, sides: ListedSides) -> Shortlist:
    """Undo `encode_shortlist`, for bytes that `read_shortlist` checked."""
    counts = np.frombuffer(content, np.uint8, sides.source_size)
    planes = np.frombuffer(content, np.uint8, offset=sides.source_size).reshape(id_bytes(sides.target_size), -1)
    factors = 256 ** np.arange(len(planes), dtype=np.int64)
    ids = np.cumsum(factors @ planes) % sides.target_size
    frequent, *targets = np.split(ids, stored.frequent + np.cumsum([0, *counts[:-1]], dtype=np.int64))
    return Shortlist(_ascending(frequent), [_ascending(each) for each in targets], sides)


def _ascending(ids: NDArray[np.int64]) -> list[int]:
    """Sort ids; a file may hold them in any order, or twice."""
    distinct: list[int] = np.unique(ids).tolist()
    return distinct


def _check_ids(name: str, ids: Ids, vocabulary_size: int) -> None:
    in_order = all(left < right for left, right in pairwise(ids))
    if len(ids) and not (in_order and ids[0] >= 0 and ids[-1] < vocabulary_size):
        raise ConfigurationError(f"shortlist: {name} are not ascending ids from 0 to {vocabulary_size - 1}")
