"""The contract of every scheme (quantization/scheme.py)."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from pocketmt.quantization import fake_quantize
from tests.quantization.every_scheme import (
    BETWEEN_BOUNDARIES,
    BY_RULE,
    SCHEMES,
    random_weight,
    values_of_codes,
    weights,
)

ALL = pytest.mark.parametrize("name", SCHEMES)
STANDING = pytest.mark.parametrize("name", [name for name in SCHEMES if name not in BY_RULE])
NEAREST = pytest.mark.parametrize("name", [name for name in SCHEMES if name not in (*BY_RULE, *BETWEEN_BOUNDARIES)])


@pytest.mark.parametrize("name", [name for name in SCHEMES if SCHEMES[name].keeps_zero])
@given(weight=weights())
@settings(max_examples=8, deadline=None)
def test_zeros_are_kept(name: str, weight: Tensor) -> None:
    assert fake_quantize(SCHEMES[name], weight)[weight == 0].count_nonzero() == 0


@pytest.mark.parametrize("name", [name for name in SCHEMES if SCHEMES[name].learnable])
def test_learnable_parameters_stand_for_the_fitted_ones(name: str) -> None:
    scheme, weight = SCHEMES[name], random_weight(1)
    parameters = scheme.fit(weight)
    learnable = scheme.learnable_parameters(parameters).clone().requires_grad_()
    codes = scheme.assign(weight, parameters)
    decoded = scheme.decode(codes, scheme.parameters_from(learnable))
    torch.testing.assert_close(decoded, scheme.decode(codes, parameters))
    (gradient,) = torch.autograd.grad(decoded.sum(), [learnable])
    assert gradient.shape == learnable.shape and bool(gradient.any())


@ALL
@given(weight=weights())
@settings(max_examples=8, deadline=None)
def test_parameters_have_the_precision_of_the_file(name: str, weight: Tensor) -> None:
    scheme = SCHEMES[name]
    rows = len(weight)
    for parameter, value in scheme.fit(weight).items():
        assert value.dtype == torch.float32
        if parameter == "levels":
            assert value.shape == (2**scheme.bits,)
            assert torch.equal(value.to(torch.int8).clamp(min=-127).float(), value)
        elif scheme.granularity == "matrix":
            assert value.shape == (1,)
        else:
            assert value.shape == ((rows, scheme.bits) if parameter == "alphas" else (rows,))
            assert "float32" in name or torch.equal(value.to(torch.bfloat16).float(), value)
        assert bool(value.isfinite().all())
        assert parameter != "scale" or bool((value >= 0).all())


@ALL
@given(weight=weights(), scale_seed=st.integers(0, 100))
@settings(max_examples=8, deadline=None)
def test_a_weights_code_depends_on_that_weight_alone(name: str, weight: Tensor, scale_seed: int) -> None:
    scheme = SCHEMES[name]
    parameters = scheme.fit(random_weight(scale_seed, *weight.shape))
    codes = scheme.assign(weight, parameters)
    planes = (scheme.bits,) if name.startswith("binary") else ()
    assert codes.shape == (len(weight), *planes, weight.shape[1])
    assert codes.dtype == (torch.int8 if SCHEMES[name].name == "uniform" else torch.uint8)
    assert int(codes.max()) < (2 if planes else 2**scheme.bits)
    columns = [scheme.assign(weight[:, column : column + 1], parameters) for column in range(weight.shape[1])]
    assert torch.equal(torch.cat(columns, dim=-1), codes)


@NEAREST
@given(weight=weights(), seed=st.integers(0, 100))
@settings(max_examples=8, deadline=None)
def test_codes_represent_the_nearest_value(name: str, weight: Tensor, seed: int) -> None:
    scheme = SCHEMES[name]
    parameters = scheme.fit(random_weight(seed, *weight.shape))
    decoded = scheme.decode(scheme.assign(weight, parameters), parameters)
    values = values_of_codes(scheme, parameters, len(weight)).double()
    least = (values[:, :, None] - weight.double()).abs().amin(dim=0)
    error = (decoded.double() - weight.double()).abs()
    assert bool((error <= least + 1e-6 * (weight.abs() + values.abs().amax())).all())  # a tie may go either way


@STANDING
@given(seed=st.integers(0, 10**6))
@settings(max_examples=8, deadline=None)
def test_a_quantized_weight_keeps_its_codes_values(name: str, seed: int) -> None:
    scheme = SCHEMES[name]
    parameters = scheme.fit(random_weight(seed))
    decoded = scheme.decode(scheme.assign(random_weight(seed), parameters), parameters)
    again = scheme.decode(scheme.assign(decoded, parameters), parameters)
    assert torch.allclose(again, decoded, rtol=1e-5, atol=1e-6)  # two sums of alphas may be that near to each other


@ALL
@pytest.mark.parametrize("magnitude", [0.0, 1e-40, 1e-20, 1.0, 1e37])
def test_extremes_stay_finite(name: str, magnitude: float) -> None:
    for weight in (
        random_weight(1, 3, 33) * magnitude,
        random_weight(2, 5, 1) * magnitude,
        torch.full((1, 1), magnitude),
        torch.full((2, 7), -magnitude),
    ):
        decoded = fake_quantize(SCHEMES[name], weight)
        assert decoded.shape == weight.shape
        assert decoded.dtype == torch.float32
        assert bool(decoded.isfinite().all())


@pytest.mark.parametrize("name", [n for n in SCHEMES if "none" not in n and n != "binarization_fixed (0.1, -0.2)"])
def test_zeros_stay_zeros(name: str) -> None:
    assert fake_quantize(SCHEMES[name], torch.zeros(3, 5)).count_nonzero() == 0


@pytest.mark.parametrize("name", [n for n in SCHEMES if SCHEMES[n].granularity == "row" and "none" not in n])
@given(seed=st.integers(0, 10**6))
@settings(max_examples=5, deadline=None)
def test_a_row_does_not_depend_on_the_others(name: str, seed: int) -> None:
    weight = random_weight(seed)
    louder = torch.cat([100 * weight[:1], weight])
    assert torch.equal(fake_quantize(SCHEMES[name], louder)[1:], fake_quantize(SCHEMES[name], weight))


@pytest.mark.parametrize("name", [name for name in SCHEMES if not name.startswith(("binary 3", "binary 4"))])
@given(seed=st.integers(0, 10**6))
@settings(max_examples=5, deadline=None)
def test_gradients_of_parameters_are_those_of_the_decoded_weight(name: str, seed: int) -> None:
    """Decoding is linear in each parameter, but for rounded sums: a difference quotient is its gradient."""
    scheme = SCHEMES[name]
    fitted = scheme.fit(random_weight(seed))
    codes = scheme.assign(random_weight(seed), fitted)
    above = random_weight(seed + 1)  # the gradient of what follows
    for parameter, value in fitted.items():
        leaf = value.clone().requires_grad_()
        (gradient,) = torch.autograd.grad((scheme.decode(codes, {**fitted, parameter: leaf}) * above).sum(), leaf)
        for position in range(min(value.numel(), 4)):
            moved = value.clone()
            moved.view(-1)[position] += 1
            difference = scheme.decode(codes, {**fitted, parameter: moved}) - scheme.decode(codes, fitted)
            expected = (difference.double() * above.double()).sum().item()
            assert gradient.flatten()[position].item() == pytest.approx(expected, rel=1e-3, abs=1e-3)
