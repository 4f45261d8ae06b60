"""A lexical shortlist as ids, and as the bytes in a model file; needs NumPy, which the runtime does not have."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pocketmt.errors import ConfigurationError
from pocketmt.model_file.architecture.base import SPECIAL_PIECES
from pocketmt.model_file.shortlist import MOST_TARGETS, StoredShortlist, id_bytes

END_OF_SENTENCE: Final = 2  # its id; it ends every source

Ids = Sequence[int]


@dataclass(frozen=True)
class Shortlist:
    """The pieces that translations may contain.

    Attributes:
        frequent: pieces in the list of every sentence, ascending, at least one.
        targets: for each source piece, by id, the pieces in the list of every sentence that contains it, ascending.

    Raises ConfigurationError if ids are not ascending or out of range, or too many for one source piece.
    """

    frequent: Ids
    targets: Sequence[Ids]

    def __post_init__(self) -> None:
        if not len(self.frequent):
            raise ConfigurationError("shortlist: there is no frequent piece, expected at least one")
        _check_ids("frequent", self.frequent, len(self.targets))
        for piece, ids in enumerate(self.targets):
            _check_ids(f"targets of piece {piece}", ids, len(self.targets))
            if len(ids) > MOST_TARGETS:
                raise ConfigurationError(
                    f"shortlist: piece {piece} has {len(ids)} targets, at most {MOST_TARGETS} fit the file"
                )

    def pieces(self, source: Iterable[int]) -> list[int]:
        """Return the list of a sentence, ascending: special and frequent pieces, and targets of its ids and of eos."""
        chosen = {*range(SPECIAL_PIECES), *self.frequent, *self.targets[END_OF_SENTENCE]}
        return sorted(chosen.union(*(self.targets[piece] for piece in source)))

    def without_repetition(self) -> "Shortlist":
        """Return a shortlist with the same lists, without targets that are in every list."""
        everywhere = {*range(SPECIAL_PIECES), *self.frequent}
        return Shortlist(self.frequent, [[id for id in ids if id not in everywhere] for ids in self.targets])


def encode_shortlist(shortlist: Shortlist) -> tuple[bytes, StoredShortlist]:
    """Return the decompressed content of the tensor, and the manifest's entry."""
    size = len(shortlist.targets)
    ids = np.concatenate([np.asarray(each, np.int64) for each in (shortlist.frequent, *shortlist.targets)])
    differences = np.diff(ids, prepend=0) % size
    planes = differences.astype("<u4").view(np.uint8).reshape(-1, 4).T[: id_bytes(size)]
    content = bytes(map(len, shortlist.targets)) + planes.tobytes()
    return content, StoredShortlist(len(content), len(shortlist.frequent))


def decode_shortlist(content: bytes, stored: StoredShortlist, vocabulary_size: int) -> Shortlist:
    """Undo `encode_shortlist`, for bytes that `read_shortlist` checked."""
    counts = np.frombuffer(content, np.uint8, vocabulary_size)
    planes = np.frombuffer(content, np.uint8, offset=vocabulary_size).reshape(id_bytes(vocabulary_size), -1)
    factors = 256 ** np.arange(len(planes), dtype=np.int64)
    ids = np.cumsum(factors @ planes) % vocabulary_size
    frequent, *targets = np.split(ids, stored.frequent + np.cumsum([0, *counts[:-1]], dtype=np.int64))
    return Shortlist(_ascending(frequent), [_ascending(each) for each in targets])


def _ascending(ids: NDArray[np.int64]) -> list[int]:
    """Sort ids; a file may hold them in any order, or twice."""
    distinct: list[int] = np.unique(ids).tolist()
    return distinct


def _check_ids(name: str, ids: Ids, vocabulary_size: int) -> None:
    in_order = all(left < right for left, right in pairwise(ids))
    if len(ids) and not (in_order and ids[0] >= 0 and ids[-1] < vocabulary_size):
        raise ConfigurationError(f"shortlist: {name} are not ascending ids from 0 to {vocabulary_size - 1}")
