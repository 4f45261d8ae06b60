"""One position of an LSTM."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pocketmt.engine import _native_testing as native
from tests.native.arrays import assert_same_bits, generators, normal


@settings(max_examples=60, deadline=None)
@given(
    generator=generators,
    size=st.integers(1, 100),
    scale=st.sampled_from([0.01, 1.0, 30.0, 200.0]),
    first=st.booleans(),
)
def test_lstm_unit(instruction_set: str, generator: np.random.Generator, size: int, scale: float, first: bool) -> None:
    projected = normal(generator, 4 * size) * np.float32(scale)
    recurrent = None if first else normal(generator, 4 * size) * np.float32(scale)
    before = None if first else normal(generator, size) * np.float32(3)
    cell, hidden = native.lstm_unit(instruction_set, projected, recurrent, before)
    rows = (projected if recurrent is None else projected + recurrent).astype(np.float64).reshape(4, size)
    given_gate, kept, shown = (1 + np.tanh(rows[:3] / 2)) / 2
    expected = given_gate * np.tanh(rows[3]) + (0 if before is None else kept * before)
    # The exponential is good to 2e-7, as is what it is divided by; tanh is the difference of two numbers up to 1.
    bound = 2e-6 * (1 + (0 if before is None else np.abs(before)))
    assert np.all(np.abs(cell - expected) <= bound)
    assert np.all(np.abs(hidden - shown * np.tanh(cell.astype(np.float64))) <= 2e-6)
    for one, other in zip((cell, hidden), native.lstm_unit("portable", projected, recurrent, before), strict=True):
        assert_same_bits(one, other)


def test_gates_that_are_open_or_shut(instruction_set: str) -> None:
    # Kept; replaced by tanh(1); both; neither. Rows of i, f, o, g.
    rows = [[-90, 90, 90, -90], [90, -90, 90, -90], [90, 90, 90, -90], [50, 1, 1, 1]]
    given_rows = np.array(rows, dtype=np.float32).ravel()
    before = np.array([3, 3, 3, 3], dtype=np.float32)
    cell, hidden = native.lstm_unit(instruction_set, given_rows, np.zeros(16, dtype=np.float32), before)
    tanh1 = np.tanh(1.0)
    np.testing.assert_allclose(cell, [3, tanh1, 3 + tanh1, 0], atol=1e-6)
    np.testing.assert_allclose(hidden, [np.tanh(3.0), np.tanh(tanh1), np.tanh(3 + tanh1), 0], atol=1e-6)
    assert cell[3] == 0 and hidden[3] == 0
    # A saturated candidate: its sign is that of the row.
    saturated = np.array([90, 90, 90, -200], dtype=np.float32)
    cell, hidden = native.lstm_unit(instruction_set, saturated, None, None)
    assert cell.tolist() == [-1.0]
    np.testing.assert_allclose(hidden, [np.tanh(-1.0)], atol=1e-6)
