"""Logarithmic quantization of activations (Aji and Heafield 2020, section 3.5) against its formula in float32."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pocketmt.engine import _native_testing as native
from tests.native.arrays import Floats, assert_same_bits, generators, normal

TOPS = [1.0, 2.0, 8.0, 128.0]


def _expected(x: Floats, top: float, scale: float) -> Floats:
    """The nearest power by trying them all, the lower where two are as near; [count, columns]."""
    position = np.abs(x) * (np.float32(top) / np.float32(scale))
    powers = np.float32(2) ** np.arange(int(np.log2(top)) + 1)
    # Distances of numbers in [1, 128] from powers of two are exact in double.
    nearest = powers[np.abs(np.clip(position, 1, top)[..., None].astype(np.float64) - powers).argmin(axis=-1)]
    signed: Floats = np.where(x < 0, np.float32(-1), np.float32(1)) * np.minimum(nearest, np.float32(127))
    return signed


@settings(max_examples=100, deadline=None)
@given(
    generator=generators,
    count=st.integers(1, 5),
    columns=st.integers(1, 200),
    magnitude=st.integers(-12, 12),
    top=st.sampled_from(TOPS),
    scale=st.sampled_from([1.0, 4.0, 0.7]),
    gap=st.sampled_from([0, 3]),
)
def test_formula(
    instruction_set: str,
    generator: np.random.Generator,
    count: int,
    columns: int,
    magnitude: int,
    top: float,
    scale: float,
    gap: int,
) -> None:
    x = np.ldexp(normal(generator, count, columns), magnitude)
    x[generator.random((count, columns)) < 0.1] = 0
    codes, scales = native.quantize_rows_logarithmic(instruction_set, x, top, scale, gap)
    assert codes.shape == (count, -(-columns // 64) * 64)
    np.testing.assert_array_equal(codes[:, :columns], _expected(x, top, scale))
    assert not codes[:, columns:].any()
    assert_same_bits(scales, np.full(count, np.float32(scale) / np.float32(top)))


@pytest.mark.parametrize("columns", [5, 16, 37])
def test_a_worked_example(instruction_set: str, columns: int) -> None:
    # Steps of 1/128 up to 1: 0.75 and 0.375 lie in the middle of two and go to the smaller; -0 has a positive sign.
    x = np.array([0.75, np.nextafter(np.float32(0.75), np.float32(1)), -0.375, -0.0, 1e30], np.float32)
    x = np.resize(x, (1, columns))
    codes, _ = native.quantize_rows_logarithmic(instruction_set, x, 128.0, 1.0)
    np.testing.assert_array_equal(codes[0, :columns], np.resize([64, 127, -32, 1, 127], columns))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 3.4e38, 1e-45])
def test_whatever_comes_codes_stay_in_their_range(instruction_set: str, value: float) -> None:
    x = np.full((1, 33), value, np.float32)
    codes, _ = native.quantize_rows_logarithmic(instruction_set, x, 128.0, 2.0**-20)
    assert np.all(np.abs(codes[:, :33].astype(int)) <= 127)
