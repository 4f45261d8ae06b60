"""Which target pieces are likely beside each source piece: IBM model 1, or what other tools aligned.

Brown et al. 1993, https://aclanthology.org/J93-2003, section 4.1: every target piece is made by one source piece of its
sentence, all equally likely beforehand; p(target | source) is what expectation maximization makes most likely.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pocketmt.text.pair_chunks import Chunk, Integers, PairChunks

Floats = NDArray[np.float64]

ITERATIONS: Final = 5
# Of one source piece: a table has at most so many entries times the vocabulary, whatever the text.
MOST_COUNTED: Final = 500
SMALLEST_PROBABILITY: Final = 1e-6  # smaller ones are left out after each iteration
COUNTED_AT_ONCE: Final = 1 << 23  # counts that wait to be added up


@dataclass(frozen=True)
class TranslationTable:
    """p(target | source) of the pairs that have one, ordered by source, then target.

    Attributes:
        keys: source x vocabulary size + target, int64 [entries].
        probabilities: float64 [entries]; those of a source piece sum to 1, but for what was left out.
        vocabulary_size: of the joint vocabulary.
    """

    keys: Integers
    probabilities: Floats
    vocabulary_size: int

    @property
    def sources(self) -> Integers:
        """The source piece of each entry."""
        return self.keys // self.vocabulary_size

    @property
    def targets(self) -> Integers:
        """The target piece of each entry."""
        return self.keys % self.vocabulary_size

    def likeliest(self, most: int) -> "TranslationTable":
        """Return the `most` likeliest targets of each source piece; ties: those of the lowest ids."""
        sources = self.sources
        order = np.lexsort((-self.probabilities, sources))
        ranked = sources[order]
        rank = np.arange(len(order)) - np.searchsorted(ranked, ranked)
        return self._of(np.sort(order[rank < most]))

    def likelier(self, than: float) -> "TranslationTable":
        """Return the entries of more than a probability."""
        return self._of(self.probabilities > than)

    def normalized(self) -> "TranslationTable":
        """Return the table whose entries sum to 1 for each source piece; each must have a sum above 0."""
        sums = np.bincount(self.sources, self.probabilities, self.vocabulary_size)
        return TranslationTable(self.keys, self.probabilities / sums[self.sources], self.vocabulary_size)

    def of(self, keys: Integers) -> tuple[Integers, NDArray[np.bool_]]:
        """Return the entry of each key, and whether there is one."""
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return places, self.keys[places] == keys

    def _of(self, entries: Integers | NDArray[np.bool_]) -> "TranslationTable":
        return TranslationTable(self.keys[entries], self.probabilities[entries], self.vocabulary_size)


def estimate(
    chunks: PairChunks,
    vocabulary_size: int,
    iterations: int = ITERATIONS,
    show: Callable[[int, int], None] = lambda done, total: None,
) -> TranslationTable:
    """Estimate p(target | source) by IBM model 1; memory is bounded by the vocabulary, not by the text.

    Args:
        chunks: the text; sources end in eos, which so makes what no other piece explains.
        vocabulary_size: of the joint vocabulary.
        iterations: of expectation maximization, at least 1.
        show: is told (iterations done, of how many).
    """
    table = _first_iteration(chunks, vocabulary_size)
    show(1, iterations)
    for done in range(2, iterations + 1):
        counts = np.zeros(len(table.keys))
        for chunk in chunks:
            _add_expected(table, chunk, counts)
        table = TranslationTable(table.keys, counts, vocabulary_size).likelier(0).normalized()
        table = table.likelier(SMALLEST_PROBABILITY)
        show(done, iterations)
    return table


def count_links(links: Iterable[tuple[Integers, Integers]], vocabulary_size: int) -> TranslationTable:
    """Return p(target | source) by how often pieces are linked: (source ids, target ids) of linked pieces."""
    counts = _Counts(vocabulary_size)
    for source, target in links:
        counts.add(source * vocabulary_size + target, np.ones(len(source)))
    return counts.table().normalized()


def _first_iteration(chunks: PairChunks, vocabulary_size: int) -> TranslationTable:
    """All source pieces of a sentence are equally likely to have made a target piece."""
    counts = _Counts(vocabulary_size)
    for chunk in chunks:
        source, target, cells = chunk.cells()
        counts.add(source * vocabulary_size + target, np.repeat(1 / cells, cells))
    return counts.table().normalized()


def _add_expected(table: TranslationTable, chunk: Chunk, counts: Floats) -> None:
    """Add to each entry how often its source piece is expected to have made its target piece."""
    source, target, cells = chunk.cells()
    # Each distinct pair is looked up once, in order, which is several times as fast.
    keys, inverse = np.unique(source * table.vocabulary_size + target, return_inverse=True)
    entries, found = table.of(keys)
    likelihoods = np.where(found, table.probabilities[entries], 0.0)[inverse]
    sums = np.add.reduceat(likelihoods, np.cumsum(cells) - cells)
    shares = np.divide(1.0, sums, out=np.zeros_like(sums), where=sums > 0)
    expected = np.bincount(inverse, likelihoods * np.repeat(shares, cells), len(keys))
    counts[entries[found]] += expected[found]


class _Counts:
    """Sums of weights by key, of which each source piece keeps the largest."""

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
        self._sums = TranslationTable(keys, sums, self._sums.vocabulary_size).likeliest(MOST_COUNTED)
        self._waiting, self._number = [], 0
