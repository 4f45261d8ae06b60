"""The limits of one core of this machine: multiply-adds in registers, and reading memory of a given size.

    python -m benchmarks.floor --core 1

Multiply-adds are those of int8 (tdpbsud of AMX, vpdpbusd of AVX-512 VNNI and AVX-VNNI; of AVX2 three instructions) and
of float32 (fused), in sums that do not wait for each other. Memory is read over and over by plain loads. The record,
benchmarks/records/floor.json, has a row for each instruction set and type, and for each and size; the rows are printed
as tables.
"""

import argparse
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.command import run
from benchmarks.markdown import markdown_table
from benchmarks.one_core import OneCore, add_core_option
from benchmarks.record_files import write_record
from pocketmt.engine import _native_testing as native
from pocketmt.errors import ConfigurationError
from pocketmt.evaluation.records import provenance
from pocketmt.evaluation.tables import Column

RECORD: Final = Path(__file__).parent / "records" / "floor.json"
INSTRUCTION_SETS: Final = ("amx_int8", "avx512_vnni", "avx_vnni", "avx2")  # that limits are known of
TYPES: Final = ("int8", "float32")
MEBIBYTES: Final = tuple(2.0**power for power in range(-2, 9))  # 256 KiB to 256 MiB
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
        for instruction_set in timed_instruction_sets()
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
        for instruction_set in timed_instruction_sets()
        for size in mebibytes
    ]


def known_instruction_sets() -> list[str]:
    """Return those of this CPU whose limits can be measured."""
    return [name for name in native.instruction_sets() if name in INSTRUCTION_SETS]


def timed_instruction_sets() -> list[str]:
    """Return `known_instruction_sets`; ConfigurationError if there are none."""
    found = known_instruction_sets()
    if not found:
        raise ConfigurationError(
            f"this processor has {', '.join(native.instruction_sets())}: limits are measured for "
            f"{', '.join(INSTRUCTION_SETS)} alone"
        )
    return found


def _rates(name: str, seconds: Sequence[float]) -> dict[str, Any]:
    """Return how many billions of what takes these seconds are done a second, in the median and the fastest round."""
    return {name: 1e-9 / statistics.median(seconds), f"fastest_{name}": 1e-9 / min(seconds), "seconds": list(seconds)}


def main(arguments: Sequence[str]) -> int:
    """Measure, write the record, print its rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_core_option(parser)
    parser.add_argument("--rounds", type=int, default=101, help="how often each is timed (default: %(default)s)")
    parser.add_argument("--mebibytes", nargs="+", type=float, default=MEBIBYTES, help="sizes that are read")
    parser.add_argument("--output", type=Path, default=RECORD, help="the record (default: %(default)s)")
    options = parser.parse_args(arguments)
    origin, core = provenance(), OneCore(options.core)
    rows = {"peaks": peaks(options.rounds), "reading": reading(options.mebibytes, options.rounds)}
    print(markdown_table(rows["peaks"], [Column.parse(column) for column in PEAK_COLUMNS]) + "\n")
    print(markdown_table(rows["reading"], [Column.parse(column) for column in READING_COLUMNS]))
    record = {**rows, **core.about(), "provenance": origin}
    write_record(record, options.output)
    return 0


if __name__ == "__main__":
    sys.exit(run(main))
