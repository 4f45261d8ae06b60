"""Trained grids: codes and points against NumPy bit for bit, normalization and attention step by step."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from pocketmt.engine import _native_testing as native
from pocketmt.packing.reference.quantized_operations import ReferenceAttention, ReferenceLayerNorm, ReferenceSoftmax
from pocketmt.quantization.activations.quantization_parameters import QuantizationParameters
from tests.native.arrays import Floats, Integers, assert_same_bits, generators, normal

PythonParameters = tuple[Floats, Floats, Floats, float]
bits_drawn = st.integers(2, 8)
columns_drawn = st.one_of(st.integers(1, 70), st.integers(100, 150))


def random_grid(generator: np.random.Generator, bits: int, elements: int) -> QuantizationParameters:
    low, high = normal(generator, elements), normal(generator, elements)
    return QuantizationParameters(
        torch.from_numpy(np.minimum(low, high)), torch.from_numpy(np.maximum(low, high)), bits
    )


def arrays(grid: QuantizationParameters | None) -> PythonParameters | None:
    if grid is None:
        return None
    return grid.offset.numpy(), grid.scale.numpy(), grid.inverse.numpy(), float(-grid.lowest)


def repeated(grid: QuantizationParameters, times: int) -> PythonParameters:
    """Of all heads, which share a range."""
    if grid.uniform:
        return grid.offset.numpy(), grid.scale.numpy(), grid.inverse.numpy(), float(-grid.lowest)
    offset, scale, inverse = (np.tile(each.numpy(), times) for each in (grid.offset, grid.scale, grid.inverse))
    return offset, scale, inverse, float(-grid.lowest)


def numpy_codes(grid: QuantizationParameters, x: Floats) -> Integers:
    steps = (x - grid.offset.numpy()) * grid.inverse.numpy()
    codes: Integers = np.rint(np.clip(steps, grid.lowest, -grid.lowest - 1)).astype(np.int8)
    return codes


@settings(max_examples=60, deadline=None)
@given(
    generator=generators, bits=bits_drawn, count=st.integers(1, 4), columns=columns_drawn, uniform=st.booleans(),
    gap=st.sampled_from([0, 3]), padding=st.sampled_from([0, 5, 64]),
)  # fmt: skip
def test_codes_and_points(
    instruction_set: str,
    generator: np.random.Generator,
    bits: int,
    count: int,
    columns: int,
    uniform: bool,
    gap: int,
    padding: int,
) -> None:
    grid = random_grid(generator, bits, 1 if uniform else columns)
    x = normal(generator, count, columns) * np.float32(2)
    x[0, 0] = np.float32(3e30)
    expected = numpy_codes(grid, x)
    found = native.quantize(instruction_set, arrays(grid), x, columns + padding, gap)
    np.testing.assert_array_equal(found[:, :columns], expected)
    assert not found[:, columns:].any()
    points = grid.offset.numpy() + expected.astype(np.float32) * grid.scale.numpy()
    assert_same_bits(native.fake_quantize(instruction_set, arrays(grid), x), points)
    np.testing.assert_array_equal(grid.codes(torch.from_numpy(x)).numpy(), expected)


def test_a_range_of_one_value_gives_that_value(instruction_set: str) -> None:
    grid = QuantizationParameters(torch.tensor([1.5]), torch.tensor([1.5]), 8)
    x = np.array([[-3.0, 1.5, 7.0, np.nan]], np.float32)
    assert_same_bits(native.fake_quantize(instruction_set, arrays(grid), x), np.full_like(x, 1.5))


def test_a_hand_made_grid(instruction_set: str) -> None:
    # Two bits from 0 to 3: the points are 0, 1, 2 and 3, and halves go to the even code, counted from the middle.
    grid = QuantizationParameters(torch.tensor([0.0]), torch.tensor([3.0]), 2)
    x = np.array([[-1.0, 0.4, 0.5, 1.5, 2.5, 9.0]], np.float32)
    assert native.quantize(instruction_set, arrays(grid), x, 6).tolist() == [[-2, -2, -2, 0, 0, 1]]
    assert native.fake_quantize(instruction_set, arrays(grid), x).tolist() == [[0, 0, 0, 2, 2, 3]]


@settings(max_examples=40, deadline=None)
@given(
    generator=generators,
    columns=columns_drawn,
    present=st.lists(st.booleans(), min_size=4, max_size=4),
    uniform=st.booleans(),
    in_place=st.booleans(),
    epsilon=st.sampled_from([1e-6, 1e-5]),
)
def test_normalization(
    instruction_set: str,
    generator: np.random.Generator,
    columns: int,
    present: list[bool],
    uniform: bool,
    in_place: bool,
    epsilon: float,
) -> None:
    sizes = (columns, 1, columns, columns)
    grids = [
        random_grid(generator, 8, 1 if uniform else size) if each else None
        for size, each in zip(sizes, present, strict=True)
    ]
    if present[1]:
        grids[1] = QuantizationParameters(torch.tensor([0.5]), torch.tensor([2.0]), 8)
    norm = nn.LayerNorm(columns, epsilon)
    gamma, beta = normal(generator, columns), normal(generator, columns)
    norm.weight.data, norm.bias.data = torch.from_numpy(gamma), torch.from_numpy(beta)
    x, residual = normal(generator, 3, columns), normal(generator, 3, columns)
    names = ("numerator", "denominator", "quotient", "output")
    expected = ReferenceLayerNorm(norm, lambda name: grids[names.index(name.removeprefix("layer_norm_"))])(
        torch.from_numpy(x + residual)
    )
    found = native.quantized_layer_norm(
        instruction_set, [arrays(grid) for grid in grids], x, residual, gamma, beta, in_place, epsilon
    )
    assert_same_bits(found, expected.detach().numpy())
    exact = x.astype(np.float64) + residual
    exact = (exact - exact.mean(axis=1, keepdims=True)) / np.sqrt(exact.var(axis=1, keepdims=True) + epsilon)
    if not any(present):
        np.testing.assert_allclose(found, exact * gamma + beta, atol=1e-4)


@settings(max_examples=50, deadline=None)
@given(
    generator=generators,
    bits=bits_drawn,
    positions=st.one_of(st.integers(1, 40), st.integers(100, 200)),
    heads=st.integers(1, 3),
    head_size=st.sampled_from([4, 8, 12, 16, 20, 32, 64]),
    uniform=st.booleans(),
    with_numerator=st.booleans(),
    with_weight=st.booleans(),
)
def test_attention_is_that_of_the_reference(
    instruction_set: str,
    generator: np.random.Generator,
    bits: int,
    positions: int,
    heads: int,
    head_size: int,
    uniform: bool,
    with_numerator: bool,
    with_weight: bool,
) -> None:
    width = heads * head_size
    query_grid, key_grid, value_grid = (random_grid(generator, bits, 1 if uniform else head_size) for _ in range(3))
    numerator = QuantizationParameters(torch.tensor([0.01]), torch.tensor([1.0]), bits) if with_numerator else None
    weight = QuantizationParameters(torch.tensor([0.001]), torch.tensor([0.9]), bits) if with_weight else None
    query, keys, values = (normal(generator, rows, width) for rows in (1, positions, positions))
    split = [
        torch.from_numpy(each).view(1, len(each), heads, head_size).transpose(1, 2) for each in (query, keys, values)
    ]
    attention = ReferenceAttention(query_grid, key_grid, value_grid, ReferenceSoftmax(numerator, weight), None)
    expected = attention(split[0], split[1], split[2], None)[0, 0].numpy()
    grids = [
        *(repeated(grid, heads) for grid in (query_grid, key_grid, value_grid)), arrays(numerator), arrays(weight)
    ]  # fmt: skip
    stored = [
        numpy_codes(grid, each.reshape(-1, head_size)).reshape(positions, width)
        for grid, each in ((key_grid, keys), (value_grid, values))
    ]
    rows = list(range(positions))
    found = native.attend_codes(instruction_set, grids, query[0], stored[0], stored[1], rows, heads)
    assert_same_bits(found, expected)
    # Where rows lie makes no difference.
    order = generator.permutation(positions)
    moved = [each[order] for each in stored]
    places = np.argsort(order).tolist()
    assert_same_bits(native.attend_codes(instruction_set, grids, query[0], moved[0], moved[1], places, heads), expected)


@pytest.mark.parametrize("uniform", [False, True])
@pytest.mark.parametrize("positions", [1, 5, 90])
def test_attention_is_close_to_that_of_the_points(instruction_set: str, uniform: bool, positions: int) -> None:
    """What exact sums leave out, and how offsets come back, against softmax(q K^T / sqrt(n)) V in double precision."""
    generator = np.random.default_rng(positions)
    heads, head_size = 2, 16
    query, keys, values = (normal(generator, rows, heads * head_size) for rows in (1, positions, positions))
    bounds = [
        (each.reshape(-1, head_size).min(axis=0), each.reshape(-1, head_size).max(axis=0))
        for each in (query, keys, values)
    ]
    if uniform:
        bounds = [(low.min(keepdims=True), high.max(keepdims=True)) for low, high in bounds]
    grids = [QuantizationParameters(torch.from_numpy(low), torch.from_numpy(high), 8) for low, high in bounds]
    weight = QuantizationParameters(torch.tensor([0.0]), torch.tensor([1.0]), 8)
    stored = [
        numpy_codes(grid, each.reshape(-1, head_size)).reshape(positions, -1)
        for grid, each in zip(grids[1:], (keys, values), strict=True)
    ]
    points = [
        grid(torch.from_numpy(each).view(-1, heads, head_size)).double().numpy()
        for grid, each in zip(grids, (query, keys, values), strict=True)
    ]
    python_grids = [*(repeated(grid, heads) for grid in grids), None, arrays(weight)]
    found = native.attend_codes(
        instruction_set, python_grids, query[0], stored[0], stored[1], list(range(positions)), heads
    )
    scores = np.einsum("qhc,jhc->hj", points[0], points[1]) / np.sqrt(head_size)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    exact = np.einsum("hj,jhc->hc", weights, points[2]).ravel()
    # A weight is off by half a step of 1 / 255; with buckets a query by half a step of 1 / 127 of its greatest element,
    # which moves a score by at most that times the sum of a key's magnitudes, and a weight by as much relatively.
    step = np.abs(points[2]).sum(axis=0).max() / 510
    score_error = 0.0 if uniform else 2 * np.abs(points[0]).max() * np.abs(points[1]).sum(axis=2).max() / 254 / 4
    bound = step + np.expm1(score_error) * np.abs(points[2]).max() + 1e-5
    assert np.abs(found - exact).max() < bound
