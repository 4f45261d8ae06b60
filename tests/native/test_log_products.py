"""Products of log codes by exponent sums [L5], and what they are timed against: all compute what they should."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from pocketmt.engine import _native_testing as native
from tests.native.arrays import Floats, assert_same_bits, assert_within, generators, rounding

Codes = NDArray[np.uint8]
WITH_127 = ("int8", "level_table")
WAYS = ("fp32", *WITH_127, "exponent_sum")


def _values(codes: Codes, top: int = 128) -> NDArray[np.int64]:
    """+-2^(7 - m) of sign << 3 | m, the largest held as `top`."""
    magnitudes = np.minimum(2 ** (7 - (codes & 7).astype(np.int64)), top)
    return np.where(codes & 8, -magnitudes, magnitudes)


def _draw(generator: np.random.Generator, *shape: int) -> Codes:
    """Any codes; every third array holds nothing but the largest ones."""
    drawn: Codes = generator.integers(0, 16, shape, dtype=np.uint8)
    return drawn & np.uint8(8) if generator.integers(3) == 0 else drawn


def test_a_product_by_hand(instruction_set: str) -> None:
    # Eq. 8: (2^7, -2^5, 2^0) . (2^3, 2^2, -2^0) = 2^10 - 2^7 - 2^0 = 895. Scales: 1/128 a unit, squared.
    weights = np.array([[0, 8 + 2, 7]], np.uint8)
    activations = np.array([[4, 5, 8 + 7]], np.uint8)
    scale = np.array([1 / 128], np.float32)
    products = native.LogMatrixProducts(instruction_set, weights, scale, activations, 1 / 128)
    assert products.values("exponent_sum").tolist() == [895 / 128**2]
    assert products.values("level_table").tolist() == [(127 * 8 - 32 * 4 - 1) / 128**2]


@pytest.mark.parametrize("way", WAYS)
def test_every_pair_of_codes(instruction_set: str, way: str) -> None:
    one, other = (codes.reshape(-1).astype(np.uint8) for codes in np.mgrid[0:16, 0:16])
    top = 127 if way in WITH_127 else 128
    expected = _values(one, top) * _values(other, top)
    for pair in range(256):
        weights, activations = one[pair].reshape(1, 1), other[pair].reshape(1, 1)
        products = native.LogMatrixProducts(instruction_set, weights, np.ones(1, np.float32), activations, 1.0)
        assert products.values(way)[0] == expected[pair], (one[pair], other[pair])


@settings(max_examples=60, deadline=None)
@given(generator=generators, rows=st.integers(1, 70), columns=st.integers(1, 300))
def test_a_matrix_times_a_vector(instruction_set: str, generator: np.random.Generator, rows: int, columns: int) -> None:
    weights, activations = _draw(generator, rows, columns), _draw(generator, 1, columns)
    scales, scale = generator.uniform(0, 2, rows).astype(np.float32), np.float32(generator.uniform(0, 2))
    products = native.LogMatrixProducts(instruction_set, weights, scales, activations, float(scale))
    for way in ("exponent_sum", *WITH_127):
        top = 127 if way in WITH_127 else 128
        sums = _values(weights, top) @ _values(activations[0], top)
        assert_same_bits(products.values(way), sums.astype(np.float32) * (scale * scales))
    terms = _values(weights) * _values(activations[0]) * scales.astype(np.float64)[:, None] * float(scale)
    bound = rounding(columns + 3) * np.abs(terms).sum(axis=1)
    assert_within(products.values("fp32"), terms.sum(axis=1), bound)


@settings(max_examples=60, deadline=None)
@given(generator=generators, pairs=st.integers(1, 9))
def test_dot_products_of_vectors(instruction_set: str, generator: np.random.Generator, pairs: int) -> None:
    a, b = _draw(generator, pairs, 128), _draw(generator, pairs, 128)
    products = native.LogDotProducts(instruction_set, a, b)
    for way in WAYS:
        top = 127 if way in WITH_127 else 128
        expected: Floats = (_values(a, top) * _values(b, top)).sum(axis=1).astype(np.float32)  # below 2^24: exact
        np.testing.assert_array_equal(products.values(way), expected, way)


def test_time_passes_and_what_is_unknown_is_refused(instruction_set: str) -> None:
    codes = np.zeros((2, 128), np.uint8)
    products = native.LogDotProducts(instruction_set, codes, codes)
    assert all(products.seconds(way, 3) >= 0 for way in WAYS)
    with pytest.raises(ValueError, match="one of fp32, int8, level_table and exponent_sum"):
        products.seconds("float", 1)
    with pytest.raises(ValueError, match="codes of 4 bits"):
        native.LogDotProducts(instruction_set, codes + np.uint8(16), codes)
    with pytest.raises(ValueError, match=r"\[pairs, 128\]"):
        native.LogDotProducts(instruction_set, codes[:, :64].copy(), codes)
