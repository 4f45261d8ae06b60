"""Steps of average attention."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pocketmt.engine import _native_testing as native
from tests.native.arrays import (
    EXPONENT_ERROR,
    EXPONENTIAL_ERROR,
    LEAST_FLOAT,
    Doubles,
    assert_same_bits,
    assert_within,
    generators,
    normal,
    rounding,
)

sizes = st.integers(1, 200)


@settings(max_examples=60, deadline=None)
@given(generator=generators, size=sizes, count=st.sampled_from([1, 2, 7, 500]))
def test_running_mean(instruction_set: str, generator: np.random.Generator, size: int, count: int) -> None:
    x, before = normal(generator, size), normal(generator, size)
    mean = native.running_mean(instruction_set, x, before, count)
    exact = (before.astype(np.float64) * count + x) / (count + 1)
    bound = rounding(3) * (np.abs(before.astype(np.float64)) * count + np.abs(x)) / (count + 1) + LEAST_FLOAT
    assert_within(mean, exact, bound)
    assert_same_bits(mean, native.running_mean("portable", x, before, count))


@pytest.mark.parametrize("size", [1, 16, 37])
def test_the_mean_of_one_vector_is_that_vector(instruction_set: str, size: int) -> None:
    x = normal(np.random.default_rng(size), size)
    assert_same_bits(native.running_mean(instruction_set, x, None, 0), x)


@settings(max_examples=60, deadline=None)
@given(generator=generators, size=sizes, scale=st.sampled_from([0.1, 3.0, 60.0]))
def test_gated_sum(instruction_set: str, generator: np.random.Generator, size: int, scale: float) -> None:
    x_gate, x, y_gate, y = (normal(generator, size) for _ in range(4))
    x_gate, y_gate = x_gate * np.float32(scale), y_gate * np.float32(scale)
    found = native.gated_sum(instruction_set, x_gate, x, y_gate, y)

    def part(gate: Doubles, value: Doubles) -> Doubles:
        small = np.exp(-np.abs(gate))
        result: Doubles = np.where(gate < 0, small, 1) / (1 + small) * value
        return result

    def bound(gate: Doubles, value: Doubles) -> Doubles:
        # The gate as in test_activations.py, the product and the sum.
        relative = EXPONENTIAL_ERROR + EXPONENT_ERROR * np.abs(gate) + rounding(5)
        result: Doubles = np.abs(part(gate, value)) * relative + np.abs(value) * 2.0**-125
        return result

    first = (x_gate.astype(np.float64), x.astype(np.float64))
    second = (y_gate.astype(np.float64), y.astype(np.float64))
    assert_within(found, part(*first) + part(*second), bound(*first) + bound(*second) + LEAST_FLOAT)
    assert_same_bits(found, native.gated_sum("portable", x_gate, x, y_gate, y))


def test_shut_and_open_gates(instruction_set: str) -> None:
    gates = np.array([200, -200, 200, -200], np.float32)
    x, y = np.array([1, 2, 3, 4], np.float32), np.array([10, 20, 30, 40], np.float32)
    np.testing.assert_array_equal(native.gated_sum(instruction_set, gates, x, -gates, y), [1, 20, 3, 40])
