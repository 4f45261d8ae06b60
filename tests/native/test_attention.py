"""Attention over a sentence's memory and over a decoder's cache, against NumPy in double precision."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pocketmt.engine import _native_testing as native
from tests.native.arrays import (
    EXPONENT_ERROR,
    EXPONENTIAL_ERROR,
    UNIT_ROUNDOFF,
    Doubles,
    Floats,
    assert_same_bits,
    assert_within,
    generators,
    normal,
    rounding,
)

LEAST_PROBABILITY = 2e-38  # how far off ours may be where exp is no normal number

head_sizes = st.sampled_from([4, 8, 12, 16, 20, 32, 36, 64])
positions_drawn = st.one_of(st.integers(1, 70), st.integers(100, 260))


def _exact(queries: Floats, keys: Floats, values: Floats, heads: int) -> tuple[Doubles, Doubles]:
    """softmax(q K^T / sqrt(head size)) V for each head, and how far from it float32 may be, to first order."""
    count, width = queries.shape
    positions, size = keys.shape[0], width // heads
    q = queries.astype(np.float64).reshape(count, heads, size).transpose(1, 0, 2)
    k = keys.astype(np.float64).reshape(positions, heads, size).transpose(1, 2, 0)
    v = values.astype(np.float64).reshape(positions, heads, size).transpose(1, 0, 2)
    scores = q @ k / np.sqrt(size)
    shifted = scores - scores.max(axis=2, keepdims=True)
    weights = np.exp(shifted)
    total = weights.sum(axis=2, keepdims=True)
    # Errors of a score and of the greatest one; then the difference, the factor (two roundings) and their product.
    score_error = rounding(size) * (np.abs(q) @ np.abs(k)).max(axis=2, keepdims=True) / np.sqrt(size)
    exponent_error = 2 * score_error + (4 * UNIT_ROUNDOFF + EXPONENT_ERROR) * np.abs(shifted)
    relative = np.expm1(exponent_error) + EXPONENTIAL_ERROR
    # What holds for each weight holds for their sum, whose additions round too; so do a reciprocal, a product with it,
    # the products with values and their additions.
    numerator = (weights * relative / total) @ np.abs(v)
    denominator = (weights * relative).sum(axis=2, keepdims=True) / total
    magnitude = weights / total @ np.abs(v)
    bound = numerator + magnitude * (denominator + rounding(2 * positions + 3))
    bound = 1.01 * bound + LEAST_PROBABILITY * positions * np.abs(v).max()
    exact = weights @ v / total
    return (
        exact.transpose(1, 0, 2).reshape(count, width),
        bound.transpose(1, 0, 2).reshape(count, width),
    )


@settings(max_examples=50, deadline=None)
@given(
    generator=generators,
    positions=positions_drawn,
    heads=st.integers(1, 4),
    head_size=head_sizes,
    gap=st.sampled_from([0, 3, 16]),
)
def test_transpose_keys(
    instruction_set: str, generator: np.random.Generator, positions: int, heads: int, head_size: int, gap: int
) -> None:
    keys = normal(generator, positions, heads * head_size)
    result = native.transpose_keys(instruction_set, keys, heads, gap)
    expected = np.zeros((heads, head_size, -(-positions // 16) * 16), np.float32)
    expected[:, :, :positions] = keys.reshape(positions, heads, head_size).transpose(1, 2, 0)
    assert_same_bits(result, expected)


@settings(max_examples=60, deadline=None)
@given(
    generator=generators,
    count=st.integers(1, 11),
    positions=positions_drawn,
    heads=st.integers(1, 4),
    head_size=head_sizes,
    sharpness=st.sampled_from([0.5, 2.0, 8.0]),
    gap=st.sampled_from([0, 3, 16]),
)
def test_attend(
    instruction_set: str,
    generator: np.random.Generator,
    count: int,
    positions: int,
    heads: int,
    head_size: int,
    sharpness: float,
    gap: int,
) -> None:
    width = heads * head_size
    queries = normal(generator, count, width) * np.float32(sharpness)
    keys, values = normal(generator, positions, width), normal(generator, positions, width)
    transposed = native.transpose_keys("portable", keys, heads)
    result = native.attend(instruction_set, queries, transposed, values, gap)
    assert_within(result, *_exact(queries, keys, values, heads))
    assert_same_bits(result, native.attend("portable", queries, transposed, values))
    for row in {0, count // 2, count - 1}:
        alone = native.attend(instruction_set, queries[row : row + 1], transposed, values)
        assert_same_bits(alone[0], result[row])


@settings(max_examples=60, deadline=None)
@given(
    generator=generators,
    positions=positions_drawn,
    heads=st.integers(1, 4),
    head_size=head_sizes,
    sharpness=st.sampled_from([0.5, 2.0, 8.0]),
)
def test_attend_cache(
    instruction_set: str,
    generator: np.random.Generator,
    positions: int,
    heads: int,
    head_size: int,
    sharpness: float,
) -> None:
    width = heads * head_size
    query = normal(generator, width) * np.float32(sharpness)
    stored = positions + 3
    keys, values = normal(generator, stored, width), normal(generator, stored, width)
    rows = generator.integers(0, stored, positions)
    result = native.attend_cache(instruction_set, query, keys, values, rows.tolist(), heads)
    exact, bound = _exact(query[None], keys[rows], values[rows], heads)
    assert_within(result, exact[0], bound[0])
    assert_same_bits(result, native.attend_cache("portable", query, keys, values, rows.tolist(), heads))


@pytest.mark.parametrize("positions", [1, 5, 40])
def test_a_far_greater_score_takes_all(instruction_set: str, positions: int) -> None:
    generator = np.random.default_rng(positions)
    keys, values = np.zeros((positions, 8), np.float32), normal(generator, positions, 8)
    keys[-1] = 1
    query = np.full((1, 8), 1000, np.float32)
    transposed = native.transpose_keys(instruction_set, keys, 2)
    assert_same_bits(native.attend(instruction_set, query, transposed, values)[0], values[-1])
    rows = list(range(positions))
    assert_same_bits(native.attend_cache(instruction_set, query[0], keys, values, rows, 2), values[-1])


@pytest.mark.parametrize("positions", [1, 2, 16, 64])
def test_equal_scores_give_the_mean(instruction_set: str, positions: int) -> None:
    # A power of two: sums and quotient are exact.
    values = np.arange(positions * 4, dtype=np.float32).reshape(positions, 4)
    keys, query = np.ones((positions, 4), np.float32), np.ones((1, 4), np.float32)
    mean = values.mean(axis=0)
    transposed = native.transpose_keys(instruction_set, keys, 1)
    assert_same_bits(native.attend(instruction_set, query, transposed, values)[0], mean)
    rows = list(range(positions))
    assert_same_bits(native.attend_cache(instruction_set, query[0], keys, values, rows, 1), mean)


def test_the_exponential_is_as_good_as_it_promises(instruction_set: str) -> None:
    # Two positions with scores 0 and s, values 0 and 1: the result is exp(s) / (1 + exp(s)). The factor of head size 4
    # is a half, so s is exact.
    scores = np.random.default_rng(1).uniform(-87, 0, 4000).astype(np.float32)
    queries = np.zeros((scores.size, 4), np.float32)
    queries[:, 0] = 2 * scores
    keys = np.array([[0, 0, 0, 0], [1, 0, 0, 0]], np.float32)
    values = np.array([[0, 0, 0, 0], [1, 1, 1, 1]], np.float32)
    transposed = native.transpose_keys(instruction_set, keys, 1)
    result = native.attend(instruction_set, queries, transposed, values)
    exponential = np.exp(scores.astype(np.float64))[:, None]
    exact = np.tile(exponential / (1 + exponential), 4)
    # The sum, its reciprocal and the product with that round too.
    assert_within(result, exact, exact * (EXPONENTIAL_ERROR + EXPONENT_ERROR * np.abs(scores)[:, None] + rounding(3)))
