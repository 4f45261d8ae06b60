"""Compare the speed of every product with that of the 8-bit product, in one process on one core.

    python -m benchmarks.kernels --core 1

The matrices are those of `base`, with one row of activations and with more. A matrix is measured in a cache, and from
memory by using enough copies that none stays in a cache, as in a decoder. Seconds are those of one product, without
the quantization of its activations. Each is also given as a share of its floor, the longer of two times that are
measured with it: reading the same number of bytes of weights from a working set of the same size, and the same number
of int8 multiply-adds in registers. Binary codes are counted as the multiply-adds that they replace; int7 are 8-bit
codes from -63 to 63; int8_relu is int8 with activations as after relu, of which none is negative. The record is
written to benchmarks/records/kernels.json and its rows as tables to stdout.
"""

import argparse
import statistics
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.command import run
from benchmarks.floor import timed_instruction_sets
from benchmarks.markdown import markdown_table
from benchmarks.one_core import OneCore, add_core_option
from benchmarks.record_files import write_record
from pocketmt.engine import _native_testing as native
from pocketmt.evaluation.records import provenance
from pocketmt.evaluation.tables import Column

RECORD = Path(__file__).resolve().parents[1] / "records" / "kernels.json"
# Name in the record -> family, bits, and whether activations are as after relu. The others are compared with the first.
FAMILIES = {
    "int8": ("integer", 8, False),
    "int8_relu": ("integer", 8, True),
    "int7": ("integer", 7, False),
    "six_bit": ("six_bit", 6, False),
    "table4": ("lookup_table", 4, False),
    "row_table4": ("row_lookup_table", 4, False),
    "planes2": ("binary_code", 2, False),
    "planes1": ("binary_code", 1, False),
}
SHAPES = ((512, 512), (2048, 512), (512, 2048), (32000, 512))  # [outputs, inputs]
COUNTS = (1, 2, 4, 8, 16, 32, 64)  # rows of activations
# 8-bit weights of many matrices: more than a last-level cache of the machines that are measured holds.
STREAMED_BYTES = 96_000_000
PLACE_COLUMNS = ("instruction_set=instructions", "shape", "weights=read from", "count=rows")
COLUMNS = (
    *PLACE_COLUMNS,
    "microseconds:.1f=int8, us",
    *(f"times_int8.{name}:.2f={name}" for name in list(FAMILIES)[1:]),
)
FLOOR_COLUMNS = (
    *PLACE_COLUMNS,
    *(f"floor_share.{name}:.0%={name}" for name in FAMILIES),
    "bound_by.int8=int8 is bound by",
)


def main(arguments: Sequence[str]) -> int:
    """Measure, write the record, print its rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_core_option(parser)
    parser.add_argument("--rounds", type=int, default=31, help="how often each product is timed (default: %(default)s)")
    parser.add_argument("--shapes", nargs="+", type=_shape, default=SHAPES, metavar="OUTPUTSxINPUTS")
    parser.add_argument("--counts", nargs="+", type=int, default=COUNTS, help="rows of activations")
    parser.add_argument("--output", type=Path, default=RECORD, help="the record (default: %(default)s)")
    options = parser.parse_args(arguments)
    origin, core = provenance(seed=1), OneCore(options.core)
    rows = list(measure(options.shapes, options.counts, options.rounds))
    for columns in (COLUMNS, FLOOR_COLUMNS):
        print(markdown_table(rows, [Column.parse(column) for column in columns]))
    record = {"rows": rows, **core.about(), "provenance": origin}
    write_record(record, options.output)
    return 0


def measure(shapes: Sequence[tuple[int, int]], counts: Sequence[int], rounds: int) -> Iterator[dict[str, Any]]:
    """Yield a row for each instruction set whose limits are known, shape, place of the weights and number of rows."""
    for instruction_set in timed_instruction_sets():
        for outputs, inputs in shapes:
            many = -(-STREAMED_BYTES // (outputs * inputs))
            for weights, copies in (("cache", 1), ("memory", many)):
                for count in counts:
                    reading, multiply_adds = _limits(instruction_set, outputs, inputs, copies, rounds)
                    seconds = native.time_products(
                        instruction_set, list(FAMILIES.values()), outputs, inputs, count, copies, rounds
                    )
                    by_name = dict(zip(FAMILIES, seconds, strict=True))
                    yield {
                        "instruction_set": instruction_set,
                        "shape": f"{outputs} x {inputs}",
                        "weights": weights,
                        "count": count,
                        **summary(by_name),
                        **floor_shares(by_name, reading, [count * each for each in multiply_adds]),
                    }


def _limits(
    instruction_set: str, outputs: int, inputs: int, copies: int, rounds: int
) -> tuple[dict[str, list[float]], list[float]]:
    """Return the seconds of reading each family's matrix, one of `copies`, and of its multiply-adds, by rounds."""
    reading = {}
    for name, (family, bits, _) in FAMILIES.items():
        packed = native.packed_bytes(instruction_set, family, bits, outputs, inputs)
        reading[name] = [packed * each for each in native.time_reads(instruction_set, packed * copies, rounds)]
    multiply_adds = native.time_multiply_adds(instruction_set, "int8", rounds)
    return reading, [outputs * inputs * each for each in multiply_adds]


def floor_shares(
    seconds: dict[str, list[float]], reading: dict[str, list[float]], multiply_adds: list[float]
) -> dict[str, dict[str, Any]]:
    """Return which limit binds each family, and the share of it that the product reaches: 1 is the floor itself.

    Shares are of the medians of the rounds, and of the fastest rounds.

    Args:
        seconds: of each family's product.
        reading: of each family, of reading its weights alone.
        multiply_adds: of as many multiply-adds in registers.
    """
    limits = {name: (statistics.median(reading[name]), statistics.median(multiply_adds)) for name in seconds}
    fastest = {name: max(min(reading[name]), min(multiply_adds)) for name in seconds}
    return {
        "reading_microseconds": {name: 1e6 * each for name, (each, _) in limits.items()},
        "multiply_adds_microseconds": {name: 1e6 * each for name, (_, each) in limits.items()},
        "bound_by": {
            name: "reading" if read > multiplied else "multiply-adds" for name, (read, multiplied) in limits.items()
        },
        "floor_share": {name: max(limits[name]) / statistics.median(each) for name, each in seconds.items()},
        "fastest_floor_share": {name: fastest[name] / min(each) for name, each in seconds.items()},
    }


def summary(seconds: dict[str, list[float]]) -> dict[str, Any]:
    """Return the int8 product's time and how many times as fast the others are: medians of the rounds' ratios."""
    eight_bit, *others = FAMILIES
    ratios = {
        name: [base / each for base, each in zip(seconds[eight_bit], seconds[name], strict=True)] for name in others
    }
    fastest = {name: min(times) for name, times in seconds.items()}
    return {
        "microseconds": 1e6 * statistics.median(seconds[eight_bit]),
        "times_int8": {name: statistics.median(each) for name, each in ratios.items()},
        "lowest_times_int8": {name: min(each) for name, each in ratios.items()},
        "highest_times_int8": {name: max(each) for name, each in ratios.items()},
        "fastest_times_int8": {name: fastest[eight_bit] / fastest[name] for name in others},
        "seconds": seconds,
    }


def _shape(text: str) -> tuple[int, int]:
    outputs, _, inputs = text.partition("x")
    return int(outputs), int(inputs)


if __name__ == "__main__":
    sys.exit(run(main))
