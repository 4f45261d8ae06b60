"""Translation probabilities of pieces, by IBM model 1 or from given alignments.

Brown et al. 1993, https://aclanthology.org/J93-2003, section 4.1: one source piece of the sentence generates each
target piece, all with the same prior probability; p(target | source) is estimated by expectation maximization.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pocketmt.progress import Progress, no_progress
from pocketmt.text.pair_chunks import Chunk, Integers, PairChunks

Floats = NDArray[np.float64]

ITERATIONS: Final = 5
# Largest number of targets of a source piece, which bounds a table for any text.
MOST_TARGETS: Final = 500
SMALLEST_PROBABILITY: Final = 1e-6  # smaller ones are removed after each iteration
COUNTED_AT_ONCE: Final = 1 << 23  # counts that are kept before they are added up


@dataclass(frozen=True)
class TranslationTable:
    """Non-zero probabilities p(target | source), sorted by source, then target."""

    keys: Integers  # source x target's vocabulary size + target, int64 [entries]
    probabilities: Floats  # float64 [entries]; those of a source piece sum to 1, or to less if entries were removed
    vocabulary_size: int  # of the target

    @property
    def sources(self) -> Integers:
        """The source piece of each entry."""
        return self.keys // self.vocabulary_size

    @property
    def targets(self) -> Integers:
        """The target piece of each entry."""
        return self.keys % self.vocabulary_size

    def top_k(self, k: int) -> "TranslationTable":
        """Return the `k` most probable targets of each source piece; of equal ones, those of the lowest ids."""
        sources = self.sources
        order = np.lexsort((-self.probabilities, sources))
        ranked = sources[order]
        rank = np.arange(len(order)) - np.searchsorted(ranked, ranked)
        return self._of(np.sort(order[rank < k]))

    def above(self, probability: float) -> "TranslationTable":
        """Return the entries above a probability."""
        return self._of(self.probabilities > probability)

    def normalized(self) -> "TranslationTable":
        """Return the table scaled so that the entries of each source piece sum to 1; all sums must be positive."""
        sums = np.bincount(self.sources, self.probabilities)
        return TranslationTable(self.keys, self.probabilities / sums[self.sources], self.vocabulary_size)

    def find(self, keys: Integers) -> tuple[Integers, NDArray[np.bool_]]:
        """Return the index of each key's entry, and whether it exists."""
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return places, self.keys[places] == keys

    def _of(self, entries: Integers | NDArray[np.bool_]) -> "TranslationTable":
        return TranslationTable(self.keys[entries], self.probabilities[entries], self.vocabulary_size)


def estimate(
    chunks: PairChunks,
    vocabulary_size: int,
    iterations: int = ITERATIONS,
    show: Progress = no_progress,
) -> TranslationTable:
    """Estimate p(target | source) by IBM model 1, in memory that depends on the vocabulary but not on the text.

    Args:
        chunks: the text; sources end in EOS, which generates the pieces that no other piece explains.
        vocabulary_size: of the target.
        iterations: number of iterations of expectation maximization, at least 1.
        show: called with (iterations done, iterations in all).
    """
    table = _first_iteration(chunks, vocabulary_size)
    show(1, iterations)
    for done in range(2, iterations + 1):
        counts = np.zeros(len(table.keys))
        for chunk in chunks:
            _add_expected(table, chunk, counts)
        table = TranslationTable(table.keys, counts, vocabulary_size).above(0).normalized()
        table = table.above(SMALLEST_PROBABILITY)
        show(done, iterations)
    return table


def count_links(links: Iterable[tuple[Integers, Integers]], vocabulary_size: int) -> TranslationTable:
    """Return p(target | source) as relative frequencies of links; each item has (source ids, target ids) of links."""
    counts = _Counts(vocabulary_size)
    for source, target in links:
        counts.add(source * vocabulary_size + target, np.ones(len(source)))
    return counts.table().normalized()


def _first_iteration(chunks: PairChunks, vocabulary_size: int) -> TranslationTable:
    """Return the table after the first iteration, in which all source pieces of a sentence are equally probable."""
    counts = _Counts(vocabulary_size)
    for chunk in chunks:
        source, target, cells = chunk.cells()
        counts.add(source * vocabulary_size + target, np.repeat(1 / cells, cells))
    return counts.table().normalized()


def _add_expected(table: TranslationTable, chunk: Chunk, counts: Floats) -> None:
    """Add to each entry the expected number of times that its source piece generated its target piece."""
    source, target, cells = chunk.cells()
    # To look up each distinct pair once, in order, is several times as fast.
    keys, inverse = np.unique(source * table.vocabulary_size + target, return_inverse=True)
    entries, found = table.find(keys)
    likelihoods = np.where(found, table.probabilities[entries], 0.0)[inverse]
    sums = np.add.reduceat(likelihoods, np.cumsum(cells) - cells)
    shares = np.divide(1.0, sums, out=np.zeros_like(sums), where=sums > 0)
    expected = np.bincount(inverse, likelihoods * np.repeat(shares, cells), len(keys))
    counts[entries[found]] += expected[found]


class _Counts:
    """Sums of weights by key; of each source piece, the largest are kept."""

    def __init__(self, vocabulary_size: int) -> None:
        self._sums = TranslationTable(np.zeros(0, np.int64), np.zeros(0), vocabulary_size)
        self._waiting: list[tuple[Integers, Floats]] = []
        self._number = 0

    def add(self, keys: Integers, weights: Floats) -> None:
        distinct, inverse = np.unique(keys, return_inverse=True)
        sums: Floats = np.bincount(inverse, weights, len(distinct)).astype(np.float64)
        self._waiting.append((distinct, sums))
        self._number += len(distinct)
        if self._number > COUNTED_AT_ONCE:
            self._add_up()

    def table(self) -> TranslationTable:
        self._add_up()
        return self._sums

    def _add_up(self) -> None:
        parts = [(self._sums.keys, self._sums.probabilities), *self._waiting]
        keys, inverse = np.unique(np.concatenate([keys for keys, _ in parts]), return_inverse=True)
        weights = np.concatenate([weights for _, weights in parts])
        sums: Floats = np.bincount(inverse, weights, len(keys)).astype(np.float64)
        self._sums = TranslationTable(keys, sums, self._sums.vocabulary_size).top_k(MOST_TARGETS)
        self._waiting, self._number = [], 0
