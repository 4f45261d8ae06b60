"""Running ranges of activations and quantization within them, by hand."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pocketmt.quantization.activations.running_range import RunningRange, fake_quantize_range


def test_quantizes_as_equations_1_to_3_say() -> None:
    x = torch.tensor([-1.0, -0.3, 0.0, 0.24, 0.26, 0.9, 2.0])
    # 2 bits from -0.5 to 1: the steps are -0.5, 0, 0.5, 1.
    result = fake_quantize_range(x, torch.tensor([-0.5]), torch.tensor([1.0]), bits=2)
    assert result.tolist() == [-0.5, -0.5, 0.0, 0.0, 0.5, 1.0, 1.0]


@given(
    st.lists(st.floats(-10, 10, width=32), min_size=1, max_size=20),
    st.floats(-5, 5, width=32),
    st.floats(0.125, 5, width=32),
    st.sampled_from([4, 6, 8]),
)
def test_values_are_rounded_to_the_nearest_step(values: list[float], minimum: float, width: float, bits: int) -> None:
    low, high = torch.tensor([minimum]), torch.tensor([minimum + width])
    x = torch.tensor(values)
    steps = low + torch.arange(2**bits) * (high - low) / (2**bits - 1)
    distance = (x[:, None] - steps).abs().amin(dim=1)
    result = fake_quantize_range(x, low, high, bits)
    assert torch.allclose((result - x).abs(), distance, atol=1e-5)


@pytest.mark.parametrize(("clamped_gradient", "outside"), [(False, 0.0), (True, 1.0)])
def test_the_gradient_is_zero_where_clamped_unless_asked_otherwise(clamped_gradient: bool, outside: float) -> None:
    x = torch.tensor([-2.0, -1.0, 0.3, 1.0, 2.0], requires_grad=True)
    result = fake_quantize_range(x, torch.tensor([-1.0]), torch.tensor([1.0]), 4, clamped_gradient)
    (gradient,) = torch.autograd.grad(result.sum(), x)
    assert gradient.tolist() == [outside, 1.0, 1.0, 1.0, outside]


def test_a_range_of_one_value_gives_that_value() -> None:
    assert fake_quantize_range(torch.tensor([1.0, 3.0]), torch.tensor([2.0]), torch.tensor([2.0]), 8).tolist() == [2, 2]


def test_the_range_is_a_moving_average_of_momentum_nine_tenths() -> None:
    running = RunningRange(bits=8)
    running(torch.tensor([[-1.0, 3.0]]))
    assert (running.minimum.item(), running.maximum.item()) == (-1.0, 3.0)
    running(torch.tensor([[-2.0, 1.0]]))
    assert running.minimum.item() == pytest.approx(0.9 * -1 + 0.1 * -2)
    assert running.maximum.item() == pytest.approx(0.9 * 3 + 0.1 * 1)


def test_ranges_do_not_change_outside_training() -> None:
    running = RunningRange(bits=8)
    running(torch.tensor([[-1.0, 3.0]]))
    assert running.eval()(torch.tensor([[-9.0, 9.0]])).tolist() == [[-1.0, 3.0]]
    assert (running.minimum.item(), running.maximum.item()) == (-1.0, 3.0)


def test_activations_without_a_range_pass_unchanged() -> None:
    running = RunningRange(bits=2).eval()
    assert running(torch.tensor([0.1, 0.2])).tolist() == torch.tensor([0.1, 0.2]).tolist()
    running.train().quantizing = False
    assert running(torch.tensor([0.1, 0.2])).tolist() == torch.tensor([0.1, 0.2]).tolist()
    assert running.estimates == 1


def test_buckets_are_the_elements_of_the_last_dimension() -> None:
    running = RunningRange(bits=1, buckets=2)
    result = running(torch.tensor([[[0.0, 100.0]], [[1.0, 300.0]]]))
    assert running.minimum.tolist() == [0.0, 100.0]
    assert running.maximum.tolist() == [1.0, 300.0]
    assert result.tolist() == [[[0.0, 100.0]], [[1.0, 300.0]]]


def test_buckets_are_the_elements_of_the_given_dimension() -> None:
    running = RunningRange(bits=1, buckets=2, dimension=-3)
    x = torch.tensor([[[[0.0, 4.0]], [[-1.0, 9.0]]], [[[5.0, 1.0]], [[2.0, 8.0]]]])  # [sentences, buckets, 1, 2]
    result = running(x)
    assert (running.minimum.tolist(), running.maximum.tolist()) == ([0.0, -1.0], [5.0, 9.0])
    assert result.tolist() == [[[[0.0, 5.0]], [[-1.0, 9.0]]], [[[5.0, 0.0]], [[-1.0, 9.0]]]]


def test_padding_is_ignored() -> None:
    running = RunningRange(bits=8, buckets=2)
    running.kept = torch.tensor([[True, False]])
    running(torch.tensor([[[1.0, 2.0], [-50.0, 50.0]]]))
    assert (running.minimum.tolist(), running.maximum.tolist()) == ([1.0, 2.0], [1.0, 2.0])


def test_a_fixed_minimum_is_not_estimated() -> None:
    running = RunningRange(bits=8, fixed_minimum=0.0)
    running(torch.tensor([0.5, 2.0]))
    assert running.minimum.item() == 0.0
    assert running(torch.tensor([0.0])).item() == 0.0
