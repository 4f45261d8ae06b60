"""Products of 8-bit and 6-bit weights and of 4-bit lookup tables: bit for bit what the formula says, on every CPU."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from pocketmt.engine import _native_testing as native
from tests.native.arrays import Floats, Integers, assert_same_bits, codes, generators, normal, scales


@dataclass(frozen=True)
class Weights:
    """Weights of one family, with their decoded values."""

    decoded: Integers  # [rows, columns]
    scales: Floats  # [rows]
    nibbles: NDArray[np.uint8] | None = None  # codes of a lookup table
    levels: Integers | None = None  # [16], or of each row [rows, 16]
    bits: int = 8  # of weights without a lookup table

    def pack(self, instruction_set: str) -> native.Matrix:
        if self.bits == 6:
            return native.six_bit_matrix(instruction_set, self.decoded, self.scales)
        if self.nibbles is None or self.levels is None:
            return native.integer_matrix(instruction_set, self.decoded, self.scales)
        columns = self.decoded.shape[1]
        if self.levels.ndim == 2:
            return native.row_lookup_table_matrix(instruction_set, self.nibbles, self.scales, self.levels, columns)
        return native.lookup_table_matrix(instruction_set, self.nibbles, self.scales, self.levels, columns)


Family = Callable[[np.random.Generator, int, int], Weights]


def eight_bit(generator: np.random.Generator, rows: int, columns: int) -> Weights:
    return Weights(codes(generator, rows, columns), scales(generator, rows))


def eight_bit_with_least(generator: np.random.Generator, rows: int, columns: int) -> Weights:
    """From -128 on, which only codes of an affine scheme reach."""
    drawn = generator.integers(-128, 128, (rows, columns), dtype=np.int8)
    drawn[generator.integers(rows), generator.integers(columns)] = -128
    return Weights(drawn, scales(generator, rows))


def seven_bit(generator: np.random.Generator, rows: int, columns: int) -> Weights:
    """In [-64, 63], which some instruction sets multiply faster; every third matrix holds nothing but the two ends."""
    return Weights(codes(generator, rows, columns) >> 1, scales(generator, rows))


def six_bit(generator: np.random.Generator, rows: int, columns: int) -> Weights:
    """In [-32, 31]; every third matrix holds nothing but the two ends."""
    drawn = codes(generator, rows, columns) >> 2
    return Weights(drawn, scales(generator, rows), bits=6)


def lookup_table(generator: np.random.Generator, rows: int, columns: int) -> Weights:
    """Any 16 levels; the upper nibble that is left over in odd rows is anything."""
    nibbles = generator.integers(0, 256, (rows, (columns + 1) // 2), dtype=np.uint8)
    levels = codes(generator, 16)
    each = np.stack([nibbles & 15, nibbles >> 4], axis=2).reshape(rows, -1)[:, :columns]
    return Weights(levels[each], scales(generator, rows), nibbles, levels)


def row_lookup_table(generator: np.random.Generator, rows: int, columns: int) -> Weights:
    """Any 16 levels for each row."""
    nibbles = generator.integers(0, 256, (rows, (columns + 1) // 2), dtype=np.uint8)
    levels = codes(generator, rows, 16)
    each = np.stack([nibbles & 15, nibbles >> 4], axis=2).reshape(rows, -1)[:, :columns]
    return Weights(np.take_along_axis(levels, each, axis=1), scales(generator, rows), nibbles, levels)


FAMILIES: dict[str, Family] = {
    "8 bit": eight_bit,
    "8 bit, -128 included": eight_bit_with_least,
    "8 bit, -64 to 63": seven_bit,
    "6 bit": six_bit,
    "lookup table": lookup_table,
    "row lookup table": row_lookup_table,
}


def _one_negative(drawn: Integers) -> Integers:
    place = int(drawn[-1, -1]) % drawn.size
    positive = np.maximum(drawn, 0)
    positive.flat[place] = -1
    return positive


# Activations that are not negative take another way through the code on some instruction sets.
NEGATIVE: dict[str, Callable[[Integers], Integers]] = {
    "as drawn": lambda drawn: drawn,
    "none": lambda drawn: np.maximum(drawn, np.int8(0)),
    "one": _one_negative,
}


@pytest.fixture(scope="module", params=FAMILIES)
def family(request: pytest.FixtureRequest) -> Family:
    return FAMILIES[request.param]


def _expected(activations: Integers, factors: Floats, weights: Weights, bias: Floats | None, relu: bool) -> Floats:
    """float(sum) * (activation scale * weight scale) + bias, each operation rounded to float32."""
    # Doubles hold the sums exactly, and NumPy multiplies them much faster than integers.
    sums = activations.astype(np.float64) @ weights.decoded.T.astype(np.float64)
    value = sums.astype(np.int32).astype(np.float32) * (factors[:, None] * weights.scales)
    if bias is not None:
        value = value + bias
    return np.where(value > 0, value, np.float32(0)) if relu else value


# Weights are prepared once for all rows: with AVX2 from 5, 16 or 64 rows on, with AVX-VNNI those of 6 bits from 20 on.
# AMX multiplies 16 or 32 rows at once.
counts_drawn = st.integers(1, 70)


@settings(max_examples=100, deadline=None)
@given(
    generator=generators,
    rows=st.integers(1, 130),
    columns=st.integers(1, 300),
    count=counts_drawn,
    with_bias=st.booleans(),
    relu=st.booleans(),
    gap=st.sampled_from([0, 1, 5, 16]),
    negative=st.sampled_from(list(NEGATIVE)),
)
def test_product(
    instruction_set: str,
    family: Family,
    generator: np.random.Generator,
    rows: int,
    columns: int,
    count: int,
    with_bias: bool,
    relu: bool,
    gap: int,
    negative: str,
) -> None:
    weights = family(generator, rows, columns)
    activations, factors = NEGATIVE[negative](codes(generator, count, columns)), scales(generator, count)
    bias = normal(generator, rows) if with_bias else None
    matrix = weights.pack(instruction_set)
    result = matrix.multiply(activations, factors, bias, relu, gap)
    assert_same_bits(result, _expected(activations, factors, weights, bias, relu))
    # One row takes other ways through the code than many.
    for row in {0, count // 2, count - 1}:
        alone = matrix.multiply(activations[row : row + 1], factors[row : row + 1], bias, relu)
        assert_same_bits(alone[0], result[row])


@pytest.mark.parametrize("count", [239, 240, 241, 253, 500])
@pytest.mark.parametrize("negative_rows", [0, 240, 500])
def test_more_rows_than_a_block(instruction_set: str, family: Family, count: int, negative_rows: int) -> None:
    generator = np.random.default_rng(count)
    weights = family(generator, 75, 33)
    activations, factors, bias = codes(generator, count, 33), scales(generator, count), normal(generator, 75)
    np.maximum(activations[negative_rows:], 0, out=activations[negative_rows:])
    result = weights.pack(instruction_set).multiply(activations, factors, bias, relu=True, gap=3)
    assert_same_bits(result, _expected(activations, factors, weights, bias, relu=True))


# Weights of many rows are prepared for 512 inputs at a time.
@pytest.mark.parametrize("count", [15, 16, 18, 19, 20, 21, 63, 64, 67])
@pytest.mark.parametrize("columns", [512, 513, 1500])
def test_many_rows_of_many_columns(instruction_set: str, family: Family, count: int, columns: int) -> None:
    generator = np.random.default_rng(columns)
    weights = family(generator, 70, columns)
    activations, factors = generator.integers(-128, 128, (count, columns), dtype=np.int8), scales(generator, count)
    matrix = weights.pack(instruction_set)
    result = matrix.multiply(activations, factors)
    assert_same_bits(result, _expected(activations, factors, weights, None, relu=False))
    assert_same_bits(matrix.multiply(activations[:1], factors[:1])[0], result[0])


# AMX passes over 512 KiB of weights at a time.
@pytest.mark.parametrize("count", [16, 33, 50])
def test_more_weights_than_are_near(instruction_set: str, family: Family, count: int) -> None:
    generator = np.random.default_rng(count)
    weights = family(generator, 600, 2048)
    activations, factors, bias = codes(generator, count, 2048), scales(generator, count), normal(generator, 600)
    result = weights.pack(instruction_set).multiply(activations, factors, bias, relu=True)
    assert_same_bits(result, _expected(activations, factors, weights, bias, relu=True))


@pytest.mark.parametrize("negative", ["as drawn", "none"])
def test_every_height_of_a_tile_and_every_rest_of_outputs(instruction_set: str, family: Family, negative: str) -> None:
    generator = np.random.default_rng(5)
    activations, factors = NEGATIVE[negative](codes(generator, 67, 9)), scales(generator, 67)
    for rows in range(1, 67):
        weights = family(generator, rows, 9)
        matrix = weights.pack(instruction_set)
        expected = _expected(activations, factors, weights, None, relu=False)
        for count in (*range(1, 27), *range(31, 35), *range(47, 51), *range(62, 68)):
            result = matrix.multiply(activations[:count], factors[:count], gap=1)
            assert_same_bits(result, expected[:count])


@pytest.mark.parametrize("columns", [4096, native.most_integer_columns - 1, native.most_integer_columns])
@pytest.mark.parametrize("activation", [-128, -127, 127])  # -128: of a trained range alone
def test_the_greatest_sums(instruction_set: str, columns: int, activation: int) -> None:
    ends = np.array([-127, 127, 0, 1], np.int8)
    one = np.ones(4, np.float32)
    eight = Weights(np.repeat(ends[:, None], columns, axis=1), one)
    least = Weights(np.repeat(np.array([-128, 127, 0, 1], np.int8)[:, None], columns, axis=1), one)
    nibbles = np.repeat(np.array([0x00, 0x11, 0x22, 0x33], np.uint8)[:, None], (columns + 1) // 2, axis=1)
    four = Weights(eight.decoded, one, nibbles, np.resize(ends, 16))
    seven = Weights(np.repeat(np.array([-64, 63, 0, 1], np.int8)[:, None], columns, axis=1), one)
    six = Weights(np.repeat(np.array([-32, 31, 0, 1], np.int8)[:, None], columns, axis=1), one, bits=6)
    for count in (1, 2, 13, 16, 63, 64):
        activations = np.full((count, columns), activation, np.int8)
        for weights in (eight, least, four, seven, six):
            result = weights.pack(instruction_set).multiply(activations, np.ones(count, np.float32))
            each = weights.decoded[:, 0].astype(np.int64)
            expected = columns * activation * each  # no zero of theirs has a sign
            assert_same_bits(result, np.tile(expected.astype(np.float32), (count, 1)))


@pytest.mark.parametrize("count", [1, 2, 3, 13])
def test_the_lowest_codes_of_a_trained_grid(instruction_set: str, count: int) -> None:
    generator = np.random.default_rng(count)
    activations = generator.choice(np.array([-128, -128, -127, 0, 127], np.int8), (count, 77))
    factors = scales(generator, count)
    weights = Weights(generator.integers(-128, 128, (67, 77), dtype=np.int8), scales(generator, 67))
    for each in (weights, lookup_table(generator, 67, 77)):
        result = each.pack(instruction_set).multiply(activations, factors)
        assert_same_bits(result, _expected(activations, factors, each, None, relu=False))


def test_scales_of_zero(instruction_set: str, family: Family) -> None:
    generator = np.random.default_rng(7)
    weights = family(generator, 40, 50)
    activations, bias = codes(generator, 3, 50), normal(generator, 40)
    none = np.zeros(3, np.float32)
    result = weights.pack(instruction_set).multiply(activations, none, bias)
    assert_same_bits(result, np.tile(bias, (3, 1)))


@settings(max_examples=30, deadline=None)
@given(generator=generators, rows=st.integers(1, 130), columns=st.integers(1, 100))
def test_rows_are_kept(
    instruction_set: str, family: Family, generator: np.random.Generator, rows: int, columns: int
) -> None:
    weights = family(generator, rows, columns)
    matrix = weights.pack(instruction_set)
    unpacked = np.stack([matrix.row(row) for row in range(rows)])
    assert_same_bits(unpacked, weights.decoded.astype(np.float32) * weights.scales[:, None])


def test_more_columns_than_sums_can_hold(instruction_set: str) -> None:
    columns = native.most_integer_columns + 1
    one = np.ones(1, np.float32)
    with pytest.raises(ValueError, match=f"{columns} columns.*at most {columns - 1}.*fp32"):
        native.integer_matrix(instruction_set, np.zeros((1, columns), np.int8), one)
    with pytest.raises(ValueError, match=f"{columns} columns.*at most {columns - 1}.*fp32"):
        native.six_bit_matrix(instruction_set, np.zeros((1, columns), np.int8), one)
    with pytest.raises(ValueError, match=f"{columns} columns.*at most {columns - 1}.*fp32"):
        nibbles = np.zeros((1, columns // 2 + 1), np.uint8)
        native.lookup_table_matrix(instruction_set, nibbles, one, np.zeros(16, np.int8), columns)
