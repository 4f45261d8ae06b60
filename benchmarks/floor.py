"""What one core of this machine can do at most: multiply-adds in registers, and reading memory of a given size.

    python -m benchmarks.floor --core 1

Multiply-adds are those of int8 (vpdpbusd of AVX-512 VNNI; of AVX2 three instructions) and of float32 (fused), in sums
that do not wait for each other. Memory is read over and over by plain loads. The record, benchmarks/records/floor.json,
has a row for each instruction set and type, and for each and size; the rows are printed as tables.
"""

import argparse
import os
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from pocketmt.engine import _native_testing as native
from pocketmt.evaluation.records import provenance, write_record
from pocketmt.evaluation.tables import Column, markdown_table

RECORD: Final = Path(__file__).parent / "records" / "floor.json"
INSTRUCTION_SETS: Final = ("avx512_vnni", "avx2")  # that limits are known of
TYPES: Final = ("int8", "float32")
MEBIBYTES: Final = tuple(2.0**power for power in range(-2, 9))  # 256 KiB to 256 MiB
IDLE_CORE_SHARE: Final = 0.97
PEAK_COLUMNS: Final = (
    "instruction_set=instructions",
    "type",
    "billion_multiply_adds_a_second:.1f=billion multiply-adds a second",
    "fastest_billion_multiply_adds_a_second:.1f=fastest round",
)
READING_COLUMNS: Final = (
    "instruction_set=instructions",
    "mebibytes:g=MiB",
    "gigabytes_a_second:.1f=GB/s",
    "fastest_gigabytes_a_second:.1f=fastest round",
)


def peaks(rounds: int) -> list[dict[str, Any]]:
    """Return a row for each instruction set and type."""
    return [
        {
            "instruction_set": instruction_set,
            "type": type,
            **_rates("billion_multiply_adds_a_second", native.time_multiply_adds(instruction_set, type, rounds)),
        }
        for instruction_set in known_instruction_sets()
        for type in TYPES
    ]


def reading(mebibytes: Sequence[float], rounds: int) -> list[dict[str, Any]]:
    """Return a row for each instruction set and size of what is read."""
    return [
        {
            "instruction_set": instruction_set,
            "mebibytes": size,
            **_rates("gigabytes_a_second", native.time_reads(instruction_set, round(size * 2**20), rounds)),
        }
        for instruction_set in known_instruction_sets()
        for size in mebibytes
    ]


def known_instruction_sets() -> list[str]:
    """Return those of this CPU whose limits can be measured."""
    return [name for name in native.instruction_sets() if name in INSTRUCTION_SETS]


def _rates(name: str, seconds: Sequence[float]) -> dict[str, Any]:
    """Return how many billions of what takes these seconds are done a second, in the median and the fastest round."""
    return {name: 1e-9 / statistics.median(seconds), f"fastest_{name}": 1e-9 / min(seconds), "seconds": list(seconds)}


def main(arguments: Sequence[str]) -> int:
    """Measure, write the record, print its rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--core", type=int, help="the core on which everything is timed (default: the last one)")
    parser.add_argument("--rounds", type=int, default=101, help="how often each is timed (default: %(default)s)")
    parser.add_argument("--mebibytes", nargs="+", type=float, default=MEBIBYTES, help="sizes that are read")
    parser.add_argument("--output", type=Path, default=RECORD, help="the record (default: %(default)s)")
    options = parser.parse_args(arguments)
    core = max(os.sched_getaffinity(0)) if options.core is None else options.core
    origin = provenance()
    load_before = os.getloadavg()
    os.sched_setaffinity(0, {core})
    wall, processor = time.perf_counter(), time.process_time()
    rows = {"peaks": peaks(options.rounds), "reading": reading(options.mebibytes, options.rounds)}
    core_share = (time.process_time() - processor) / (time.perf_counter() - wall)
    print(markdown_table(rows["peaks"], [Column.parse(column) for column in PEAK_COLUMNS]) + "\n")
    print(markdown_table(rows["reading"], [Column.parse(column) for column in READING_COLUMNS]))
    if core_share < IDLE_CORE_SHARE:
        print(f"warning: something else ran on core {core}: these rates are not to be published", file=sys.stderr)
    record = {
        **rows,
        "core": core,
        "core_share": core_share,
        "load_average": {"before": load_before, "after": os.getloadavg()},
        "provenance": origin,
    }
    write_record(record, options.output)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
