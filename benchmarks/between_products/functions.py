"""The functions that the engine calls between products, and the least work that each can do.

Operations are those of one element: additions, multiplications, maxima, comparisons, choices and integer operations, of
one lane of a register. They are counted in the formulas of native/kernels/vector/. Loads, stores and sums across lanes
are not counted, nor is what a function repeats because it reads its input twice.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

FLOAT: Final = 4  # bytes

# exp(x) (vector/exponential.h): scaled and held at its least exponent, 2; split into n and r, 3; a polynomial of degree
# 5 in r, 5 multiplications and 5 additions; n shifted and added to the exponent, 2.
EXPONENTIAL: Final = 17
# A sigmoid (vector/gates.h): -|x|, exp, the choice of the numerator by the sign, 2, the denominator; and a division.
SIGMOID: Final = 1 + EXPONENTIAL + 2 + 1
# A hyperbolic tangent: -2|x|, 2, exp, numerator and denominator, the sign, 2; and a division.
HYPERBOLIC_TANGENT: Final = 2 + EXPONENTIAL + 2 + 2
# The exact GELU (vector/activations.h): the argument t, 3, and its division; a polynomial of degree 7 times t, 15;
# -x^2 / 2, 2; exp, its product, x times the tail; x less that, the choice by the sign, 2.
GELU: Final = 3 + 15 + 2 + EXPONENTIAL + 1 + 1 + 1 + 2
# A weight of attention: the maximum, less the maximum, times 1 / sqrt(head size), exp, the sum.
SOFTMAX: Final = 3 + EXPONENTIAL + 1
# A key and a value: a product and a sum each, for each element of the query.
KEY_AND_VALUE: Final = 4


@dataclass(frozen=True)
class Network:
    """The sizes of a network and of what it translates."""

    width: int
    inner: int  # elements between the matrices of the feed-forward network
    heads: int
    layers: int  # of the decoder
    vocabulary: int
    positions: int  # of a source sentence, and of the decoder's cache


BASE: Final = Network(width=512, inner=2048, heads=8, layers=6, vocabulary=32000, positions=28)


@dataclass(frozen=True)
class Function:
    """A function for rows of `columns` elements, and its work for each element."""

    name: str  # as `_native_testing.time_between_products` knows it
    columns: int
    operations: float
    divisions: float
    read_bytes: float
    written_bytes: float
    multiple: int = 1  # rows that are computed for each row that is counted
    held: int = 0  # bytes of the table of which it reads rows
    streamed: bool = False  # whether it is measured with keys and values from memory, too
    calls: int = 0  # in a step of the decoder of `base` by greedy search, all rows in one call


def functions(network: Network) -> Iterator[Function]:
    """Yield the functions with the sizes of a network, those of a step of `base` first."""
    width, inner, layers = network.width, network.inner, network.layers
    yield Function("quantize_rows", width, 5, 0, FLOAT, 1, calls=5 * layers + 1)
    yield Function("quantize_rows", inner, 5, 0, FLOAT, 1, calls=layers)
    yield Function("layer_norm", width, 8, 0, 2 * FLOAT, FLOAT, calls=3 * layers)
    yield from _attention(network)
    embeddings = network.vocabulary * width
    yield Function("embed", width, 5, 0, 1, FLOAT, held=embeddings, calls=1)
    yield Function("top_k, 1", network.vocabulary, 1, 0, FLOAT, 0, calls=1)
    yield Function("top_k, 4", network.vocabulary, 1, 0, FLOAT, 0)
    yield Function("log_sum_exp", network.vocabulary, 3 + EXPONENTIAL, 0, FLOAT, 0)
    for columns in (width, inner):
        yield Function("quantize_rows_static", columns, 5, 0, FLOAT, 1)
    for columns in (width, inner):
        yield Function("quantize_rows_logarithmic", columns, 11, 0, FLOAT, 1)
    yield Function("scale_add", width, 2, 0, FLOAT, FLOAT)
    yield Function("swish", inner, SIGMOID + 1, 1, FLOAT, FLOAT)
    yield Function("gelu", inner, GELU, 1, FLOAT, FLOAT)
    yield Function("gelu_tanh", inner, SIGMOID + 6, 1, FLOAT, FLOAT)
    yield Function("gelu_sigmoid", inner, SIGMOID + 2, 1, FLOAT, FLOAT)
    yield Function("recurrent_unit", width, SIGMOID + 6, 1, 3 * FLOAT, 2 * FLOAT)
    yield Function("running_mean", width, 2, 1, 2 * FLOAT, FLOAT)
    yield Function("gated_sum", width, 2 * SIGMOID + 3, 2, 4 * FLOAT, FLOAT)
    yield Function("lstm_unit", width, 3 * SIGMOID + 2 * HYPERBOLIC_TANGENT + 8, 5, 9 * FLOAT, 2 * FLOAT)


def _attention(network: Network) -> Iterator[Function]:
    """Yield the functions of attention; an element is one of a query, or of a key that is transposed."""
    width, positions, layers = network.width, network.positions, network.layers
    head_size = width // network.heads
    to_one_position = KEY_AND_VALUE + SOFTMAX / head_size
    cached = positions * (to_one_position + 1 / head_size)  # weights are divided by their sum
    read = 2 * FLOAT * positions
    yield Function("attend_cache", width, cached, 0, FLOAT + read, FLOAT, streamed=True, calls=layers)
    for name, queries in (("one query", 1), ("four queries", 4), ("all positions", positions)):
        yield Function(
            f"attend, {name}",
            width,
            positions * to_one_position + 1,  # results are divided by the sum of the weights
            0,
            FLOAT + read / queries,
            FLOAT,
            multiple=queries,
            streamed=queries == 1,
            calls=layers if queries == 1 else 0,
        )
    # Blocks of four by four are transposed by eight shuffles of four lanes.
    yield Function("transpose_keys", width, 2, 0, FLOAT, FLOAT, multiple=positions)
