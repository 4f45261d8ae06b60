"""Quantization of activations with a calibrated scale, compared with its formula in float32."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pocketmt.engine import _native_testing as native
from tests.native.arrays import generators, normal


@settings(max_examples=80, deadline=None)
@given(
    generator=generators,
    count=st.integers(1, 5),
    columns=st.integers(1, 200),
    inverse=st.sampled_from([0.5, 40.0, 127.0, 1000.0]),
    gap=st.sampled_from([0, 3]),
)
def test_formula(
    instruction_set: str, generator: np.random.Generator, count: int, columns: int, inverse: float, gap: int
) -> None:
    x = normal(generator, count, columns)
    codes = native.quantize_rows_static(instruction_set, x, inverse, gap)
    assert codes.shape == (count, -(-columns // 64) * 64)
    expected = np.clip(np.round(x * np.float32(inverse)), -127, 127)
    np.testing.assert_array_equal(codes[:, :columns], expected)
    assert not codes[:, columns:].any()


def test_halves_go_to_even_and_what_is_too_large_is_clamped(instruction_set: str) -> None:
    x = np.array([[0.5, 1.5, -2.5, 126.5, 127.5, -300, 1e30, -np.inf]], dtype=np.float32)
    codes = native.quantize_rows_static(instruction_set, x, 1.0)
    np.testing.assert_array_equal(codes[0, :8], [0, 2, -2, 126, 127, -127, 127, -127])


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 3.4e38, 1e-45])
def test_whatever_comes_codes_stay_in_their_range(instruction_set: str, value: float) -> None:
    codes = native.quantize_rows_static(instruction_set, np.full((1, 33), value, np.float32), 1e10)
    assert np.all(np.abs(codes[:, :33].astype(int)) <= 127)
