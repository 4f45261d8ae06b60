import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pocketmt.quantization import FixedPoint, fake_quantize
from tests.quantization.every_scheme import random_weight


def test_a_worked_example() -> None:
    # Scale 0.5: -8 .. 7 are -4 .. 3.5; 0.25 lies in the middle of 0 and 0.5 and goes to the lower.
    parameters = {"levels": torch.arange(-8.0, 8.0), "scale": torch.tensor([0.5])}
    weight = torch.tensor([[0.25, 0.26, -9.0, 9.0, -1.1]])
    codes = FixedPoint().assign(weight, parameters)
    assert FixedPoint().decode(codes, parameters).tolist() == [[0.0, 0.5, -4.0, 3.5, -1.0]]


def test_a_fit_by_hand() -> None:
    # From 7.2 / 7: levels 7, 3, -2; then eq. 7 of Aji and Heafield 2020, which keeps these levels.
    weight = torch.tensor([[7.2, 3.3, -2.2]])
    expected = (7 * 7.2 + 3 * 3.3 + 2 * 2.2) / (7**2 + 3**2 + 2**2)
    assert FixedPoint().fit(weight)["scale"].item() == pytest.approx(expected, rel=1e-6)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_the_scale_is_the_best_for_its_assignment(seed: int) -> None:
    weight = random_weight(seed, 3, 7)
    parameters = FixedPoint().fit(weight)
    levels = parameters["levels"][FixedPoint().assign(weight, parameters).long()].double()
    scale = parameters["scale"].double()

    def error(factor: float) -> float:
        return (levels * scale * factor - weight.double()).square().sum().item()

    assert all(error(1.0) <= error(factor) * (1 + 1e-6) for factor in torch.linspace(0.5, 2, 301).tolist())


@given(seed=st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_a_fitted_scale_is_not_worse_than_the_maximum(seed: int) -> None:
    weight = random_weight(seed)
    largest = {"levels": torch.arange(-8.0, 8.0), "scale": (weight.abs().amax() / 7).reshape(1)}
    scheme = FixedPoint()
    by_maximum = scheme.decode(scheme.assign(weight, largest), largest)
    fitted = (fake_quantize(scheme, weight) - weight).square().sum()
    assert fitted <= (by_maximum - weight).square().sum() * (1 + 1e-5)


def test_it_is_stored_as_a_codebook() -> None:
    assert FixedPoint().stored_form() == {"name": "codebook", "bits": 4, "granularity": "matrix"}
