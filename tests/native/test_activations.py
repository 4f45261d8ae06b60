"""The activation functions of feed-forward networks."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pocketmt.engine import _native_testing as native
from tests.native.arrays import (
    EXPONENT_ERROR,
    EXPONENTIAL_ERROR,
    LEAST_FLOAT,
    UNIT_ROUNDOFF,
    Doubles,
    assert_same_bits,
    assert_within,
    generators,
    normal,
    rounding,
)

LEAST_NORMAL = 2.0**-126  # the exponential may be this where it ought to be less
# What native/kernels/vector/activations.h promises of Q(t), relatively.
TAIL_FIT = 1.2e-7


def sigmoid(x: Doubles) -> Doubles:
    small: Doubles = np.exp(-np.abs(x))
    result: Doubles = np.where(x < 0, small, 1) / (1 + small)
    return result


def tanh_argument(x: Doubles) -> Doubles:
    return 2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)


def normal_tail(x: Doubles) -> Doubles:
    return np.array([math.erfc(abs(value) / math.sqrt(2)) / 2 for value in x])


def gelu(x: Doubles) -> Doubles:
    tail = normal_tail(x)
    return x * np.where(x > 0, 1 - tail, tail)


EXACT: dict[str, Callable[[Doubles], Doubles]] = {
    "swish": lambda x: x * sigmoid(x),
    "gelu": gelu,
    "gelu_tanh": lambda x: x * sigmoid(tanh_argument(x)),
    "gelu_sigmoid": lambda x: x * sigmoid(1.702 * x),
}


def bound(name: str, x: Doubles) -> Doubles:
    """What rounding and the approximation of the exponential can change.

    An argument that is off relatively by r changes its exponential relatively by r times the argument. Where the exact
    exponential is below the least normal number, it is off by that number at most.
    """
    if name == "gelu":
        # t has three roundings, to which t Q(t) answers 2.7-fold; the terms of Q(t) add up to 1.8 times their sum.
        fixed = TAIL_FIT + 2.7 * rounding(3) + 1.8 * rounding(14) + rounding(4) + EXPONENTIAL_ERROR
        relative = fixed + (EXPONENT_ERROR + UNIT_ROUNDOFF) * x**2 / 2
        error = np.abs(x) * normal_tail(x) * relative
    else:
        # The argument: of the sigmoid's approximations, constant and product; for tanh, also the cube and the sum.
        roundings, argument = {
            "swish": (0, x),
            "gelu_sigmoid": (2, 1.702 * x),
            "gelu_tanh": (7, tanh_argument(x)),
        }[name]
        relative = EXPONENTIAL_ERROR + (EXPONENT_ERROR + rounding(roundings)) * np.abs(argument) + rounding(3)
        error = np.abs(x) * sigmoid(argument) * relative
    smallest = np.abs(x) * 2 * LEAST_NORMAL + LEAST_FLOAT
    total: Doubles = error + UNIT_ROUNDOFF * np.abs(EXACT[name](x)) + smallest
    return total


@pytest.mark.parametrize("name", EXACT)
@settings(max_examples=60, deadline=None)
@given(generator=generators, size=st.integers(1, 200), scale=st.sampled_from([0.01, 1.0, 4.0, 30.0]))
def test_within_the_bound_and_the_same_bits_everywhere(
    instruction_set: str, name: str, generator: np.random.Generator, size: int, scale: float
) -> None:
    x = normal(generator, size) * np.float32(scale)
    found = getattr(native, name)(instruction_set, x)
    exact = x.astype(np.float64)
    assert_within(found, EXACT[name](exact), bound(name, exact))
    assert_same_bits(found, getattr(native, name)("portable", x))


@pytest.mark.parametrize("name", EXACT)
def test_every_magnitude(instruction_set: str, name: str) -> None:
    positive = np.exp2(np.arange(-140, 60, 1 / 16)).astype(np.float32)
    x = np.concatenate([positive, -positive])
    found = getattr(native, name)(instruction_set, x)
    exact = x.astype(np.float64)
    assert_within(found, EXACT[name](exact), bound(name, exact))
    large = positive >= 128  # where exp(-x) is below the least normal number
    np.testing.assert_array_equal(found[: len(positive)][large], positive[large])
    assert np.all(np.abs(found[len(positive) :][large]) <= positive[large] * 2 * LEAST_NORMAL)


@pytest.mark.parametrize("name", EXACT)
def test_zero_stays_zero(instruction_set: str, name: str) -> None:
    np.testing.assert_array_equal(getattr(native, name)(instruction_set, np.zeros(19, np.float32)), np.zeros(19))
