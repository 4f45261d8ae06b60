"""Weights with an offset a row, as affine codes have: code * scale + offset."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pocketmt.engine import _native_testing as native
from tests.native.arrays import assert_same_bits, codes, generators, normal, scales


@settings(max_examples=60, deadline=None)
@given(
    generator=generators,
    rows=st.integers(1, 70),
    columns=st.integers(1, 300),
    count=st.integers(1, 70),
    with_bias=st.booleans(),
    relu=st.booleans(),
)
def test_product_with_offsets(
    instruction_set: str,
    generator: np.random.Generator,
    rows: int,
    columns: int,
    count: int,
    with_bias: bool,
    relu: bool,
) -> None:
    weight = generator.integers(-128, 128, (rows, columns), dtype=np.int8)  # -128 is code 0 of 8 bits
    weight_scales, offsets = scales(generator, rows), normal(generator, rows)
    activations, factors = codes(generator, count, columns), scales(generator, count)
    bias = normal(generator, rows) if with_bias else None
    matrix = native.integer_matrix(instruction_set, weight, weight_scales)
    result = matrix.multiply(activations, factors, bias, relu, gap=1, offsets=offsets)
    sums = (activations.astype(np.float64) @ weight.T.astype(np.float64)).astype(np.float32)
    totals = activations.astype(np.int64).sum(axis=1).astype(np.float32)
    expected = sums * (factors[:, None] * weight_scales) + totals[:, None] * (factors[:, None] * offsets)
    if bias is not None:
        expected = expected + bias
    assert_same_bits(result, np.where(expected > 0, expected, np.float32(0)) if relu else expected)


@settings(max_examples=40, deadline=None)
@given(generator=generators, rows=st.integers(1, 70), columns=st.integers(1, 300), count=st.integers(1, 70))
def test_lookup_tables_with_offsets(
    instruction_set: str, generator: np.random.Generator, rows: int, columns: int, count: int
) -> None:
    nibbles = generator.integers(0, 256, (rows, (columns + 1) // 2), dtype=np.uint8)
    levels = codes(generator, 16)
    weight = levels[np.stack([nibbles & 15, nibbles >> 4], axis=2).reshape(rows, -1)[:, :columns]]
    weight_scales, offsets = scales(generator, rows), normal(generator, rows)
    activations, factors = codes(generator, count, columns), scales(generator, count)
    as_levels = native.lookup_table_matrix(instruction_set, nibbles, weight_scales, levels, columns)
    as_bytes = native.integer_matrix(instruction_set, weight, weight_scales)
    arguments = (activations, factors, normal(generator, rows), False, 0, offsets)
    assert_same_bits(as_levels.multiply(*arguments), as_bytes.multiply(*arguments))


@settings(max_examples=40, deadline=None)
@given(generator=generators, rows=st.integers(1, 70), columns=st.integers(1, 300), count=st.integers(1, 70))
def test_six_bits_with_offsets(
    instruction_set: str, generator: np.random.Generator, rows: int, columns: int, count: int
) -> None:
    weight = generator.integers(-32, 32, (rows, columns), dtype=np.int8)
    weight_scales, offsets = scales(generator, rows), normal(generator, rows)
    activations, factors = codes(generator, count, columns), scales(generator, count)
    as_six = native.six_bit_matrix(instruction_set, weight, weight_scales)
    as_bytes = native.integer_matrix(instruction_set, weight, weight_scales)
    arguments = (activations, factors, normal(generator, rows), False, 0, offsets)
    assert_same_bits(as_six.multiply(*arguments), as_bytes.multiply(*arguments))
