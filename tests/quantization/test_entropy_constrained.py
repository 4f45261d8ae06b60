import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from pocketmt.errors import ConfigurationError
from pocketmt.quantization import EntropyConstrained, FixedPoint, fake_quantize, scheme_from_options
from tests.quantization.every_scheme import random_weight


def entropy(codes: Tensor) -> float:
    """The entropy of codes by the definition."""
    flat: list[int] = codes.flatten().tolist()
    shares = [flat.count(code) / len(flat) for code in set(flat)]
    return -sum(share * math.log2(share) for share in shares)


def test_a_worked_example() -> None:
    # With a step from 1 to 4 codes are -1 or -2, 0, and 1 or 2, of shares 1/8, 6/8 and 1/8: 1.06 bits. With a smaller
    # one 0.5, too, is nearer to another level than to 0: four codes, 1.55 bits.
    weight = torch.tensor([[2.0, -2.0, 0.4, 0.45, -0.4, -0.45, 0.5, -0.48]])
    scheme = EntropyConstrained(rate=1.1, bits=3)
    parameters = scheme.fit(weight)
    assert parameters["scale"].item() == pytest.approx(1 / 16, rel=1e-6)
    # A code's value is the mean of its weights, 0.02 / 6 for the middle one; those without any are even.
    assert parameters["levels"].tolist() == [-64, -48, -32, -16, 0, 16, 32, 48]
    assert scheme.assign(weight, parameters).tolist() == [[6, 2, 4, 4, 4, 4, 4, 4]]


def test_values_are_means_within_the_boundaries() -> None:
    # 0.9 and 0.7 are nearer to 1 than to 0 and 2; their mean is 0.8 = 12.8 / 16 steps.
    scheme = EntropyConstrained(rate=1.6, bits=2)
    weight = torch.tensor([[0.0, 0.1, -0.1, 0.0, 0.9, 0.7, -1.0, 1.4]])
    levels = torch.tensor([0.0] * 4)
    codes = scheme.assign(weight, {"levels": levels, "scale": torch.tensor([1 / 16])})
    assert codes.tolist() == [[2, 2, 2, 2, 3, 3, 1, 3]]
    fitted = scheme.fit(weight)
    step = fitted["scale"].item() * 16
    assert fitted["levels"][3].item() == round(16 * weight[weight > step / 2].mean().item() / step)


@given(seed=st.integers(0, 10**6), rate=st.floats(0.2, 3.5))
@settings(max_examples=60, deadline=None)
def test_codes_are_within_the_rate_and_a_smaller_step_is_not(seed: int, rate: float) -> None:
    weight = random_weight(seed, 12, 40)
    scheme = EntropyConstrained(rate=rate)
    parameters = scheme.fit(weight)
    assert entropy(scheme.assign(weight, parameters)) <= rate + 1e-9
    smaller = {**parameters, "scale": parameters["scale"] * (1 - 1e-5)}
    fitted = FixedPoint().fit(weight)["scale"]
    if parameters["scale"] * 16 > fitted * (1 + 1e-6):
        assert entropy(scheme.assign(weight, smaller)) > rate
    else:
        assert torch.equal(parameters["scale"] * 16, fitted)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_a_higher_rate_has_a_smaller_error(seed: int) -> None:
    weight = torch.randn(20, 50, generator=torch.Generator().manual_seed(seed))
    errors = [
        (fake_quantize(EntropyConstrained(rate=rate), weight) - weight).square().mean().item()
        for rate in (0.5, 1.0, 1.5, 2.0, 2.5)
    ]
    assert errors == sorted(errors, reverse=True)


def test_the_error_is_smaller_than_that_of_a_codebook_of_equal_entropy() -> None:
    # k-means has the least error for a number of codes, not for their entropy.
    weight = torch.randn(64, 64, generator=torch.Generator().manual_seed(1))
    codebook = scheme_from_options("codebook", bits=2)
    codes = codebook.assign(weight, codebook.fit(weight))
    ours = fake_quantize(EntropyConstrained(rate=entropy(codes)), weight)
    assert (ours - weight).square().mean() < 0.93 * (fake_quantize(codebook, weight) - weight).square().mean()


@pytest.mark.parametrize("value", [0.0, 3.0, -2.5])
def test_equal_weights_are_represented_exactly(value: float) -> None:
    weight = torch.full((3, 5), value)
    assert torch.allclose(fake_quantize(EntropyConstrained(rate=0.5), weight), weight)


@pytest.mark.parametrize("rate", [0, -1.0, 4.5, math.nan, "2", True])
def test_an_impossible_rate_is_refused(rate: object) -> None:
    with pytest.raises(ConfigurationError, match="expected a number of bits above 0 and at most 4"):
        scheme_from_options("entropy_constrained", bits=4, rate=rate)


def test_it_is_stored_as_a_codebook() -> None:
    assert EntropyConstrained(bits=3).stored_form() == {"name": "codebook", "bits": 3, "granularity": "matrix"}
