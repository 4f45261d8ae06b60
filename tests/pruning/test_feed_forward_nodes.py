"""Selection of feed-forward nodes to prune: worked examples, and comparison with the definitions."""

import statistics

import torch
from hypothesis import given
from hypothesis import strategies as st

from pocketmt.pruning.feed_forward_nodes import above_lowest, above_threshold, running_maxima, weight_norms

MAXIMA = st.lists(st.floats(0, 100, width=32), min_size=1, max_size=30)


def test_the_running_maximum_moves_a_tenth_of_the_way_to_each_batch() -> None:
    first = running_maxima(None, torch.tensor([[0.0, 2.0, 1.0], [4.0, 0.0, 1.0]]))
    assert first.tolist() == [4, 2, 1]
    second = running_maxima(first, torch.tensor([[0.0, 0.0, 11.0]]))
    torch.testing.assert_close(second, torch.tensor([3.6, 1.8, 2.0]))


def test_nodes_with_a_maximum_below_z_sigma_are_removed() -> None:
    # Mean 3, sigma 3: deviations -3, -3 and 6, squares 9, 9 and 36, of four nodes with one at the mean: sqrt(54 / 4).
    maxima = torch.tensor([0.0, 0.0, 9.0, 3.0])
    sigma = 13.5**0.5
    assert above_threshold(maxima, 0.1).tolist() == [False, False, True, True]
    assert above_threshold(maxima, 3 / sigma - 1e-3).tolist() == [False, False, True, True]
    assert above_threshold(maxima, 3 / sigma + 1e-3).tolist() == [False, False, True, False]


@given(MAXIMA, st.floats(0.001, 2))
def test_the_threshold_is_the_papers(maxima: list[float], z: float) -> None:
    values = torch.tensor(maxima, dtype=torch.float64)
    bound = z * statistics.pstdev(maxima)
    for value, kept in zip(maxima, above_threshold(values, z).tolist(), strict=True):
        assert abs(value - bound) < 1e-9 * (1 + bound) or kept == (value >= bound)


def test_equal_nodes_all_stay() -> None:
    assert above_threshold(torch.full((5,), 0.3), 0.025).all()
    assert above_threshold(torch.zeros(5), 0.025).all()


@given(MAXIMA, st.floats(0, 0.99))
def test_a_share_of_the_lowest_is_removed(values: list[float], ratio: float) -> None:
    kept = above_lowest(torch.tensor(values), ratio).tolist()
    assert kept.count(False) == int(ratio * len(values))
    stay = [value for value, each in zip(values, kept, strict=True) if each]
    go = [value for value, each in zip(values, kept, strict=True) if not each]
    assert not go or max(go) <= min(stay)


def test_of_equal_values_the_first_are_removed() -> None:
    assert above_lowest(torch.tensor([1.0, 0.0, 1.0, 0.0, 1.0]), 0.6).tolist() == [False, False, True, False, True]


def test_the_norm_includes_incoming_and_outgoing_weights() -> None:
    inner = torch.tensor([[1.0, -2.0], [0.0, 0.5], [0.0, 0.0]])
    outer = torch.tensor([[-1.0, 0.0, 4.0]])
    assert weight_norms(inner, outer).tolist() == [4.0, 0.5, 4.0]
