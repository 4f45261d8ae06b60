"""The fp32 product against NumPy in double precision."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pocketmt.engine import _native_testing as native
from tests.native.arrays import (
    LEAST_FLOAT,
    Doubles,
    Floats,
    assert_same_bits,
    assert_within,
    generators,
    normal,
    rounding,
)


def _exact(activations: Floats, weight: Floats, bias: Floats | None, relu: bool) -> tuple[Doubles, Doubles]:
    """The result, and how far from it sums in any order and the bias may round."""
    columns = weight.shape[1]
    exact = activations.astype(np.float64) @ weight.T.astype(np.float64)
    magnitude = np.abs(activations).astype(np.float64) @ np.abs(weight).T.astype(np.float64)
    if bias is not None:
        exact += bias
        magnitude += np.abs(bias)
    # Each product is rounded, then passes through at most columns - 1 additions and the bias's.
    bound = rounding(columns + 1) * magnitude + (columns + 1) * LEAST_FLOAT
    return np.maximum(exact, 0) if relu else exact, bound


@settings(max_examples=100, deadline=None)
@given(
    generator=generators,
    rows=st.integers(1, 130),
    columns=st.integers(1, 300),
    count=st.integers(1, 30),
    with_bias=st.booleans(),
    relu=st.booleans(),
    gap=st.sampled_from([0, 1, 5, 16]),
)
def test_product(
    instruction_set: str,
    generator: np.random.Generator,
    rows: int,
    columns: int,
    count: int,
    with_bias: bool,
    relu: bool,
    gap: int,
) -> None:
    weight, activations = normal(generator, rows, columns), normal(generator, count, columns)
    bias = normal(generator, rows) if with_bias else None
    matrix = native.float_matrix(instruction_set, weight)
    result = matrix.multiply_floats(activations, bias, relu, gap)
    assert_within(result, *_exact(activations, weight, bias, relu))
    # A row's result is the row's alone, whatever stands beside it.
    for row in {0, count // 2, count - 1}:
        assert_same_bits(matrix.multiply_floats(activations[row : row + 1], bias, relu)[0], result[row])
    assert_same_bits(matrix.multiply_floats(activations[::-1].copy(), bias, relu, gap), result[::-1])


@pytest.mark.parametrize("count", [60, 61, 97, 241])
def test_more_rows_than_a_block(instruction_set: str, count: int) -> None:
    generator = np.random.default_rng(count)
    weight, activations, bias = normal(generator, 75, 33), normal(generator, count, 33), normal(generator, 75)
    matrix = native.float_matrix(instruction_set, weight)
    result = matrix.multiply_floats(activations, bias, relu=True, gap=3)
    assert_within(result, *_exact(activations, weight, bias, relu=True))
    alone = [matrix.multiply_floats(activations[row : row + 1], bias, relu=True)[0] for row in range(count)]
    assert_same_bits(result, np.stack(alone))


def test_every_height_of_a_tile_and_every_rest_of_outputs(instruction_set: str) -> None:
    generator = np.random.default_rng(3)
    weight, activations = normal(generator, 66, 7), normal(generator, 14, 7)
    for rows in range(1, 67):
        matrix = native.float_matrix(instruction_set, weight[:rows])
        for count in range(1, 15):
            result = matrix.multiply_floats(activations[:count], gap=1)
            assert_within(result, *_exact(activations[:count], weight[:rows], None, relu=False))


def test_a_zero_is_exact(instruction_set: str) -> None:
    zeros = np.zeros((3, 40), np.float32)
    ones = np.ones((2, 40), np.float32)
    assert not native.float_matrix(instruction_set, zeros).multiply_floats(ones).any()
    assert not native.float_matrix(instruction_set, ones).multiply_floats(-ones, relu=True).any()


@settings(max_examples=30, deadline=None)
@given(generator=generators, rows=st.integers(1, 130), columns=st.integers(1, 100))
def test_rows_are_kept(instruction_set: str, generator: np.random.Generator, rows: int, columns: int) -> None:
    weight = normal(generator, rows, columns)
    matrix = native.float_matrix(instruction_set, weight)
    assert_same_bits(np.stack([matrix.row(row) for row in range(rows)]), weight)
