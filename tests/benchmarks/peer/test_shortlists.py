"""The same shortlists for all engines."""

import math
import random
from itertools import islice

import pytest

from benchmarks.peer.shortlists import listed_share, marian_table, random_shortlist, zipf_pieces
from pocketmt.errors import ConfigurationError
from pocketmt.model_file.shortlist_encoding import Shortlist

PIECES = ["<pad>", "<s>", "</s>", "<unk>", "a", "b", "c", "d"]
# a and b in every list; c may become c or d, and d may become d.
LISTS = Shortlist([4, 5], [[], [], [], [], [], [], [6, 7], [7]])


def test_random_lists_have_the_usual_lengths_and_are_reproducible() -> None:
    lists = random_shortlist(400, 1)
    assert list(lists.frequent) == list(range(4, 104))
    assert {len(targets) for targets in lists.targets[4:]} == {50}
    assert not any(lists.targets[:4])
    # Special and frequent pieces, and fifty for each of two words, some of them of both.
    assert 104 + 50 < len(lists.pieces([7, 200])) <= 104 + 100
    assert lists.targets == random_shortlist(400, 1).targets != random_shortlist(400, 2).targets


def test_the_table_for_marian_has_target_source_and_probability() -> None:
    table, first, likeliest = marian_table(LISTS, PIECES)
    assert table == "c c 0.500000\nd c 0.500000\nd d 1.000000\n"
    assert (first, likeliest) == (6, 2)


@pytest.mark.parametrize(
    "lists", [Shortlist([5], [[]] * 8), Shortlist([4, 6], [[]] * 8), Shortlist([4], [[], [], [7], *[[]] * 5])]
)
def test_lists_that_marian_does_not_support_are_refused(lists: Shortlist) -> None:
    with pytest.raises(ConfigurationError, match="first pieces"):
        marian_table(lists, PIECES)


def test_sentences_and_lists_follow_zipfs_law() -> None:
    pieces = list(islice(zipf_pieces(10, 1_010, 1.1, random.Random(1)), 200_000))
    weights = [rank**-1.1 for rank in range(1, 1_001)]
    for rank in (1, 10, 100):
        expected = 200_000 * weights[rank - 1] / sum(weights)
        assert abs(pieces.count(9 + rank) - expected) < 6 * math.sqrt(expected)
    assert min(pieces) >= 10 and max(pieces) < 1_010


def test_the_share_of_listed_pieces_is_the_mean_over_batches() -> None:
    shortlist = Shortlist([4], [[], [], [], [], [], [6, 7], [7, 8], [9], [], []])
    special = len(shortlist.sides.special)
    sentences = [[5], [6], [7]]
    assert listed_share(shortlist, sentences, 1) == pytest.approx((special + 1 + (2 + 2 + 1) / 3) / 10)
    assert listed_share(shortlist, sentences, 2) == pytest.approx((special + 1 + (3 + 1) / 2) / 10)
