from itertools import product
from typing import Literal

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from pocketmt.quantization import BinaryCode, fake_quantize
from pocketmt.quantization.binary_code import binary_levels
from tests.quantization.every_scheme import random_weight, weights

Bits = Literal[1, 2, 3, 4]
BITS: tuple[Bits, ...] = (1, 2, 3, 4)


def squared_error(weight: Tensor, quantized: Tensor) -> Tensor:
    return (weight.double() - quantized.double()).square().sum(dim=1)


def least_error(row: Tensor, bits: int) -> float:
    """The best of all codes with their least-squares factors (Chung et al. 2020, eq. 1)."""
    every = torch.tensor(list(product((-1.0, 1.0), repeat=len(row))), dtype=torch.float64)
    best = row.double().square().sum().item()
    for planes in product(every, repeat=bits):
        signs = torch.stack(planes)
        alphas = torch.linalg.pinv(signs.T) @ row.double()
        best = min(best, (signs.T @ alphas - row.double()).square().sum().item())
    return best


def test_a_greedy_step_by_hand() -> None:
    # The mean magnitude of 3, -1, 2, -2 is 2; 1, 1, 0, 0 is left, of mean magnitude 0.5 (a residual of 0 counts as +).
    weight = torch.tensor([[3.0, -1.0, 2.0, -2.0]])
    scheme = BinaryCode(2, "greedy")
    parameters = scheme.fit(weight)
    assert parameters["alphas"].tolist() == [[2.0, 0.5]]
    codes = scheme.assign(weight, parameters)
    assert codes.tolist() == [[[1, 0, 1, 0], [1, 1, 1, 1]]]
    assert scheme.decode(codes, parameters).tolist() == [[2.5, -1.5, 2.5, -1.5]]


def test_alternating_by_hand() -> None:
    # Values 3, 1, -1, -3 are sums of 2 and 1, which greedy factors (2, 1) find; 5, 3, -3, -5 of 4 and 1.
    weight = torch.tensor([[3.0, 1.0, -1.0, -3.0], [5.0, 3.0, -3.0, -5.0]])
    parameters = BinaryCode(2, "alternating").fit(weight)
    assert parameters["alphas"].tolist() == [[2.0, 1.0], [4.0, 1.0]]
    assert torch.equal(fake_quantize(BinaryCode(2, "alternating"), weight), weight)


@pytest.mark.parametrize("method", ["greedy", "alternating"])
@given(weight=weights())
@settings(max_examples=30, deadline=None)
def test_one_bit_is_the_optimum(method: Literal["greedy", "alternating"], weight: Tensor) -> None:
    error = squared_error(weight, fake_quantize(BinaryCode(1, method), weight))
    for row, value in zip(weight, error.tolist(), strict=True):
        rounding = len(row) * (row.abs().mean().item() / 256) ** 2
        assert value <= least_error(row, 1) + rounding + 1e-9


