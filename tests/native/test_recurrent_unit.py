"""One position of the simpler simple recurrent unit."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pocketmt.engine import _native_testing as native
from tests.native.arrays import assert_same_bits, generators, normal


@settings(max_examples=60, deadline=None)
@given(
    generator=generators,
    size=st.integers(1, 200),
    scale=st.sampled_from([0.1, 1.0, 30.0, 200.0]),
    first=st.booleans(),
)
def test_recurrent_unit(
    instruction_set: str, generator: np.random.Generator, size: int, scale: float, first: bool
) -> None:
    projected, bias = normal(generator, 2 * size) * np.float32(scale), normal(generator, size)
    before = None if first else normal(generator, size)
    cell, out = native.recurrent_unit(instruction_set, projected, bias, before)
    with np.errstate(over="ignore"):  # 1 / infinity is the 0 that is meant
        forget = 1 / (1 + np.exp(-(projected[size:].astype(np.float64) + bias)))
    expected = (1 - forget) * projected[:size] + (0 if before is None else forget * before)
    # The exponential is good to 2e-7, the sum before it to half a unit in the last place.
    magnitude = np.abs(projected[:size]) + (0 if before is None else np.abs(before))
    bound = magnitude * (1e-6 + 2.0**-24 * np.abs(projected[size:] + bias)) + 1e-30
    assert np.all(np.abs(cell - expected) <= bound)
    assert_same_bits(out, np.maximum(cell, 0))
    portable = native.recurrent_unit("portable", projected, bias, before)
    assert_same_bits(cell, portable[0])
    assert_same_bits(out, portable[1])


def test_a_gate_that_is_shut_keeps_the_cell_and_an_open_one_replaces_it(instruction_set: str) -> None:
    projected = np.array([5, 5, -5, 90, -90, 90], dtype=np.float32)
    cell, out = native.recurrent_unit(
        instruction_set, projected, np.zeros(3, dtype=np.float32), np.array([1, 2, -3], dtype=np.float32)
    )
    np.testing.assert_array_equal(cell, np.array([1, 5, -3], dtype=np.float32))
    np.testing.assert_array_equal(out, np.array([1, 5, 0], dtype=np.float32))
