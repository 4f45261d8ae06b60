"""Times functions and their floors, and the products of the same step of the decoder."""

import statistics
from collections.abc import Mapping, Sequence
from typing import Any, Final

from benchmarks.between_products.functions import Function, Network, functions
from pocketmt.engine import _native_testing as native

# More than a last-level cache of the machines that are measured holds.
STREAMED_BYTES: Final = 96_000_000
LEAST_WORKING_SET: Final = 16384  # bytes; of fewer, starting and ending a pass would take much of the time
# The engine computes all logits of a few rows at once, and of more rows a slice of the outputs at a time.
MOST_LOGITS: Final = 64 * 2048
SLICE_OUTPUTS: Final = 2048


def measure(instruction_set: str, network: Network, counts: Sequence[int], rounds: int) -> list[dict[str, Any]]:
    """Return a row for each function and place of what it reads; figures have the number of rows as their key."""
    rows = []
    for function in functions(network):
        for place in ("cache", "memory") if function.streamed else ("cache",):
            figures: dict[str, dict[str, Any]] = {}
            for count in counts:
                measured = _measure_one(instruction_set, network, function, count, place == "memory", rounds)
                for name, figure in measured.items():
                    figures.setdefault(name, {})[str(count)] = figure
            rows.append(
                {
                    "instruction_set": instruction_set,
                    "function": function.name,
                    "columns": function.columns,
                    "read_from": place,
                    "operations": function.operations,
                    "divisions": function.divisions,
                    "calls": function.calls,
                    **figures,
                }
            )
    return rows


def floor_share(seconds: Sequence[float], limits: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    """Return which limit binds, and the share of it that a function reaches: 1 is the floor itself.

    Args:
        seconds: of the function, by rounds.
        limits: of each limit, likewise.
    """
    medians = {name: statistics.median(each) for name, each in limits.items()}
    binding = max(medians, key=lambda name: medians[name])
    return {
        "microseconds": 1e6 * statistics.median(seconds),
        "limit_microseconds": {name: 1e6 * each for name, each in medians.items()},
        "bound_by": binding,
        "floor_share": medians[binding] / statistics.median(seconds),
        "fastest_floor_share": max(min(each) for each in limits.values()) / min(seconds),
        "seconds": list(seconds),
    }


def step(
    instruction_set: str, network: Network, measured: Sequence[Mapping[str, Any]], count: int, rounds: int
) -> dict[str, Any]:
    """Return the microseconds of functions and of 8-bit products in a step of the decoder.

    Args:
        instruction_set: its name.
        network: the sizes.
        measured: the rows of `measure`. Of a function in two places, the one from memory counts.
        count: sentences, each with one hypothesis.
        rounds: how often the products are timed.
    """
    last = {(row["function"], row["columns"]): row for row in measured}  # The one from memory is the later one.
    between = sum(row["calls"] * row["microseconds"][str(count)] for row in last.values())
    products = 0.0
    for outputs, inputs, calls, after_relu in _matrices(network):
        copies = -(-STREAMED_BYTES // (outputs * inputs))
        product = [("integer", 8, after_relu)]
        (seconds,) = native.time_products(instruction_set, product, outputs, inputs, count, copies, rounds)
        products += calls * 1e6 * statistics.median(seconds)
    return {
        "instruction_set": instruction_set,
        "count": count,
        "between_microseconds": between,
        "product_microseconds": products,
        "share": between / (between + products),
    }


def _matrices(network: Network) -> list[tuple[int, int, int, bool]]:
    """Return outputs, inputs and number of the matrices of a step, and whether their activations come from relu."""
    width, inner, layers = network.width, network.inner, network.layers
    return [
        (3 * width, width, layers, False),  # query, key and value of the attention to the decoder's cache
        (width, width, 3 * layers, False),  # its output, the query to the source and the output of that
        (inner, width, layers, False),
        (width, inner, layers, True),
        (network.vocabulary, width, 1, False),
    ]


def _measure_one(
    instruction_set: str, network: Network, function: Function, count: int, streamed: bool, rounds: int
) -> dict[str, Any]:
    """Time a function for `count` rows, or for `count` sentences if it computes several rows of each."""
    elements = count * function.multiple * function.columns
    held = elements
    if function.columns == network.vocabulary and elements > MOST_LOGITS:
        held = count * SLICE_OUTPUTS
    moved = max(round(held * (function.read_bytes + function.written_bytes)), LEAST_WORKING_SET)
    copies = -(-STREAMED_BYTES // moved) if streamed else 1
    each_limit = {
        "reading": (function.read_bytes, native.time_reads(instruction_set, copies * moved + function.held, rounds)),
        "writing": (function.written_bytes, native.time_writes(instruction_set, moved, rounds)),
        "operations": (function.operations, native.time_operations(instruction_set, "simple", rounds)),
        "divisions": (function.divisions, native.time_operations(instruction_set, "division", rounds)),
    }
    limits = {name: [elements * amount * each for each in one] for name, (amount, one) in each_limit.items()}
    seconds = native.time_between_products(
        instruction_set, function.name, count, function.columns, network.positions, network.heads, copies, rounds
    )
    return floor_share(seconds, limits)
