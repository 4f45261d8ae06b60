"""Encoded pairs are what they were made from, in few bytes."""

import random

import pytest

from pocketmt.text.encoded_pairs import EncodedPairs


def test_pairs_are_what_they_were_made_from() -> None:
    pairs = [([5, 6], [7]), ([], [32_000, 2**31 - 1]), ([8], [])]
    stored = EncodedPairs(iter(pairs))
    assert list(stored) == pairs
    assert len(stored) == 3
    assert (stored[0], stored[-1]) == (pairs[0], pairs[2])
    assert stored[1:] == pairs[1:]
    assert random.Random(1).sample(stored, 2) == random.Random(1).sample(pairs, 2)
    assert not EncodedPairs([])
    with pytest.raises(IndexError):
        stored[3]
    with pytest.raises(OverflowError):
        EncodedPairs([([2**31], [])])


def test_a_piece_takes_four_bytes() -> None:
    pairs = [(list(range(1000, 1030)), list(range(2000, 2034)))] * 500
    assert EncodedPairs(pairs).bytes == 4 * 64 * 500 + 8 * (2 * 500 + 1)
