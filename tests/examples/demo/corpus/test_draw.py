import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples.demo.corpus.draw import Draw

seeds = st.integers(0, 2**32)


def test_the_stream_is_fixed() -> None:
    draw = Draw(1)
    assert [draw.below(100) for _ in range(10)] == [13, 84, 76, 25, 49, 44, 65, 78, 9, 2]


@given(seeds, st.integers(-50, 50), st.integers(0, 50))
def test_between_holds_both_ends(seed: int, first: int, width: int) -> None:
    assert first <= Draw(seed).between(first, first + width) <= first + width


@given(seeds)
def test_everything_is_drawn_in_the_long_run(seed: int) -> None:
    draw = Draw(seed)
    assert {draw.choose("abc") for _ in range(200)} == set("abc")
    assert {draw.between(2, 4) for _ in range(200)} == {2, 3, 4}


def test_weights() -> None:
    draw = Draw(2)
    drawn = [draw.weighted((("often", 9), ("never", 0), ("rarely", 1))) for _ in range(5000)]
    assert drawn.count("never") == 0
    assert 0.07 < drawn.count("rarely") / len(drawn) < 0.13


def test_no_weight_is_an_error() -> None:
    with pytest.raises(ValueError, match="positive"):
        Draw(1).weighted((("a", 0),))


@given(seeds, st.lists(st.integers()))
def test_shuffle_keeps_what_there_is(seed: int, items: list[int]) -> None:
    shuffled = list(items)
    Draw(seed).shuffle(shuffled)
    assert sorted(shuffled) == sorted(items)


def test_every_order_is_possible() -> None:
    draw, orders = Draw(3), set()
    for _ in range(300):
        items = [1, 2, 3]
        draw.shuffle(items)
        orders.add(tuple(items))
    assert len(orders) == 6
