from itertools import combinations
from typing import Literal

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from pocketmt.quantization import Codebook, fake_quantize
from pocketmt.quantization.codebook import k_means, linear_centroids
from pocketmt.quantization.lookup_table import codebook_parameters
from tests.quantization.every_scheme import random_weight

VALUES = st.lists(st.floats(-10, 10, width=16), min_size=1, max_size=9).map(
    lambda values: torch.tensor(values, dtype=torch.float64)
)


def squared_error(values: Tensor, centroids: Tensor) -> float:
    return (values[:, None] - centroids).square().amin(dim=1).sum().item()


def best_two_means(values: Tensor) -> float:
    """The least sum of squared distances from the means over all divisions of values in two."""
    every = set(range(len(values)))
    return min(
        sum(
            (values[list(part)] - values[list(part)].mean()).square().sum().item()
            for part in (side, every - {*side})
            if part
        )
        for size in range(len(values))
        for side in combinations(every, size)
    )


def test_linear_initialisation() -> None:
    values = torch.tensor([3.0, -1.0, 0.0, 5.0])
    assert linear_centroids(values, 4).tolist() == pytest.approx([-1.0, 1.0, 3.0, 5.0])


def test_k_means_by_hand() -> None:
    # From 0 and 10: {0, 1, 4} and {6, 10}; means 5/3 and 8, midpoint 4.83: the same division.
    values = torch.tensor([10.0, 0.0, 4.0, 1.0, 6.0], dtype=torch.float64)
    assert k_means(values, torch.tensor([0.0, 10.0], dtype=torch.float64)).tolist() == pytest.approx([5 / 3, 8.0])
    # From 0 and 4: {0, 1} and {4, 6, 10} (midpoint 2), which do not change.
    assert k_means(values, torch.tensor([0.0, 4.0], dtype=torch.float64)).tolist() == pytest.approx([0.5, 20 / 3])


@given(values=VALUES, bits=st.integers(1, 3))
@settings(deadline=None)
def test_k_means_is_never_worse_than_its_start_and_converges(values: Tensor, bits: int) -> None:
    start = linear_centroids(values, 2**bits)
    fitted = k_means(values, start)
    assert squared_error(values, fitted) <= squared_error(values, start) + 1e-9
    assert torch.equal(k_means(values, fitted), fitted)
    assert bool((fitted.diff() >= 0).all())


@given(left=VALUES, right=VALUES)
@settings(max_examples=20, deadline=None)
def test_two_clusters_that_are_apart_are_found(left: Tensor, right: Tensor) -> None:
    values = torch.cat([left[:4], right[:4] + 1000])
    assert squared_error(values, k_means(values, linear_centroids(values, 2))) == pytest.approx(best_two_means(values))


@given(seed=st.integers(0, 10**6), bits=st.sampled_from((1, 2, 3, 4)))
@settings(deadline=None)
def test_the_fit_is_k_means_within_the_levels_rounding(seed: int, bits: Literal[1, 2, 3, 4]) -> None:
    values = random_weight(seed).double().flatten()
    parameters = Codebook(bits).fit(random_weight(seed))
    centroids = k_means(values, linear_centroids(values, 2**bits))
    rounding = centroids.abs().amax() / 127
    stored = (parameters["levels"] * parameters["scale"]).double()
    assert bool(((stored - centroids).abs() <= 0.5001 * rounding).all())


def test_more_bits_are_better() -> None:
    weight = random_weight(1, 20, 100)
    widths: tuple[Literal[1, 2, 3, 4, 8], ...] = (1, 2, 3, 4, 8)
    errors = [(fake_quantize(Codebook(bits), weight) - weight).square().sum().item() for bits in widths]
    assert errors == sorted(errors, reverse=True)


def test_a_weight_between_two_centroids_goes_to_the_nearest_whatever_their_order() -> None:
    """Trained centroids may pass each other."""
    parameters = {"levels": torch.tensor([4.0, -2.0, 10.0, 0.0]), "scale": torch.tensor([0.5])}  # 2, -1, 5, 0
    codes = Codebook(2).assign(torch.tensor([[1.1, 0.9, -0.6, 9.0, 3.5, -0.5]]), parameters)
    assert codes.tolist() == [[0, 3, 1, 2, 0, 1]]  # 3.5 and -0.5 lie in the middle: the lower


def test_a_centroids_gradient_is_the_sum_over_its_weights() -> None:
    """Through the rounding to stored levels (Cheong and Daniel 2019, section 3.1.1)."""
    centroids = torch.tensor([-1.0, 0.013, 2.0, 0.7], requires_grad=True)
    codes = torch.tensor([[0, 1, 1], [2, 0, 1]])
    above = torch.tensor([[1.0, 2.0, 4.0], [8.0, 16.0, 32.0]])
    decoded = Codebook(2).decode(codes, codebook_parameters(centroids))
    (gradient,) = torch.autograd.grad((decoded * above).sum(), centroids)
    assert gradient.tolist() == pytest.approx([1 + 16, 2 + 4 + 32, 8, 0], rel=1e-6)


@given(values=st.lists(st.floats(-100, 100, width=32), min_size=4, max_size=4))
def test_centroids_become_whole_levels_of_a_scale(values: list[float]) -> None:
    parameters = codebook_parameters(torch.tensor(values, requires_grad=True))
    levels, scale = parameters["levels"].detach(), parameters["scale"]
    assert torch.equal(codebook_parameters(torch.tensor(values))["levels"], levels.round())
    largest = max(map(abs, values))
    assert bool(((levels * scale - torch.tensor(values)).abs() <= largest / 254 * 1.001).all())


def test_equal_weights_share_one_level() -> None:
    weight = torch.full((2, 3), -0.3)
    assert torch.allclose(fake_quantize(Codebook(4), weight), weight, rtol=1e-6)
