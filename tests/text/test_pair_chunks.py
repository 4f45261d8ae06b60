"""Sentence pairs in a file, and their pairs of pieces."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pocketmt.errors import DataError
from pocketmt.text import pair_chunks
from pocketmt.text.pair_chunks import LONGEST, Chunk, PairChunks

PIECES = 30
sentences = st.lists(st.integers(0, PIECES - 1), max_size=8)


def pairs_of(chunk: Chunk) -> list[tuple[list[int], list[int]]]:
    sides = [
        [each.tolist() for each in np.split(ids, np.cumsum(lengths)[:-1])]
        for ids, lengths in ((chunk.source, chunk.source_lengths), (chunk.target, chunk.target_lengths))
    ]
    return list(zip(*sides, strict=True))


@given(st.lists(st.tuples(sentences, sentences), max_size=20), st.sampled_from([1, 40, 10**6]))
def test_pairs_can_be_read_repeatedly_in_their_order(
    pairs: list[tuple[list[int], list[int]]], cells_at_once: int
) -> None:
    kept = [pair for pair in pairs if all(pair)]
    if not kept:
        with pytest.raises(DataError, match="no sentence pair"):
            PairChunks(pairs, PIECES)
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pair_chunks, "CELLS_AT_ONCE", cells_at_once)
        with PairChunks(iter(pairs), PIECES) as chunks:
            for _ in range(2):
                assert [pair for chunk in chunks for pair in pairs_of(chunk)] == kept
            assert chunks.pairs == len(kept)
            assert chunks.target_counts.tolist() == [sum(ids.count(id) for _, ids in kept) for id in range(PIECES)]


def test_long_lines_are_left_out() -> None:
    with PairChunks(
        [([5] * (LONGEST + 1), [6]), ([5] * LONGEST, [6, 7]), ([5], [6] * (LONGEST + 1))], PIECES
    ) as chunks:
        assert [pair for chunk in chunks for pair in pairs_of(chunk)] == [([5] * LONGEST, [6, 7])]


def test_cells() -> None:
    chunk = Chunk(*(np.array(each) for each in ([1, 2, 9], [2, 1], [5, 6, 7], [2, 1])))  # (1 2, 5 6) and (9, 7)
    source, target, counts = chunk.cells()
    assert list(zip(source, target, strict=True)) == [(1, 5), (2, 5), (1, 6), (2, 6), (9, 7)]
    assert counts.tolist() == [2, 2, 1]


def test_the_file_is_deleted_after_the_block() -> None:
    with PairChunks([([5], [6])], PIECES) as chunks:
        pass
    with pytest.raises(ValueError, match="closed"):
        next(iter(chunks))
