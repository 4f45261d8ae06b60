"""Instruction sets, random arrays, and how results are compared with what NumPy computes."""

import platform

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Integers = NDArray[np.int8]

INSTRUCTION_SETS = (
    "portable",
    *(
        ("neon_dot_product", "neon_i8mm")
        if platform.machine() == "aarch64"
        else ("avx2", "avx_vnni", "avx512_vnni", "amx_int8")
    ),
)

UNIT_ROUNDOFF = 2.0**-24  # of float32
# What native/kernels/vector/exponential.h promises of exp(x), relatively: of any x, and more of each unit of it.
EXPONENTIAL_ERROR = 2e-7
EXPONENT_ERROR = 8e-8
LEAST_FLOAT = 2.0**-149  # what a product that underflows may lose

# hypothesis draws shapes; what fills them is drawn from a seed, which costs next to nothing.
generators = st.integers(0, 2**32 - 1).map(np.random.default_rng)


def normal(generator: np.random.Generator, *shape: int) -> Floats:
    return generator.standard_normal(shape, dtype=np.float32)


def scales(generator: np.random.Generator, size: int) -> Floats:
    """Positive, of different magnitudes, now and then zero."""
    drawn = np.exp2(generator.uniform(-12, 4, size)) * (generator.random(size) > 0.05)
    return drawn.astype(np.float32)


def codes(generator: np.random.Generator, *shape: int) -> Integers:
    """In [-127, 127]; every third array holds nothing but the two ends."""
    drawn = generator.integers(-127, 128, shape, dtype=np.int8)
    extreme = np.where(drawn < 0, np.int8(-127), np.int8(127))
    return extreme if generator.integers(3) == 0 else drawn


def assert_same_bits(result: Floats, expected: Floats) -> None:
    """Equal, the sign of zeros included."""
    assert expected.dtype == np.float32
    if (result.dtype, result.shape) == (expected.dtype, expected.shape) and result.tobytes() == expected.tobytes():
        return
    # Says where they differ; and any NaN equals any other.
    np.testing.assert_array_equal(result, expected)
    np.testing.assert_array_equal(np.signbit(result), np.signbit(expected))


def assert_within(result: Floats, exact: Doubles, bound: Doubles | float) -> None:
    """|result - exact| <= bound, element by element, and a NaN nowhere."""
    error = np.abs(result.astype(np.float64) - exact)
    excess = error - bound
    assert np.all(excess <= 0), f"beyond the bound by up to {np.nanmax(excess)}, NaN: {np.isnan(error).sum()}"


def rounding(operations: int) -> float:
    """gamma_n of Higham, Accuracy and Stability of Numerical Algorithms, section 3.1: n roundings in a row."""
    return operations * UNIT_ROUNDOFF / (1 - operations * UNIT_ROUNDOFF)
