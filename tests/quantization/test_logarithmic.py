from typing import Literal

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from pocketmt.quantization import Logarithmic, Scheme, fake_quantize
from pocketmt.quantization.logarithmic import magnitude_levels
from pocketmt.quantization.sorted_values import fitted_scale
from tests.quantization.every_scheme import random_weight

Granularity = Literal["row", "matrix"]
GRANULARITIES: tuple[Granularity, ...] = ("row", "matrix")
LEVELS = Logarithmic().levels
MAGNITUDES = magnitude_levels(4)


def fit_magnitudes(magnitudes: Tensor) -> Tensor:
    """The fitted scale of each row, float64 [rows]."""
    return fitted_scale(magnitudes.sort(dim=1).values, magnitudes.new_tensor(MAGNITUDES[::-1]))


def squared_error(weight: Tensor, scale: Tensor) -> Tensor:
    """The squared error of each row with the nearest of all 16 centres, float64 [rows]."""
    centres = torch.tensor(LEVELS, dtype=torch.float64)[:, None, None] * scale.double()[:, None]
    return (centres - weight.double()).square().amin(dim=0).sum(dim=1)


def test_it_is_a_scheme() -> None:
    scheme: Scheme = Logarithmic()
    assert scheme.stored_form() == {
        "name": "logarithmic",
        "bits": 4,
        "granularity": "row",
        "levels": [127, 64, 32, 16, 8, 4, 2, 1, -127, -64, -32, -16, -8, -4, -2, -1],
    }


def test_a_worked_example() -> None:
    # Scale 0.5: centres 0.5, 1, 2, 4, 8, 16, 32, 63.5. 5.8 goes to 4 (in log space to 8).
    # 6 lies midway between 4 and 8 and goes to 4 (eq. 1); 47.8 is nearer to 63.5 than to 32 (midway: 47.75).
    weight = torch.tensor([[5.8, -6.0, 0.0, 47.8, -47.75, 100.0, -0.1, 6.1]])
    parameters = {"scale": torch.tensor([0.5])}
    codes = Logarithmic().assign(weight, parameters)
    assert codes.dtype == torch.uint8
    assert codes.tolist() == [[4, 8 + 4, 7, 0, 8 + 1, 0, 8 + 7, 3]]
    decoded = Logarithmic().decode(codes, parameters)
    assert decoded.tolist() == [[4.0, -4.0, 0.5, 63.5, -32.0, 63.5, -0.5, 8.0]]


def test_a_fit_by_hand() -> None:
    # From the maximum the scale is 254 / 127 = 2, which sends 254, 130, 60 to levels 127, 64, 32 (eq. 3); then eq. 7
    # gives the quotient below, under which the levels stay as they are.
    scale = fit_magnitudes(torch.tensor([[254.0, 130.0, 60.0]], dtype=torch.float64))
    assert scale.item() == pytest.approx((127 * 254 + 64 * 130 + 32 * 60) / (127**2 + 64**2 + 32**2), rel=1e-12)


@given(seed=st.integers(0, 10**6), factor=st.floats(0.1, 3))
def test_codes_are_the_nearest_of_all_16(seed: int, factor: float) -> None:
    weight = random_weight(seed)
    scale = (weight.abs().amax(dim=1) / 127 * factor).float()
    scheme = Logarithmic()
    decoded = scheme.decode(scheme.assign(weight, {"scale": scale}), {"scale": scale})
    error = (decoded.double() - weight.double()).square().sum(dim=1)
    assert torch.allclose(error, squared_error(weight, scale), rtol=1e-6, atol=0)


def test_every_centre_keeps_its_code() -> None:
    scale = torch.tensor([0.25, 3.0])
    codes = torch.arange(16, dtype=torch.uint8).repeat(2, 1)
    weight = Logarithmic().decode(codes, {"scale": scale})
    assert torch.equal(Logarithmic().assign(weight, {"scale": scale}), codes)