@given(seed=st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_two_bits_come_near_to_the_optimum(seed: int) -> None:
    """Alternation finds a local optimum: seldom far from the global one, and never below it."""
    weight = random_weight(seed, 2, 4)
    error = squared_error(weight, fake_quantize(BinaryCode(2, "alternating"), weight))
    for row, value in zip(weight, error.tolist(), strict=True):
        least = least_error(row, 2)
        assert least - 1e-9 <= value <= least + 0.2 * row.double().square().sum().item()


@pytest.mark.parametrize("bits", BITS)
@given(weight=weights())
@settings(max_examples=30, deadline=None)
def test_alternating_is_never_worse_than_greedy(bits: Bits, weight: Tensor) -> None:
    greedy = squared_error(weight, fake_quantize(BinaryCode(bits, "greedy"), weight))
    alternating = squared_error(weight, fake_quantize(BinaryCode(bits, "alternating"), weight))
    size = weight.double().square().sum(dim=1)
    assert bool((alternating <= greedy + 1e-12 * size).all())


def test_alternating_is_not_worse_than_greedy_with_rounded_sums() -> None:
    """For these weights, sums before rounding would choose the worse factors."""
    weight = torch.tensor([[1.0, 1.0, 10.0, 4.3125]])
    greedy = squared_error(weight, fake_quantize(BinaryCode(4, "greedy"), weight))
    assert squared_error(weight, fake_quantize(BinaryCode(4, "alternating"), weight)) <= greedy


def test_alternating_is_much_better_on_normal_weights() -> None:
    weight = torch.randn(50, 128, generator=torch.Generator().manual_seed(0))
    for bits, ratio in ((2, 0.93), (3, 0.7), (4, 0.5)):
        greedy = squared_error(weight, fake_quantize(BinaryCode(bits, "greedy"), weight)).sum()  # type: ignore[arg-type]
        alternating = squared_error(weight, fake_quantize(BinaryCode(bits, "alternating"), weight)).sum()  # type: ignore[arg-type]
        assert alternating < ratio * greedy


@given(seed=st.integers(0, 10**6), bit=st.integers(0, 2))
@settings(max_examples=20, deadline=None)
def test_a_greedy_factor_is_the_best_for_what_earlier_ones_leave(seed: int, bit: int) -> None:
    weight = random_weight(seed, 3, 9)
    scheme = BinaryCode(3, "greedy")
    parameters = scheme.fit(weight)
    signs = 2 * scheme.assign(weight, parameters).double() - 1
    alphas = parameters["alphas"].double()
    rest = weight.double() - (signs[:, :bit] * alphas[:, :bit, None]).sum(dim=1)

    def error(alpha: Tensor) -> Tensor:
        return (rest - signs[:, bit] * alpha[:, None]).square().sum(dim=1)

    for factor in torch.linspace(0, 2, 101, dtype=torch.float64):
        rounding = 9 * (alphas[:, bit] / 256).square()
        assert bool((error(alphas[:, bit]) <= error(alphas[:, bit] * factor) + rounding).all())


@given(seed=st.integers(0, 10**6), bits=st.sampled_from(BITS))
@settings(max_examples=20, deadline=None)
def test_factors_are_the_least_squares_ones_of_their_codes(seed: int, bits: Bits) -> None:
    weight = random_weight(seed, 3, 40)
    scheme = BinaryCode(bits, "alternating")
    parameters = scheme.fit(weight)
    signs = 2 * scheme.assign(weight, parameters).double() - 1
    best = torch.stack([torch.linalg.pinv(plane.T) @ row for plane, row in zip(signs, weight.double(), strict=True)])
    quantized = (signs * best[..., None]).sum(dim=1)
    error = squared_error(weight, scheme.decode(scheme.assign(weight, parameters), parameters))
    rounding = 40 * (parameters["alphas"].double().sum(dim=1) / 256).square()
    assert bool((error <= 1.05 * squared_error(weight, quantized) + rounding).all())  # the best ones may change codes


def test_repeated_quantization_shrinks_weights_with_greedy_but_not_with_alternating() -> None:
    weight = torch.randn(100, 128, generator=torch.Generator().manual_seed(0))
    norms: dict[str, list[float]] = {}
    methods: tuple[Literal["greedy", "alternating"], ...] = ("greedy", "alternating")
    for method in methods:
        quantized = weight
        norms[method] = []
        for _ in range(4):
            quantized = fake_quantize(BinaryCode(2, method), quantized)
            norms[method].append((quantized.norm() / weight.norm()).item())
    assert norms["greedy"] == pytest.approx([0.87, 0.81, 0.75, 0.70], abs=0.02)
    assert norms["alternating"] == pytest.approx([0.94] * 4, abs=0.01)


@pytest.mark.parametrize("bits", BITS)
def test_a_row_of_one_magnitude_is_held_exactly(bits: Bits) -> None:
    """Its planes are equal up to signs, so that the least-squares solution is not unique."""
    weight = torch.tensor([[0.5, -0.5, 0.5], [2.0, 2.0, 2.0]])
    assert torch.equal(fake_quantize(BinaryCode(bits, "alternating"), weight), weight)
    assert torch.equal(fake_quantize(BinaryCode(bits, "greedy"), weight), weight)


@pytest.mark.parametrize("method", ["greedy", "alternating"])
def test_trained_factors_may_be_negative(method: Literal["greedy", "alternating"]) -> None:
    scheme = BinaryCode(2, method)
    parameters = {"alphas": torch.tensor([[-2.0, 1.0]])}
    weight = torch.tensor([[3.1, 0.8, -1.2, -2.9]])
    assert scheme.decode(scheme.assign(weight, parameters), parameters).tolist() == [[3.0, 1.0, -1.0, -3.0]]


def test_the_fit_of_a_row_does_not_depend_on_the_number_of_rows() -> None:
    weight = torch.randn(2050, 3, generator=torch.Generator().manual_seed(0))
    scheme = BinaryCode(3, "alternating")
    assert torch.equal(scheme.fit(weight)["alphas"][2040:], scheme.fit(weight[2040:])["alphas"])


def test_levels_of_binary_codes_by_hand() -> None:
    # The sums of 4, 2 and 1 are odd whole numbers up to 7: 127ths of 7 each. Code 5 is +4 -2 +1.
    levels, scale = binary_levels(torch.tensor([[4.0, 2.0, 1.0], [0.0, 0.0, 0.0]]))
    assert scale.tolist() == [torch.tensor(7 / 127).item(), 0.0]
    assert levels[0].tolist() == [-127, 18, -54, 91, -91, 54, -18, 127]  # 1, 3 and 5 of 7 parts are 18.1, 54.4 and 90.7
    assert levels[1].tolist() == [0.0] * 8


@pytest.mark.parametrize("bits", BITS)
def test_the_gradient_of_a_factor_is_that_of_the_sums(bits: Bits) -> None:
    weight, above = random_weight(0, 3, 20), random_weight(1, 3, 20)
    scheme = BinaryCode(bits)
    alphas = scheme.fit(weight)["alphas"].requires_grad_()
    codes = scheme.assign(weight, {"alphas": alphas})
    decoded = scheme.decode(codes, {"alphas": alphas})
    (gradient,) = torch.autograd.grad((decoded * above).sum(), alphas)
    assert torch.allclose(gradient, ((2 * codes.float() - 1) * above[:, None]).sum(dim=2), atol=1e-5)
    assert torch.allclose(decoded, scheme.decode(codes, {"alphas": alphas.detach()}), atol=1e-6)


@given(seed=st.integers(0, 10**6), bits=st.integers(3, 4))
@settings(max_examples=30, deadline=None)
def test_levels_are_the_sums_within_half_a_scale(seed: int, bits: int) -> None:
    """Factors may be negative, as trained ones are."""
    alphas = torch.randn(6, bits, generator=torch.Generator().manual_seed(seed))
    levels, scale = binary_levels(alphas)
    assert levels.abs().max() == 127
    for code in range(2**bits):
        signs = torch.tensor([1.0 if code >> bit & 1 else -1.0 for bit in range(bits)])
        difference = (alphas * signs).sum(dim=1) - levels[:, code] * scale
        assert bool((difference.abs() <= 0.5001 * scale).all())
