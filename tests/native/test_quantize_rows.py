"""Activations to 8 bit: exactly the formula, in float32."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pocketmt.engine import _native_testing as native
from tests.native.arrays import Floats, Integers, assert_same_bits, generators, normal


def _expected(x: Floats) -> tuple[Integers, Floats]:
    greatest = np.abs(x).max(axis=1)
    zero = greatest < np.float32(1e-35)
    inverse = np.float32(127) / np.where(zero, np.float32(1), greatest)
    # rint rounds halves to even
    rounded = np.rint(x * np.where(zero, np.float32(0), inverse)[:, None])
    codes = np.zeros((x.shape[0], -(-x.shape[1] // 64) * 64), np.int8)
    codes[:, : x.shape[1]] = rounded
    return codes, np.where(zero, np.float32(0), greatest / np.float32(127))


def _assert_quantized(instruction_set: str, x: Floats, gap: int = 0) -> None:
    codes, scales = native.quantize_rows(instruction_set, x, gap)
    expected_codes, expected_scales = _expected(x)
    np.testing.assert_array_equal(codes, expected_codes)
    assert_same_bits(scales, expected_scales)


@settings(max_examples=100, deadline=None)
@given(
    generator=generators,
    count=st.integers(1, 9),
    columns=st.integers(1, 300),
    magnitude=st.integers(-110, 120),
    gap=st.sampled_from([0, 1, 7]),
)
def test_formula(
    instruction_set: str, generator: np.random.Generator, count: int, columns: int, magnitude: int, gap: int
) -> None:
    x = np.ldexp(normal(generator, count, columns), magnitude)
    x[generator.random((count, columns)) < 0.1] = 0
    _assert_quantized(instruction_set, x, gap)


@pytest.mark.parametrize("columns", [15, 16, 17, 64, 254])
def test_halves_go_to_the_even_code(instruction_set: str, columns: int) -> None:
    halves = np.arange(columns, dtype=np.float32) % 254 - np.float32(126.5)
    x = np.stack([halves, -halves])
    x[:, 0] = 127  # 127 / max|x| is 1
    codes, scales = native.quantize_rows(instruction_set, x)
    assert not np.any(codes[:, 1:columns] % 2)
    np.testing.assert_array_equal(np.abs(codes[:, 1:columns] - x[:, 1:]), np.float32(0.5))
    np.testing.assert_array_equal(scales, np.float32(1))


@pytest.mark.parametrize("columns", [1, 33, 128])
@pytest.mark.parametrize("value", [0.0, -0.0, 1e-45, 1e-38, -9.9e-36])
def test_rows_next_to_nothing_are_zero(instruction_set: str, columns: int, value: float) -> None:
    x = np.full((2, columns), value, np.float32)
    codes, scales = native.quantize_rows(instruction_set, x)
    assert not codes.any()
    assert not scales.any()


@pytest.mark.parametrize("value", [1.01e-35, -2e-35, 3e38, -3.4e38])
def test_the_smallest_and_greatest_rows(instruction_set: str, value: float) -> None:
    x = np.zeros((1, 40), np.float32)
    x[0, 37], x[0, 3] = value, value / 2
    codes, _ = native.quantize_rows(instruction_set, x)
    assert codes[0, 37] == np.sign(value) * 127
    _assert_quantized(instruction_set, x)


@settings(max_examples=50, deadline=None)
@given(generator=generators, columns=st.integers(1, 200))
def test_values_come_back_within_half_a_step(
    instruction_set: str, generator: np.random.Generator, columns: int
) -> None:
    x = normal(generator, 2, columns)
    codes, scales = native.quantize_rows(instruction_set, x)
    step = scales[:, None].astype(np.float64)
    # 3 roundings of values of up to 127 steps beside the half
    assert np.all(np.abs(codes[:, :columns] * step - x) <= step * (0.5 + 127 * 3 * 2.0**-24))