@given(seed=st.integers(0, 10**6))
@settings(deadline=None)
def test_the_fitted_scale_is_the_best_for_its_assignment(seed: int) -> None:
    weight = random_weight(seed, rows=3, columns=7)
    scale = fit_magnitudes(weight.abs().double())
    levels = torch.tensor(LEVELS, dtype=torch.float64)[Logarithmic().assign(weight, {"scale": scale}).long()]

    def error(scale: Tensor) -> Tensor:
        return (levels * scale[:, None] - weight.double()).square().sum(dim=1)

    grid = torch.stack([error(scale * factor) for factor in torch.linspace(0.5, 2, 301, dtype=torch.float64)])
    assert bool((error(scale) <= grid * (1 + 1e-9)).all())


@pytest.mark.parametrize("rounds", range(1, 8))
def test_each_round_of_the_fit_lowers_the_error(rounds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    weight = random_weight(5, rows=64, columns=128)
    monkeypatch.setattr("pocketmt.quantization.sorted_values._MOST_ROUNDS", rounds - 1)
    before = squared_error(weight, fit_magnitudes(weight.abs().double()))
    monkeypatch.setattr("pocketmt.quantization.sorted_values._MOST_ROUNDS", rounds)
    after = squared_error(weight, fit_magnitudes(weight.abs().double()))
    assert bool((after <= before * (1 + 1e-12)).all())
    assert after.sum() < before.sum()


@pytest.mark.parametrize("granularity", GRANULARITIES)
@given(seed=st.integers(0, 10**6))
@settings(deadline=None)
def test_a_fitted_scale_is_not_worse_than_the_maximum(granularity: Granularity, seed: int) -> None:
    weight = random_weight(seed)
    largest = weight.abs().amax(dim=1) if granularity == "row" else weight.abs().amax().reshape(1)
    fitted = squared_error(weight, Logarithmic(granularity).fit(weight)["scale"]).sum()
    assert fitted <= squared_error(weight, largest / 127).sum() * (1 + 1e-4)  # the rounding to bfloat16


def test_a_fit_converges_far_within_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    weight = random_weight(7, rows=200, columns=512).abs().double()
    expected = fit_magnitudes(weight)
    monkeypatch.setattr("pocketmt.quantization.sorted_values._MOST_ROUNDS", 250)
    assert torch.equal(fit_magnitudes(weight), expected)
    assert torch.equal(fit_magnitudes(weight.reshape(1, -1)), fit_magnitudes(weight.reshape(1, -1)))


def test_scales_have_the_precision_of_the_file() -> None:
    weight = random_weight(3)
    row = Logarithmic("row").fit(weight)["scale"]
    assert row.shape == (4,)
    assert torch.equal(row.to(torch.bfloat16).float(), row)
    assert Logarithmic("matrix").fit(weight)["scale"].shape == (1,)


def test_a_row_does_not_depend_on_the_others_but_a_matrix_shares_one_scale() -> None:
    weight = random_weight(4)
    louder = torch.cat([weight, 100 * weight[:1]])
    assert torch.equal(fake_quantize(Logarithmic("row"), louder)[:4], fake_quantize(Logarithmic("row"), weight))
    whole = Logarithmic("matrix").fit(weight)["scale"]
    assert torch.equal(whole, Logarithmic("matrix").fit(weight.reshape(1, -1))["scale"])


@pytest.mark.parametrize("granularity", GRANULARITIES)
def test_zeros_stay_zeros(granularity: Granularity) -> None:
    scheme = Logarithmic(granularity)
    assert scheme.fit(torch.zeros(2, 3))["scale"].count_nonzero() == 0
    assert fake_quantize(scheme, torch.zeros(2, 3)).count_nonzero() == 0


def test_decoding_passes_gradients_to_the_scale() -> None:
    scale = torch.tensor([0.5], requires_grad=True)
    Logarithmic("matrix").decode(torch.tensor([[0, 15], [8, 7]]), {"scale": scale}).sum().backward()  # type: ignore[no-untyped-call]
    assert scale.grad is not None
    assert scale.grad.tolist() == [127 - 1 - 127 + 1]
