"""Sentence pairs as piece ids in a temporary file, to be read several times."""

import io
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Final, Self

import numpy as np
from numpy.typing import NDArray

from pocketmt.atomic_file import naming
from pocketmt.errors import DataError

Integers = NDArray[np.int64]
IdPair = tuple[Sequence[int], Sequence[int]]

LONGEST: Final = 500  # pieces of a side; longer lines are hardly sentences, and have too many pairs of pieces
CELLS_AT_ONCE: Final = 1 << 20  # (source piece, target piece) pairs in a chunk; the last sentence pair may exceed it


@dataclass(frozen=True)
class Chunk:
    """Consecutive sentence pairs: the concatenated ids of all sentences, and the length of each."""

    source: Integers  # [source pieces]
    source_lengths: Integers  # [pairs]
    target: Integers  # [target pieces]
    target_lengths: Integers  # [pairs]

    def cells(self) -> tuple[Integers, Integers, Integers]:
        """Return all pairs of a target piece and a source piece of the same sentence pair.

        Returns:
            source ids [cells], target ids [cells], and the number of cells of each target piece [target pieces]; the
            cells of a target piece are consecutive.
        """
        counts = np.repeat(self.source_lengths, self.target_lengths)
        first_source = np.repeat(np.cumsum(self.source_lengths) - self.source_lengths, self.target_lengths)
        first_cell = np.cumsum(counts) - counts
        places = np.arange(counts.sum()) - np.repeat(first_cell - first_source, counts)
        return self.source[places], np.repeat(self.target, counts), counts


class PairChunks:
    """Sentence pairs in a temporary file, which is deleted after the `with` block.

    Attributes:
        pairs: number of pairs; pairs with an empty side, or one of more than 500 pieces, are left out.
        target_counts: number of occurrences of each piece on the target side [target's vocabulary size].
    """

    def __init__(self, pairs: Iterable[IdPair], vocabulary_size: int) -> None:
        """Store the pairs; DataError if none remain."""
        self.pairs = 0
        self.target_counts: Integers = np.zeros(vocabulary_size, np.int64)
        with naming(Path(tempfile.gettempdir())), ExitStack() as stack:
            self._file = stack.enter_context(tempfile.TemporaryFile(prefix="pocketmt-"))
            for chunk in _cut(pairs):
                self.pairs += len(chunk.source_lengths)
                self.target_counts += np.bincount(chunk.target, minlength=vocabulary_size)
                for each in (chunk.source, chunk.source_lengths, chunk.target, chunk.target_lengths):
                    _save(self._file, each)
            if not self.pairs:
                raise DataError(
                    "the text has no sentence pair with text on both sides, nothing can be learnt: give other text"
                )
            self._kept = stack.pop_all()

    def __iter__(self) -> Iterator[Chunk]:
        """Read the pairs in their order."""
        self._file.seek(0)
        left = self.pairs
        while left:
            chunk = Chunk(*(np.load(self._file).astype(np.int64) for _ in range(4)))
            left -= len(chunk.source_lengths)
            yield chunk

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._kept.close()


def _save(file: BinaryIO, values: Integers) -> None:
    """Append an array to a file. NumPy itself does not say that a disk is full."""
    buffer = io.BytesIO()
    np.save(buffer, values.astype(np.int32))
    file.write(buffer.getbuffer())


def _cut(pairs: Iterable[IdPair]) -> Iterator[Chunk]:
    chosen: list[IdPair] = []
    cells = 0
    for source, target in pairs:
        if not (0 < len(source) <= LONGEST and 0 < len(target) <= LONGEST):
            continue
        chosen.append((source, target))
        cells += len(source) * len(target)
        if cells >= CELLS_AT_ONCE:
            yield _chunk(chosen)
            chosen, cells = [], 0
    if chosen:
        yield _chunk(chosen)


def _chunk(pairs: Sequence[IdPair]) -> Chunk:
    sides = []
    for side in zip(*pairs, strict=True):
        sides.append(np.array([id for ids in side for id in ids], np.int64))
        sides.append(np.array([len(ids) for ids in side], np.int64))
    return Chunk(*sides)
