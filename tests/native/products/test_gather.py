"""Gathered rows of packed weights: they give the same products as in the whole matrix."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from pocketmt.engine import _native_testing as native
from tests.native.arrays import Floats, Integers, assert_same_bits, codes, generators, normal, scales
from tests.native.products.test_binary_code_product import binary_codes
from tests.native.products.test_integer_products import FAMILIES, Family

Maker = Callable[[np.random.Generator, str, int, int], native.Matrix]


def packed(
    family: Family, generator: np.random.Generator, instruction_set: str, rows: int, columns: int
) -> native.Matrix:
    return family(generator, rows, columns).pack(instruction_set)


def packed_binary_codes(
    bits: int, generator: np.random.Generator, instruction_set: str, rows: int, columns: int
) -> native.Matrix:
    return binary_codes(generator, rows, bits, columns).pack(instruction_set)


MAKERS: dict[str, Maker] = {
    **{name: partial(packed, family) for name, family in FAMILIES.items()},
    **{f"{bits} bit binary codes": partial(packed_binary_codes, bits) for bits in (1, 2)},
}


def draw_indices(generator: np.random.Generator, rows: int, count: int) -> NDArray[np.uint32]:
    """Any rows, in any order, some of them twice."""
    return generator.integers(0, rows, count, dtype=np.uint32)


def activations(generator: np.random.Generator, columns: int) -> tuple[Integers, Floats]:
    count = int(generator.integers(1, 20))
    return codes(generator, count, columns), scales(generator, count)


@settings(max_examples=50, deadline=None)
@given(generator=generators, rows=st.integers(1, 200), columns=st.integers(1, 200), count=st.integers(1, 150))
@pytest.mark.parametrize("maker", MAKERS)
def test_quantized_rows(
    instruction_set: str, maker: str, generator: np.random.Generator, rows: int, columns: int, count: int
) -> None:
    matrix = MAKERS[maker](generator, instruction_set, rows, columns)
    indices = draw_indices(generator, rows, count)
    gathered = matrix.gather(indices)
    input, factors = activations(generator, columns)
    bias, offsets = normal(generator, rows), normal(generator, rows)
    expected = matrix.multiply(input, factors, bias, True, 0, offsets)[:, indices]
    assert_same_bits(gathered.multiply(input, factors, bias[indices], True, 3, offsets[indices]), expected)
    for place in {0, count // 2, count - 1}:
        assert_same_bits(gathered.row(place), matrix.row(int(indices[place])))


@settings(max_examples=50, deadline=None)
@given(generator=generators, rows=st.integers(1, 300), columns=st.integers(1, 100), count=st.integers(1, 200))
def test_float_rows(instruction_set: str, generator: np.random.Generator, rows: int, columns: int, count: int) -> None:
    matrix = native.float_matrix(instruction_set, normal(generator, rows, columns))
    indices = draw_indices(generator, rows, count)
    gathered = matrix.gather(indices)
    input, bias = normal(generator, int(generator.integers(1, 20)), columns), normal(generator, rows)
    assert_same_bits(
        gathered.multiply_floats(input, bias[indices], gap=3), matrix.multiply_floats(input, bias)[:, indices]
    )
    for place in {0, count // 2, count - 1}:
        assert_same_bits(gathered.row(place), matrix.row(int(indices[place])))


@pytest.mark.parametrize("maker", MAKERS)
def test_rows_of_gathered_rows(instruction_set: str, maker: str) -> None:
    generator = np.random.default_rng(3)
    matrix = MAKERS[maker](generator, instruction_set, 75, 41)
    some = matrix.gather(np.arange(70, 3, -2, dtype=np.uint32))
    input, factors = activations(generator, 41)
    again = some.gather(np.array([33, 0, 7], np.uint32)).multiply(input, factors)
    assert_same_bits(again, matrix.multiply(input, factors)[:, [4, 70, 56]])
