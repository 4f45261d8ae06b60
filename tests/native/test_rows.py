"""Sums of rows and layer normalization."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pocketmt.engine import _native_testing as native
from tests.native.arrays import (
    UNIT_ROUNDOFF,
    Doubles,
    Floats,
    assert_same_bits,
    assert_within,
    generators,
    normal,
    rounding,
)

sizes = st.integers(1, 300)
# Where a normalization may put the sum and its result: anywhere, but not both into one input.
PLACES = [
    (sum_place, out_place)
    for sum_place in (None, "own", "x", "residual")
    for out_place in ("own", "x", "residual")
    if sum_place != out_place or out_place == "own"
]


@settings(max_examples=50, deadline=None)
@given(generator=generators, size=sizes, factor=st.floats(-100, 100, width=32))
def test_scale_add(instruction_set: str, generator: np.random.Generator, size: int, factor: float) -> None:
    x, y = normal(generator, size), normal(generator, size)
    # Two roundings: a fused multiply-add would make one of them.
    assert_same_bits(native.scale_add(instruction_set, x, factor, y), x * np.float32(factor) + y)


def _exact_norm(x: Floats, gamma: Floats, beta: Floats, epsilon: float) -> tuple[Doubles, Doubles]:
    """The rows normalized in double, and how far from them float32 may be, to first order (and 1 % for the others)."""
    columns = x.shape[1]
    exact = x.astype(np.float64)
    centred = exact - exact.mean(axis=1, keepdims=True)
    spread = (centred**2).mean(axis=1, keepdims=True) + epsilon
    inverse = 1 / np.sqrt(spread)
    mean_error = rounding(columns) * np.abs(exact).mean(axis=1, keepdims=True)
    # A mean that is wrong by m makes the mean of squares wrong by m^2. Each square: a difference, which counts twice, a
    # product, columns - 1 sums; then the division, epsilon and its sum.
    spread_error = mean_error**2 + rounding(columns + 5) * (spread + mean_error**2)
    # The root and the reciprocal round, the root halves an error (but not quite, if it is not small).
    relative = spread_error / spread + 2 * UNIT_ROUNDOFF
    normal_error = inverse * (mean_error + np.abs(centred) * (relative + 2 * UNIT_ROUNDOFF))
    product = np.abs(centred * inverse * gamma)
    bound = np.abs(gamma) * normal_error + UNIT_ROUNDOFF * (2 * product + np.abs(beta))
    return centred * inverse * gamma + beta, 1.01 * bound


@settings(max_examples=80, deadline=None)
@given(
    generator=generators,
    count=st.integers(1, 5),
    columns=sizes,
    mean=st.sampled_from([0.0, -1.5, 30.0]),
    deviation=st.sampled_from([1e-4, 0.1, 1.0, 50.0]),
    with_residual=st.booleans(),
    epsilon=st.sampled_from([1e-6, 1e-5, 1e-3]),
)
def test_layer_norm(
    instruction_set: str,
    generator: np.random.Generator,
    count: int,
    columns: int,
    mean: float,
    deviation: float,
    with_residual: bool,
    epsilon: float,
) -> None:
    x = normal(generator, count, columns) * np.float32(deviation) + np.float32(mean)
    residual = normal(generator, count, columns) * np.float32(deviation) if with_residual else None
    gamma, beta = normal(generator, columns), normal(generator, columns)
    expected_sum = x if residual is None else x + residual
    kept, out = native.layer_norm(instruction_set, x, residual, gamma, beta, "own", epsilon=epsilon)
    assert kept is not None
    assert_same_bits(kept, expected_sum)
    assert_within(out, *_exact_norm(expected_sum, gamma, beta, epsilon))
    last = None if residual is None else residual[-1:]
    _, alone = native.layer_norm(instruction_set, x[-1:], last, gamma, beta, epsilon=epsilon)
    assert_same_bits(alone[0], out[-1])


@pytest.mark.parametrize("columns", [1, 16, 100, 128])
@pytest.mark.parametrize(("sum_place", "out_place"), PLACES)
def test_layer_norm_into_its_inputs(instruction_set: str, columns: int, sum_place: str | None, out_place: str) -> None:
    generator = np.random.default_rng(columns)
    x, residual = normal(generator, 3, columns), normal(generator, 3, columns)
    gamma, beta = normal(generator, columns), normal(generator, columns)
    _, expected = native.layer_norm(instruction_set, x, residual, gamma, beta)
    kept, out = native.layer_norm(instruction_set, x, residual, gamma, beta, sum_place, out_place)
    assert_same_bits(out, expected)
    if sum_place is None:
        assert kept is None
    else:
        assert kept is not None
        assert_same_bits(kept, x + residual)


@settings(max_examples=50, deadline=None)
@given(generator=generators, count=st.integers(1, 5), columns=sizes)
def test_layer_norm_has_the_same_bits_everywhere(generator: np.random.Generator, count: int, columns: int) -> None:
    x, residual = normal(generator, count, columns), normal(generator, count, columns)
    gamma, beta = normal(generator, columns), normal(generator, columns)
    _, expected = native.layer_norm("portable", x, residual, gamma, beta)
    for instruction_set in native.instruction_sets():
        assert_same_bits(native.layer_norm(instruction_set, x, residual, gamma, beta)[1], expected)
