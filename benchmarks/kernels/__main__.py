"""Times the product of every family and width beside the 8-bit product, in turn in one process on one core.

    python -m benchmarks.kernels --core 1

One row of activations and more, matrices of `base`, once a single matrix that stays in a cache and once so many that
they are read from memory, as a decoder reads its own. Seconds are those of one product; quantizing its activations is
not among them. The record goes to benchmarks/records/kernels.json, its rows as a table to stdout.
"""

import argparse
import os
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pocketmt.engine import _native_testing as native
from pocketmt.evaluation.records import provenance, write_record
from pocketmt.evaluation.tables import Column, markdown_table

RECORD = Path(__file__).resolve().parents[1] / "records" / "kernels.json"
# As the table names them -> family and, of bit planes, bits; the first is what the others are compared with.
FAMILIES = {
    "int8": ("integer", 8),
    "six_bit": ("six_bit", 6),
    "table4": ("level_table", 4),
    "planes4": ("bit_planes", 4),
    "planes3": ("bit_planes", 3),
    "planes2": ("bit_planes", 2),
    "planes1": ("bit_planes", 1),
}
SHAPES = ((512, 512), (2048, 512), (512, 2048), (32000, 512))  # [outputs, inputs]
COUNTS = (1, 8, 32)  # rows of activations
# 8-bit weights of many matrices: more than a last-level cache of the machines that are measured holds.
STREAMED_BYTES = 96_000_000
IDLE_CORE_SHARE = 0.97
COLUMNS = (
    "instruction_set=instructions",
    "shape",
    "weights=read from",
    "count=rows",
    "microseconds:.1f=int8, us",
    *(f"times_int8.{name}:.2f={name}" for name in list(FAMILIES)[1:]),
)


def main(arguments: Sequence[str]) -> int:
    """Measure, write the record, print its rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--core", type=int, help="the core on which everything is timed (default: the last one)")
    parser.add_argument("--rounds", type=int, default=31, help="how often each product is timed (default: %(default)s)")
    parser.add_argument("--shapes", nargs="+", type=_shape, default=SHAPES, metavar="OUTPUTSxINPUTS")
    parser.add_argument("--counts", nargs="+", type=int, default=COUNTS, help="rows of activations")
    parser.add_argument("--output", type=Path, default=RECORD, help="the record (default: %(default)s)")
    options = parser.parse_args(arguments)
    core = max(os.sched_getaffinity(0)) if options.core is None else options.core
    origin = provenance(seed=1)
    load_before = os.getloadavg()
    os.sched_setaffinity(0, {core})
    wall, processor = time.perf_counter(), time.process_time()
    rows = list(measure(options.shapes, options.counts, options.rounds))
    core_share = (time.process_time() - processor) / (time.perf_counter() - wall)
    print(markdown_table(rows, [Column.parse(column) for column in COLUMNS]))
    if core_share < IDLE_CORE_SHARE:
        print(f"warning: something else ran on core {core}: these times are not to be published", file=sys.stderr)
    record = {
        "rows": rows,
        "core": core,
        "core_share": core_share,
        "load_average": {"before": load_before, "after": os.getloadavg()},
        "provenance": origin,
    }
    write_record(record, options.output)
    return 0


def measure(shapes: Sequence[tuple[int, int]], counts: Sequence[int], rounds: int) -> Iterator[dict[str, Any]]:
    """Yield a row for each instruction set with vectors, shape, place of the weights and number of rows."""
    for instruction_set in native.instruction_sets():
        if instruction_set == "portable":
            continue
        for outputs, inputs in shapes:
            many = -(-STREAMED_BYTES // (outputs * inputs))
            for weights, copies in (("cache", 1), ("memory", many)):
                for count in counts:
                    seconds = native.time_products(
                        instruction_set, list(FAMILIES.values()), outputs, inputs, count, copies, rounds
                    )
                    place = {"instruction_set": instruction_set, "shape": f"{outputs} x {inputs}", "weights": weights}
                    yield {**place, "count": count, **summary(dict(zip(FAMILIES, seconds, strict=True)))}


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
    sys.exit(main(sys.argv[1:]))
