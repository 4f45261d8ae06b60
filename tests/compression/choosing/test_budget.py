"""Allocation under a budget, compared with an exhaustive search."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pocketmt.compression.choosing.budget import Choice, least_loss_increase, least_size, pareto_frontier
from pocketmt.errors import ConfigurationError

CHOICE = st.tuples(st.integers(1, 30), st.integers(-2, 30))
PARTS = st.lists(st.lists(CHOICE, min_size=1, max_size=4), min_size=1, max_size=4)


def _parts(numbers: list[list[tuple[int, int]]]) -> dict[str, list[Choice]]:
    # Whole numbers, so that sums are the same in any order.
    return {
        f"part {index}": [Choice(str(place), size, float(increase)) for place, (size, increase) in enumerate(choices)]
        for index, choices in enumerate(numbers)
    }


def _all(parts: dict[str, list[Choice]]) -> list[tuple[int, float]]:
    """The size and the loss increase of every allocation."""
    return [
        (sum(choice.size for choice in chosen), sum(choice.loss_increase for choice in chosen))
        for chosen in product(*parts.values())
    ]


@given(PARTS, st.integers(0, 120))
def test_least_loss_increase_equals_that_of_an_exhaustive_search(
    numbers: list[list[tuple[int, int]]], size: int
) -> None:
    parts = _parts(numbers)
    fitting = [increase for taken, increase in _all(parts) if taken <= size]
    if not fitting:
        with pytest.raises(ConfigurationError, match=f"need at least {min(taken for taken, _ in _all(parts))}"):
            least_loss_increase(parts, size)
        return
    found = least_loss_increase(parts, size)
    assert found.size <= size
    assert found.loss_increase == min(fitting)
    assert found.choices.keys() == parts.keys()
    assert found.size == sum(choice.size for choice in found.choices.values())
    assert found.loss_increase == sum(choice.loss_increase for choice in found.choices.values())


@given(PARTS, st.integers(-8, 120))
def test_least_size_equals_that_of_an_exhaustive_search(numbers: list[list[tuple[int, int]]], increase: int) -> None:
    parts = _parts(numbers)
    tolerated = [taken for taken, done in _all(parts) if done <= increase]
    if not tolerated:
        with pytest.raises(ConfigurationError, match="the smallest is"):
            least_size(parts, increase)
        return
    assert least_size(parts, increase).size == min(tolerated)


@given(PARTS)
def test_no_allocation_dominates_the_frontier(numbers: list[list[tuple[int, int]]]) -> None:
    parts = _parts(numbers)
    frontier = [(each.size, each.loss_increase) for each in pareto_frontier(parts)]
    assert frontier == sorted(frontier)
    for size, increase in _all(parts):
        assert any(mine <= size and done <= increase for mine, done in frontier)


def test_bits_are_given_to_the_most_sensitive_part() -> None:
    parts = {
        "encoder": [Choice("1 bit", 10, 0.5), Choice("4 bit", 40, 0.1)],
        "decoder": [Choice("1 bit", 10, 0.05), Choice("4 bit", 40, 0.01)],
    }
    found = least_loss_increase(parts, 55)
    assert {part: choice.name for part, choice in found.choices.items()} == {"encoder": "4 bit", "decoder": "1 bit"}
    with pytest.raises(ConfigurationError, match="need at least 20"):
        least_loss_increase(parts, 19)


def test_a_part_without_choices_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="decoder: no way"):
        pareto_frontier({"encoder": [Choice("x", 1, 0.0)], "decoder": []})
