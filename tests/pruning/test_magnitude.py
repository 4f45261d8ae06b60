"""Iterative magnitude pruning: the schedule of the paper, and the selection of the smallest weights."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pocketmt.pruning.magnitude import largest, share_at


def test_the_papers_schedule_from_30_to_50_percent() -> None:
    shares = [share_at(update, 0.3, 0.5, 9, 1001) for update in (0, 1000, 1001, 2001, 2002, 9008, 9009, 10_000)]
    ninth = 0.2 / 9
    expected = [0.3, 0.3, 0.3 + ninth, 0.3 + ninth, 0.3 + 2 * ninth, 0.3 + 8 * ninth, 0.5, 0.5]
    assert shares == pytest.approx(expected)
    assert shares[-1] == 0.5


def test_the_smallest_magnitudes_are_removed() -> None:
    weight = torch.tensor([[0.5, -0.1, 0.0], [-2.0, 0.3, 0.2]])
    assert largest(weight, 0.5).tolist() == [[True, False, False], [True, True, False]]
    assert largest(weight, 0.66).tolist() == [[True, False, False], [True, True, False]]  # 3.96 weights are 3
    assert largest(weight, 0).all()


@given(st.lists(st.floats(-5, 5, width=32), min_size=1, max_size=40), st.floats(0, 0.99))
def test_no_removed_weight_is_larger_than_a_kept_one(values: list[float], share: float) -> None:
    weight = torch.tensor([values])
    kept = largest(weight, share)
    assert int((~kept).sum()) == int(share * len(values))
    assert not (~kept).any() or weight[~kept].abs().max() <= weight[kept].abs().min()


@given(st.integers(0, 30))
def test_zeros_are_removed_first(seed: int) -> None:
    torch.manual_seed(seed)
    weight = torch.randn(6, 7)
    first = largest(weight, 0.3)
    second = largest(weight * first, 0.5)
    assert not (second & ~first).any()
