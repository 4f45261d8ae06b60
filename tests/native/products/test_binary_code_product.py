"""The product of binary codes: bit for bit what the formula says, on every CPU."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from pocketmt.engine import _native_testing as native
from tests.native.arrays import Floats, Integers, assert_same_bits, codes, generators, normal, scales

BITS = range(1, 3)


@dataclass(frozen=True)
class BinaryCodes:
    """Planes of random signs; the bits that are left over in a row's last byte are anything."""

    planes: NDArray[np.uint8]  # packed: [rows, bits, (columns + 7) / 8]
    alphas: Floats  # [rows, bits]
    columns: int

    @property
    def signs(self) -> Integers:
        """-1 and 1: [rows, bits, columns]."""
        unpacked = np.unpackbits(self.planes, axis=2, count=self.columns, bitorder="little")
        return unpacked.astype(np.int8) * np.int8(2) - np.int8(1)

    def pack(self, instruction_set: str) -> native.Matrix:
        return native.binary_code_matrix(instruction_set, self.planes, self.alphas, self.columns)


def binary_codes(generator: np.random.Generator, rows: int, bits: int, columns: int) -> BinaryCodes:
    planes = generator.integers(0, 256, (rows, bits, (columns + 7) // 8), dtype=np.uint8)
    if generator.integers(3) == 0:
        planes |= generator.choice(np.array([0, 255], np.uint8), (rows, bits, 1))  # rows of ones: the greatest sums
    return BinaryCodes(planes, normal(generator, rows, bits), columns)


def _expected(
    activations: Integers,
    factors: Floats,
    weights: BinaryCodes,
    bias: Floats | None,
    relu: bool,
    offsets: Floats | None = None,
) -> Floats:
    """The sum over planes, from the first, of float(sum) * (activation scale * alpha), each operation in float32."""
    sums = np.einsum("nc,rbc->bnr", activations.astype(np.float64), weights.signs.astype(np.float64))
    terms = sums.astype(np.float32) * (factors[None, :, None] * weights.alphas.T[:, None, :])
    value = terms[0]
    for term in terms[1:]:
        value = value + term
    if offsets is not None:
        totals = activations.astype(np.int64).sum(axis=1).astype(np.float32)
        value = value + totals[:, None] * (factors[:, None] * offsets)
    if bias is not None:
        value = value + bias
    return np.where(value > 0, value, np.float32(0)) if relu else value


@settings(max_examples=100, deadline=None)
@given(
    generator=generators,
    rows=st.integers(1, 200),
    bits=st.sampled_from(BITS),
    columns=st.integers(1, 600),
    count=st.integers(1, 70),
    with_bias=st.booleans(),
    with_offsets=st.booleans(),
    relu=st.booleans(),
    gap=st.sampled_from([0, 1, 5, 16]),
)
def test_product(
    instruction_set: str,
    generator: np.random.Generator,
    rows: int,
    bits: int,
    columns: int,
    count: int,
    with_bias: bool,
    with_offsets: bool,
    relu: bool,
    gap: int,
) -> None:
    weights = binary_codes(generator, rows, bits, columns)
    activations, factors = codes(generator, count, columns), scales(generator, count)
    bias = normal(generator, rows) if with_bias else None
    offsets = normal(generator, rows) if with_offsets else None
    matrix = weights.pack(instruction_set)
    result = matrix.multiply(activations, factors, bias, relu, gap, offsets)
    assert_same_bits(result, _expected(activations, factors, weights, bias, relu, offsets))
    # One row takes other ways through the code than many.
    for row in {0, count // 2, count - 1}:
        alone = matrix.multiply(activations[row : row + 1], factors[row : row + 1], bias, relu, 0, offsets)
        assert_same_bits(alone[0], result[row])


@pytest.mark.parametrize("bits", BITS)
def test_every_height_of_a_tile_and_every_rest_of_outputs(instruction_set: str, bits: int) -> None:
    generator = np.random.default_rng(bits)
    activations, factors = codes(generator, 50, 31), scales(generator, 50)
    for rows in [*range(1, 34), 64, 96, 97, 128, 160, 161]:
        weights = binary_codes(generator, rows, bits, 31)
        matrix = weights.pack(instruction_set)
        for count in (*range(1, 19), *range(31, 36), 47, 48, 49, 50):
            result = matrix.multiply(activations[:count], factors[:count], gap=1)
            assert_same_bits(result, _expected(activations[:count], factors[:count], weights, None, relu=False))


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("count", [37, 241, 300])
def test_more_rows_and_panels_than_a_block(instruction_set: str, bits: int, count: int) -> None:
    generator = np.random.default_rng(bits)
    weights = binary_codes(generator, 2500, bits, 259)
    activations, factors = codes(generator, count, 259), scales(generator, count)
    result = weights.pack(instruction_set).multiply(activations, factors, relu=True)
    assert_same_bits(result, _expected(activations, factors, weights, None, relu=True))


@pytest.mark.parametrize("columns", [255, 256, 4096, 4113, native.most_integer_columns])
@pytest.mark.parametrize("activation", [-127, 127])
def test_the_greatest_sums(instruction_set: str, columns: int, activation: int) -> None:
    planes = np.repeat(np.array([[[0], [255]], [[255], [0]]], np.uint8), (columns + 7) // 8, axis=2)
    alphas = np.array([[1, 0], [0, 1]], np.float32)
    for count in (1, 2, 5):
        activations = np.full((count, columns), activation, np.int8)
        matrix = native.binary_code_matrix(instruction_set, planes, alphas, columns)
        result = matrix.multiply(activations, np.ones(count, np.float32))
        np.testing.assert_array_equal(result, np.float32(-columns * activation))


@settings(max_examples=30, deadline=None)
@given(generator=generators, rows=st.integers(1, 130), bits=st.sampled_from(BITS), columns=st.integers(1, 100))
def test_rows_are_kept(
    instruction_set: str, generator: np.random.Generator, rows: int, bits: int, columns: int
) -> None:
    weights = binary_codes(generator, rows, bits, columns)
    matrix = weights.pack(instruction_set)
    terms = weights.signs.astype(np.float32) * weights.alphas[:, :, None]
    expected = terms[:, 0]
    for bit in range(1, bits):
        expected = expected + terms[:, bit]
    assert_same_bits(np.stack([matrix.row(row) for row in range(rows)]), expected)


def test_codes_that_cannot_be_packed(instruction_set: str) -> None:
    columns = native.most_integer_columns + 1
    with pytest.raises(ValueError, match=f"{columns} columns.*at most {columns - 1}.*fp32"):
        planes = np.zeros((1, 1, columns // 8 + 1), np.uint8)
        native.binary_code_matrix(instruction_set, planes, np.ones((1, 1), np.float32), columns)
    with pytest.raises(ValueError, match=r"3 bits.*1 to 2"):
        native.binary_code_matrix(instruction_set, np.zeros((1, 3, 1), np.uint8), np.ones((1, 3), np.float32), 8)
