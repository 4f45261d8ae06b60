import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pocketmt.errors import DataError
from pocketmt.text.batching import make_batches

BUDGET = 60
lengths = st.lists(st.tuples(st.integers(1, BUDGET), st.integers(1, BUDGET)), max_size=60)
seeds = st.integers(0, 2**32)


def cost(batch: list[int], lengths: list[tuple[int, int]]) -> int:
    return len(batch) * max(max(lengths[index]) for index in batch)


@given(lengths, seeds)
def test_every_pair_is_in_exactly_one_batch(lengths: list[tuple[int, int]], seed: int) -> None:
    batches = make_batches(lengths, BUDGET, seed)
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    assert all(batches)


@given(lengths, seeds)
def test_no_batch_is_over_the_budget(lengths: list[tuple[int, int]], seed: int) -> None:
    assert all(cost(batch, lengths) <= BUDGET for batch in make_batches(lengths, BUDGET, seed))


@given(lengths, seeds)
def test_the_seed_decides_the_batches(lengths: list[tuple[int, int]], seed: int) -> None:
    assert make_batches(lengths, BUDGET, seed) == make_batches(lengths, BUDGET, seed)


def test_another_seed_gives_another_order_and_other_neighbours() -> None:
    lengths = [(5, 5)] * 100
    first, second = make_batches(lengths, 50, 1), make_batches(lengths, 50, 2)
    assert first != second
    assert {frozenset(batch) for batch in first} != {frozenset(batch) for batch in second}


@given(lengths, seeds)
def test_batches_hold_neighbours_in_target_length(lengths: list[tuple[int, int]], seed: int) -> None:
    ranges = sorted(
        (min(lengths[index][1] for index in batch), max(lengths[index][1] for index in batch))
        for batch in make_batches(lengths, BUDGET, seed)
    )
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(ranges))


@given(st.integers(1, BUDGET), st.integers(1, 200), seeds)
def test_batches_are_full(length: int, count: int, seed: int) -> None:
    in_one = BUDGET // length
    assert len(make_batches([(length, length)] * count, BUDGET, seed)) == -(-count // in_one)


def test_little_is_padded() -> None:
    lengths = [(1 + number * 7919 % 40, 1 + number * 7919 % 40) for number in range(2000)]
    batches = make_batches(lengths, 800, 1)
    assert sum(cost(batch, lengths) for batch in batches) < 1.1 * sum(max(pair) for pair in lengths)


def test_batches_do_not_come_in_order_of_length() -> None:
    lengths = [(number, number) for number in range(1, 101)]
    longest = [max(lengths[index][1] for index in batch) for batch in make_batches(lengths, 100, 1)]
    assert longest != sorted(longest)


def test_nothing_gives_no_batches() -> None:
    assert make_batches([], BUDGET, 1) == []


@pytest.mark.parametrize("pair", [(BUDGET + 1, 1), (1, BUDGET + 1)])
def test_the_longest_pair_over_the_budget_is_reported(pair: tuple[int, int]) -> None:
    with pytest.raises(DataError, match=f"the longest sentence pair has {BUDGET + 1} tokens"):
        make_batches([(1, 1), pair], BUDGET, 1)


def test_a_pair_over_the_budget_is_refused_or_alone() -> None:
    lengths = [(5, 5)] * 20 + [(3, 90)] + [(61, 2)]
    with pytest.raises(DataError) as error:
        make_batches(lengths, BUDGET, 1)
    # Pairs have no numbers here that the user knows: cleaning left some out, and others are repeated.
    assert str(error.value) == (
        "the longest sentence pair has 90 tokens, more than a batch may hold (60): raise batch_tokens to 90, or lower "
        "maximum_length below 60"
    )
    batches = make_batches(lengths, BUDGET, 1, longer_alone=True)
    assert [20] in batches and [21] in batches
    assert sorted(index for batch in batches for index in batch) == list(range(22))
