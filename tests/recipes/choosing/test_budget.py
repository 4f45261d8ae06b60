"""Allocation under a budget, against all allocations."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pocketmt.errors import ConfigurationError
from pocketmt.recipes.choosing.budget import Choice, least_damage, least_size, pareto_frontier

CHOICE = st.tuples(st.integers(1, 30), st.integers(-2, 30))
PARTS = st.lists(st.lists(CHOICE, min_size=1, max_size=4), min_size=1, max_size=4)


def _parts(numbers: list[list[tuple[int, int]]]) -> dict[str, list[Choice]]:
    # Whole damages, so that sums are the same in any order.
    return {
        f"part {index}": [Choice(str(place), size, float(damage)) for place, (size, damage) in enumerate(choices)]
        for index, choices in enumerate(numbers)
    }


def _all(parts: dict[str, list[Choice]]) -> list[tuple[int, float]]:
    """Every allocation's size and damage."""
    return [
        (sum(choice.size for choice in chosen), sum(choice.damage for choice in chosen))
        for chosen in product(*parts.values())
    ]


@given(PARTS, st.integers(0, 120))
def test_least_damage_is_that_of_all_allocations_that_fit(numbers: list[list[tuple[int, int]]], size: int) -> None:
    parts = _parts(numbers)
    fitting = [damage for taken, damage in _all(parts) if taken <= size]
    if not fitting:
        with pytest.raises(ConfigurationError, match=f"take {min(taken for taken, _ in _all(parts))} at the least"):
            least_damage(parts, size)
        return
    found = least_damage(parts, size)
    assert found.size <= size
    assert found.damage == min(fitting)
    assert found.choices.keys() == parts.keys()
    assert found.size == sum(choice.size for choice in found.choices.values())
    assert found.damage == sum(choice.damage for choice in found.choices.values())


@given(PARTS, st.integers(-8, 120))
def test_least_size_is_that_of_all_allocations_that_are_tolerated(
    numbers: list[list[tuple[int, int]]], damage: int
) -> None:
    parts = _parts(numbers)
    tolerated = [taken for taken, done in _all(parts) if done <= damage]
    if not tolerated:
        with pytest.raises(ConfigurationError, match="the least is"):
            least_size(parts, damage)
        return
    assert least_size(parts, damage).size == min(tolerated)


@given(PARTS)
def test_no_allocation_is_smaller_and_better_than_one_of_the_frontier(numbers: list[list[tuple[int, int]]]) -> None:
    parts = _parts(numbers)
    frontier = [(each.size, each.damage) for each in pareto_frontier(parts)]
    assert frontier == sorted(frontier)
    for size, damage in _all(parts):
        assert any(mine <= size and done <= damage for mine, done in frontier)


def test_bits_go_where_they_help_most() -> None:
    parts = {
        "encoder": [Choice("1 bit", 10, 0.5), Choice("4 bit", 40, 0.1)],
        "decoder": [Choice("1 bit", 10, 0.05), Choice("4 bit", 40, 0.01)],
    }
    found = least_damage(parts, 55)
    assert {part: choice.name for part, choice in found.choices.items()} == {"encoder": "4 bit", "decoder": "1 bit"}
    with pytest.raises(ConfigurationError, match="20 at the least"):
        least_damage(parts, 19)


def test_a_part_without_choices_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="decoder: there is no way"):
        pareto_frontier({"encoder": [Choice("x", 1, 0.0)], "decoder": []})
