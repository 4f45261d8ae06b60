"""Functions over the logits of a vocabulary."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pocketmt.engine import _native_testing as native
from tests.native.arrays import (
    EXPONENT_ERROR,
    EXPONENTIAL_ERROR,
    UNIT_ROUNDOFF,
    Floats,
    assert_same_bits,
    generators,
    normal,
    rounding,
)

sizes = st.one_of(st.integers(1, 200), st.integers(1000, 3000))


def _logits(generator: np.random.Generator, size: int) -> Floats:
    """Many ties, now and then -inf, as for tokens that may not come."""
    x = np.round(normal(generator, size) * 3) / 2 if generator.random() < 0.5 else normal(generator, size) * 4
    x[generator.random(size) < generator.choice([0.0, 0.1, 1.0], p=[0.5, 0.4, 0.1])] = -np.inf
    return x.astype(np.float32)


slices = st.sampled_from([1, 63, 64, 1000, 5000])
MOST_SLICES = 40  # each is in separate pages, which take most of the time


def _sliced(size: int, slice: int) -> int:
    return max(slice, -(-size // MOST_SLICES))


@settings(max_examples=200, deadline=None)
@given(generator=generators, size=sizes, k=st.integers(1, 40), slice=slices)
def test_top_k(instruction_set: str, generator: np.random.Generator, size: int, k: int, slice: int) -> None:
    x = _logits(generator, size)
    indices, values = native.top_k(instruction_set, x, k, _sliced(size, slice))
    expected = np.argsort(-x, kind="stable")[:k]
    expected = expected[np.isfinite(x[expected])]
    np.testing.assert_array_equal(indices[: len(expected)], expected)
    assert_same_bits(values[: len(expected)], x[expected])
    assert (values[len(expected) :] == -np.inf).all()


@pytest.mark.parametrize("size", [1, 16, 17, 1024, 1025, 2100])
def test_the_greatest_is_found_in_every_place(instruction_set: str, size: int) -> None:
    for place in {0, size // 2, size - 17, size - 1} & set(range(size)):
        x = np.full(size, -5, np.float32)
        x[place:] = -1
        assert native.top_k(instruction_set, x, 1, size)[0] == place


@settings(max_examples=20, deadline=None)
@given(generator=generators, size=st.integers(1, 200), ascending=st.booleans(), slice=slices)
def test_top_k_of_everything_sorts(
    instruction_set: str, generator: np.random.Generator, size: int, ascending: bool, slice: int
) -> None:
    x = np.sort(normal(generator, size)) * (1 if ascending else -1)
    indices, values = native.top_k(instruction_set, x, size, _sliced(size, slice))
    assert_same_bits(values, np.sort(x)[::-1])
    np.testing.assert_array_equal(x[indices], values)


@settings(max_examples=100, deadline=None)
@given(generator=generators, size=sizes, offset=st.sampled_from([0.0, -300.0, 1e4]))
def test_log_sum_exp(instruction_set: str, generator: np.random.Generator, size: int, offset: float) -> None:
    x = _logits(generator, size) + np.float32(offset)
    result = native.log_sum_exp(instruction_set, x)
    assert result == native.log_sum_exp("portable", x)
    finite = x[np.isfinite(x)].astype(np.float64)
    if not finite.size:
        assert result == -np.inf
        return
    exact = finite.max() + np.log(np.exp(finite - finite.max()).sum())
    # A relative error of the sum is an absolute one of its logarithm: of differences t, less than 1/e as t exp(-t) is,
    # exponentials, the sum of positive terms, at least 16 side by side. Then the result is rounded.
    exponentials = EXPONENTIAL_ERROR + (UNIT_ROUNDOFF + EXPONENT_ERROR) * size / np.e
    error = exponentials + rounding(size // 16 + 6) + UNIT_ROUNDOFF * abs(exact)
    assert abs(result - exact) <= error


@pytest.mark.parametrize("size", [1, 15, 16, 33, 1000])
@pytest.mark.parametrize("place", [0, -1])
def test_log_sum_exp_of_one_finite_value_is_it(instruction_set: str, size: int, place: int) -> None:
    x = np.full(size, -np.inf, np.float32)
    x[place] = 3.25
    assert native.log_sum_exp(instruction_set, x) == 3.25


@pytest.mark.parametrize("size", [1, 16, 40])
def test_nothing_but_infinities(instruction_set: str, size: int) -> None:
    x = np.full(size, -np.inf, np.float32)
    assert native.log_sum_exp(instruction_set, x) == -np.inf
    assert_same_bits(native.top_k(instruction_set, x, size, size)[1], x)


@pytest.mark.parametrize("size", [1, 16, 1024, 6000])
def test_log_sum_exp_of_equal_values(instruction_set: str, size: int) -> None:
    x = np.full(size, -7.5, np.float32)
    assert native.log_sum_exp(instruction_set, x) == np.float32(-7.5 + np.log(size))
