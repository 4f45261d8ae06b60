import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pocketmt.quantization.activations.logarithmic import LogarithmicActivations
from pocketmt.quantization.logarithmic import Logarithmic, magnitude_levels


def test_a_worked_example() -> None:
    # S = 1: values 1 (held as 127/128), 1/2, .. 1/128. 0.75 lies midway between 1/2 and 1 and goes to 1/2, 0.76 to 1;
    # 0.3 is nearer to 1/4 than to 1/2; values above 1 or below 1/128 are clipped; 0 has a positive sign.
    x = torch.tensor([[0.75, 0.76, -0.3, 9.0, -9.0, 1e-9, -1e-9, 0.0, -0.0, 0.375, 0.046]])
    codes, scale = LogarithmicActivations().quantize_rows(x)
    assert codes.dtype == torch.int8
    assert codes.tolist() == [[64, 127, -32, 127, -127, 1, -1, 1, 1, 32, 4]]
    assert scale.tolist() == [1 / 128]


def test_the_papers_example_of_rounding() -> None:
    # Section 3.1: 5.8 goes to 4, which is nearer than 8, though log2(5.8) rounds to 3.
    codes, scale = LogarithmicActivations(scale=128.0).quantize_rows(torch.tensor([5.8, -5.8, 6.0, 6.001]))
    assert (codes * scale).tolist() == [4, -4, 4, 8]


@pytest.mark.parametrize(("bits", "levels"), [(1, [1]), (2, [2, 1]), (3, [8, 4, 2, 1])])
def test_fewer_bits(bits: int, levels: list[int]) -> None:
    activations = LogarithmicActivations(bits, 3.0)
    codes, scale = activations.quantize_rows(torch.tensor([[1e9, -1e-9, 0.0]] * 2))
    assert codes.tolist() == [[levels[0], -1, 1]] * 2
    assert scale.tolist() == [3 / levels[0]] * 2
    assert activations.top == levels[0] == magnitude_levels(bits)[0]


@given(
    values=st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=40),
    bits=st.integers(1, 4),
    scale=st.floats(2**-10, 2**10),
)
def test_every_code_is_that_of_the_nearest_value(values: list[float], bits: int, scale: float) -> None:
    activations = LogarithmicActivations(bits, scale)
    x = torch.tensor(values)
    codes, step = activations.quantize_rows(x)
    top = activations.top
    position = np.abs(x.double().numpy()) * top / scale
    powers = np.array([2**power for power in range(2 ** (bits - 1))])
    best = np.abs(position[:, None] - powers).min(axis=1)
    magnitudes = np.abs(codes.double().numpy())
    chosen = np.abs(position - np.where(magnitudes == 127, 128, magnitudes))
    assert np.all(chosen <= best * (1 + 1e-6) + position * 1e-6)  # the position's own rounding
    assert np.array_equal(codes < 0, x < 0)
    assert torch.equal(step, torch.tensor(scale / top, dtype=torch.float32))


def test_values_equal_those_of_weights_of_the_same_scale() -> None:
    # Aji and Heafield 2020, section 3.5: "the same log-based quantisation procedure".
    weight = torch.randn(40, 60, generator=torch.Generator().manual_seed(3))
    scheme = Logarithmic("matrix", scale="none")
    parameters = scheme.fit(weight)
    expected = scheme.decode(scheme.assign(weight, parameters), parameters)
    same = LogarithmicActivations().fake_quantize(weight) == expected
    boundary = (weight.abs() > 95.5 / 128) & (weight.abs() <= 96 / 128)  # weights: between 64 and 127, not 64 and 128
    assert torch.equal(~same, boundary)


@given(
    values=st.lists(st.floats(-100, 100, width=32), min_size=1, max_size=30),
    bits=st.integers(1, 4),
    scale=st.sampled_from([1.0, 4.0, 0.3]),
)
def test_quantized_values_are_not_changed_again(values: list[float], bits: int, scale: float) -> None:
    activations = LogarithmicActivations(bits, scale)
    once = activations.fake_quantize(torch.tensor(values))
    assert torch.equal(activations.fake_quantize(once), once)


def test_the_gradient_passes_straight_through_even_where_values_are_clipped() -> None:
    x = torch.tensor([0.0, 0.3, -5.0, 1e-6], requires_grad=True)
    gradient = torch.tensor([1.0, -2.0, 3.0, 4.0])
    LogarithmicActivations().fake_quantize(x).backward(gradient)  # type: ignore[no-untyped-call]
    assert x.grad is not None
    assert torch.equal(x.grad, gradient)


def test_nan_stays_nan() -> None:
    assert bool(LogarithmicActivations().fake_quantize(torch.tensor([float("nan")])).isnan().all())
