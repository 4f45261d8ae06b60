import pytest
import torch
from hypothesis import given
from torch import Tensor

from pocketmt.quantization import Affine, fake_quantize
from pocketmt.quantization.rounding import bfloat16_at_most
from tests.quantization.every_scheme import weights


def test_a_worked_example() -> None:
    # Prato et al. 2020, eq. 2 with k = 4: (6.5 - -1) / 15 = 0.5. 0.25 and 0.75 are 2.5 and 3.5 steps above -1.
    weight = torch.tensor([[-1.0, 6.5, 0.25, 0.75, 0.3]])
    scheme = Affine(4, "matrix")
    parameters = scheme.fit(weight)
    assert (parameters["scale"].tolist(), parameters["minimum"].tolist()) == ([0.5], [-1.0])
    codes = scheme.assign(weight, parameters)
    assert codes.tolist() == [[0, 15, 2, 4, 3]]
    assert scheme.decode(codes, parameters).tolist() == [[-1.0, 6.5, 0.0, 1.0, 0.5]]


def test_each_row_has_its_own_range() -> None:
    weight = torch.tensor([[0.0, 15.0, 7.0], [-30.0, 0.0, -2.0]])
    parameters = Affine(4, "row").fit(weight)
    assert (parameters["scale"].tolist(), parameters["minimum"].tolist()) == ([1.0, 2.0], [0.0, -30.0])
    assert torch.equal(fake_quantize(Affine(4, "row"), weight), weight)


def test_values_out_of_range_saturate() -> None:
    parameters = {"scale": torch.tensor([0.5]), "minimum": torch.tensor([-1.0])}
    assert Affine(6, "matrix").assign(torch.tensor([[-9.0, 99.0]]), parameters).tolist() == [[0, 63]]
    weight = torch.tensor([[-1.5, -1.0, 0.25, 30.5, 31.0]])
    assert Affine(6, "matrix").clamped(weight, parameters).tolist() == [[True, False, False, False, True]]


@given(weight=weights(2.0**126))
def test_nothing_clips(weight: Tensor) -> None:
    parameters = Affine(8, "row").fit(weight)
    minimum = parameters["minimum"].double()
    highest = minimum + 255 * parameters["scale"].double()
    assert bool((minimum <= weight.double().amin(dim=1)).all())
    # Ranges are subtracted in float64, in which 2^54 + 1 equals 2^54.
    rounding = 2.0**-52 * minimum.abs()
    assert bool((highest + rounding >= weight.double().amax(dim=1)).all())


def test_a_range_that_float64_rounds() -> None:
    weight = torch.tensor([[1.0, -17874281170231296.0]])
    decoded = fake_quantize(Affine(8, "row"), weight)
    assert decoded[0, 0].abs() <= 2.0**-52 * 17874281170231296
    assert decoded[0, 1] == pytest.approx(-17874281170231296.0, rel=2.0**-8)


@given(weight=weights(2.0**127))
def test_a_number_rounded_down_is_the_next_bfloat16_below(weight: Tensor) -> None:
    values = weight.double().flatten() * 1.9999
    down = bfloat16_at_most(values)
    assert torch.equal(down.to(torch.bfloat16).float(), down)
    lowest = torch.finfo(torch.bfloat16).min
    assert bool(((down.double() <= values) | (down == lowest)).all())
    above = torch.nextafter(down.to(torch.bfloat16), torch.tensor(torch.inf, dtype=torch.bfloat16))
    assert bool((above.double() > values).all())


def test_a_range_with_a_small_squared_error() -> None:
    generator = torch.Generator().manual_seed(1)
    weight = torch.randn(4, 3_000, generator=generator)
    weight[0, 0], weight[1, 0] = 8.0, -9.0
    weight[3] = torch.linspace(-1, 1, 16).repeat(188)[:3_000]
    scheme = Affine(4, fitted_range="least_squares")
    parameters = scheme.fit(weight)
    errors = (fake_quantize(scheme, weight) - weight).square().mean(dim=1)
    # 16 even levels for a normal variable have a mean squared error of 0.01154 at best (Max 1960, Table II). That of
    # the outliers comes on top of it, some 5.5^2 / 3,000.
    assert errors[2].item() == pytest.approx(0.0115, rel=0.05)
    assert 0.0115 < errors[0].item() < 0.024 and 0.0115 < errors[1].item() < 0.027
    # Evenly spaced values are their own levels, in bfloat16.
    assert parameters["scale"][3].item() == Affine(4).fit(weight)["scale"][3].item()
    assert (scheme.clamped(weight, parameters).sum(dim=1) > 0).tolist() == [True, True, True, False]


@given(weight=weights(2.0**126))
def test_a_fitted_range_has_no_larger_error_than_that_of_the_extremes(weight: Tensor) -> None:
    def error(scheme: Affine) -> Tensor:
        return (fake_quantize(scheme, weight).double() - weight.double()).square().sum(dim=1)

    assert bool((error(Affine(4, "row", "least_squares")) <= error(Affine(4, "row"))).all())


def test_zero_is_not_nudged_onto_a_code() -> None:
    decoded = fake_quantize(Affine(4, "matrix"), torch.tensor([[-1.0, 0.0, 1.0]]))  # steps of 2 / 15
    assert 0 < abs(decoded[0, 1].item()) < 2 / 15
