"""Paper L's Table 5 on this machine: products of 4-bit log codes beside those of fp32 and 8 bits [L5].

    python -m benchmarks.log_products

Dot products of 128 elements, and matrix-vector products by the engine's kernels: log codes by the level table, and as
exponent sums with shifts. All ways in turn in one process, on the core that this process is pinned to. Writes
benchmarks/records/log-products.json. Needs a developer's build, as `make` makes it.
"""

import argparse
import statistics
import sys
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np

from benchmarks.one_core import OneCore, add_core_option
from pocketmt.engine import _native_testing as native
from pocketmt.evaluation.records import provenance, write_record
from pocketmt.evaluation.tables import Column, plain_table

RECORD: Final = Path(__file__).parent / "records" / "log-products.json"
WAYS: Final = ("fp32", "int8", "level_table", "exponent_sum")
# Table 5, nanoseconds on a Cascade Lake; its look-up is of a lower base, so that powers fit 8 bits.
PAPER: Final = {"fp32": 8.45699, "int8": 2.08390, "level_table": 2.51924, "exponent_sum": 3.89595}
PAIRS: Final = 32  # of vectors: fp32's 32 KiB still lie in a first-level cache
MATRICES: Final = ((512, 512), (2048, 512))  # rows, columns
# Of one measurement: far longer than reading the clock takes, far shorter than the system's slices of time.
LEAST_SECONDS: Final = 0.0002
SEED: Final = 1


class Products(Protocol):
    """What can be timed: `_native_testing.LogDotProducts` and `LogMatrixProducts`."""

    def seconds(self, way: str, calls: int) -> float:
        """Return what some calls took together."""
        ...


def dot_products(instruction_set: str) -> Products:
    """Return pairs of vectors of 128 random codes."""
    generator = np.random.default_rng(SEED)
    a, b = (generator.integers(0, 16, (PAIRS, 128), dtype=np.uint8) for _ in range(2))
    return native.LogDotProducts(instruction_set, a, b)


def matrix_products(instruction_set: str, rows: int, columns: int) -> Products:
    """Return a matrix and a vector of random codes."""
    generator = np.random.default_rng(SEED)
    weights, activations = (generator.integers(0, 16, (count, columns), dtype=np.uint8) for count in (rows, 1))
    scales = generator.uniform(0.001, 0.01, rows).astype(np.float32)
    return native.LogMatrixProducts(instruction_set, weights, scales, activations, 1 / 128)


def measure(products: Products, repeats: int) -> dict[str, list[float]]:
    """Return each way's seconds a call, way after way, `repeats` times over."""
    calls = {}
    for way in WAYS:
        calls[way] = 1
        while min(products.seconds(way, calls[way]) for _ in range(5)) < LEAST_SECONDS:
            calls[way] *= 2
    times: dict[str, list[float]] = {way: [] for way in WAYS}
    for _ in range(repeats):
        for way in WAYS:
            times[way].append(products.seconds(way, calls[way]) / calls[way])
    return times


def row(what: str, instruction_set: str, times: dict[str, list[float]], results: int) -> dict[str, Any]:
    """Return a row of the table.

    Args:
        what: was multiplied.
        instruction_set: by which.
        times: of `measure`.
        results: of one call; times are then of one result.

    Returns:
        Of each way nanoseconds (median, fastest) and how many times int8's time it takes, round by round (median), and
        the median of exponent sums over the level table.
    """
    found: dict[str, Any] = {"what": what, "instruction_set": instruction_set}
    for way in WAYS:
        nanoseconds = [1e9 * seconds / results for seconds in times[way]]
        found[f"{way}_nanoseconds"] = statistics.median(nanoseconds)
        found[f"{way}_fastest_nanoseconds"] = min(nanoseconds)
        found[f"{way}_to_int8"] = _median_ratio(times[way], times["int8"])
    found["exponent_sum_to_level_table"] = _median_ratio(times["exponent_sum"], times["level_table"])
    fastest = min(times["exponent_sum"]) / min(times["level_table"])
    found["exponent_sum_to_level_table_fastest"] = fastest
    return found


def paper_row() -> dict[str, Any]:
    """Return the paper's figures as a row."""
    found: dict[str, Any] = {"what": "dot product of 128, the paper's Table 5", "instruction_set": "avx512_vnni"}
    for way in WAYS:
        found[f"{way}_nanoseconds"] = PAPER[way]
        found[f"{way}_to_int8"] = PAPER[way] / PAPER["int8"]
    found["exponent_sum_to_level_table"] = PAPER["exponent_sum"] / PAPER["level_table"]
    return found


def _median_ratio(times: list[float], others: list[float]) -> float:
    return statistics.median(one / other for one, other in zip(times, others, strict=True))


def main(arguments: list[str]) -> int:
    """Measure, write the record and show it."""
    parser = argparse.ArgumentParser(description="Time products of log codes beside those of fp32 and 8 bits.")
    parser.add_argument("--repeats", type=int, default=501, help="rounds over all ways (default: 501)")
    add_core_option(parser)
    parser.add_argument("--output", type=Path, default=RECORD, help=f"the record to write (default: {RECORD.name})")
    options = parser.parse_args(arguments)
    origin, core = provenance(seed=SEED), OneCore(options.core)
    rows = [paper_row()]
    for instruction_set in native.instruction_sets():
        times = measure(dot_products(instruction_set), options.repeats)
        rows.append(row("dot product of 128", instruction_set, times, PAIRS))
        for shape in MATRICES:
            times = measure(matrix_products(instruction_set, *shape), options.repeats)
            rows.append(row("{} x {} matrix times vector".format(*shape), instruction_set, times, 1))
    record = {"repeats": options.repeats, "rows": rows, **core.about(), "provenance": origin}
    write_record(record, options.output)
    columns = ["what", "instruction_set", *(f"{way}_nanoseconds:.4g={way} ns" for way in WAYS)]
    columns += [f"{way}_to_int8:.2f={way} / int8" for way in WAYS if way != "int8"]
    columns.append("exponent_sum_to_level_table:.2f=exponent_sum / level_table")
    print(plain_table(rows, [Column.parse(column) for column in columns]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
