import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pocketmt.errors import ConfigurationError
from pocketmt.quantization import Codebook, FixedBinarization, FlexibleBinarization
from pocketmt.quantization.lookup_table import codebook_parameters
from tests.quantization.every_scheme import random_weight


def test_fixed_binarization_follows_the_sign() -> None:
    """Cheong and Daniel 2019, eq. 1: c1 above 0, else c2, even if the other value is nearer."""
    scheme = FixedBinarization((127.0, -10.0))
    weight = torch.tensor([[0.1, -0.0, 0.0, -5.0, 3.0]])
    parameters = scheme.fit(weight)
    assert scheme.assign(weight, parameters).tolist() == [[1, 0, 0, 0, 1]]
    assert scheme.decode(scheme.assign(weight, parameters), parameters).tolist() == [
        [127.0, -10.0, -10.0, -10.0, 127.0]
    ]


@given(seed=st.integers(0, 10**6))
@settings(deadline=None)
def test_fixed_binarization_fits_the_best_values_for_the_signs(seed: int) -> None:
    weight = random_weight(seed)
    parameters = FixedBinarization().fit(weight)
    low, high = (parameters["levels"] * parameters["scale"]).tolist()
    grid = torch.linspace(-3, 3, 601)
    for value, side in ((low, weight[weight <= 0]), (high, weight[weight > 0])):
        least = (grid[:, None] - side).square().mean(dim=1).amin()
        assert (value - side).square().mean() <= least + (
            max(abs(low), abs(high)) / 254
        ) ** 2 + 1e-5  # levels' rounding


def test_flexible_binarization_follows_the_midpoint() -> None:
    """Cheong and Daniel 2019, eq. 2 with c1 = 3 and c2 = -1: the midpoint 1 belongs to c2."""
    parameters = {"levels": torch.tensor([-1.0, 3.0]), "scale": torch.tensor([1.0])}
    weight = torch.tensor([[1.0, 1.1, -7.0, 0.9, 9.0]])
    assert FlexibleBinarization().assign(weight, parameters).tolist() == [[0, 1, 0, 0, 1]]


@given(seed=st.integers(0, 10**6))
@settings(deadline=None)
def test_the_fit_of_flexible_binarization_is_two_means(seed: int) -> None:
    """Fit and codes are those of a codebook of one bit; they part when weights are trained."""
    weight = random_weight(seed)
    flexible, codebook = FlexibleBinarization(), Codebook(1)
    parameters, expected = flexible.fit(weight), codebook.fit(weight)
    assert torch.equal(parameters["levels"], expected["levels"])
    assert torch.equal(parameters["scale"], expected["scale"])
    assert torch.equal(flexible.assign(weight, parameters), codebook.assign(weight, expected))


def test_the_values_gradient_is_the_sum_over_their_weights() -> None:
    centroids = torch.tensor([-0.4, 0.6], requires_grad=True)
    scheme = FlexibleBinarization()
    codes = scheme.assign(torch.tensor([[0.2, -1.0, 0.3]]), codebook_parameters(centroids))
    decoded = scheme.decode(codes, codebook_parameters(centroids))
    (gradient,) = torch.autograd.grad((decoded * torch.tensor([[1.0, 2.0, 4.0]])).sum(), centroids)
    assert gradient.tolist() == pytest.approx([2, 5], rel=1e-6)


@pytest.mark.parametrize("values", [(float("nan"), 0.0), (1.0, float("inf"))])
def test_values_that_are_not_finite_are_refused(values: tuple[float, float]) -> None:
    with pytest.raises(ConfigurationError, match="expected two finite numbers"):
        FixedBinarization(values)
