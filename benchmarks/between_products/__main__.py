"""Compare the functions that the engine calls between products with their floors, in one process on one core.

    python -m benchmarks.between_products --core 1

Sizes are those of `base`. Activations lie in a cache, as a product has just written them. Keys and values are measured
in a cache and from memory, by taking enough of them in turn that none stays in a cache. A floor is the longest of four
times, measured with the function: reading its bytes and writing its bytes in a working set of the same size, and its
least number of operations and of divisions in registers (benchmarks/between_products/functions.py). Operations take the
time of additions and multiplications in equal numbers, not fused.

`steps` sums up the functions and the products of a step of the decoder of `base`, by greedy search at the last of the
28 positions of benchmarks/threads, with matrices, keys and values from memory. The record is written to
benchmarks/records/between-products.json and its rows as tables to stdout.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.between_products.functions import BASE
from benchmarks.between_products.measurement import measure, step
from benchmarks.command import run
from benchmarks.floor import INSTRUCTION_SETS, timed_instruction_sets
from benchmarks.markdown import markdown_table
from benchmarks.one_core import OneCore, add_core_option
from benchmarks.record_files import write_record
from pocketmt.errors import ConfigurationError
from pocketmt.evaluation.records import provenance
from pocketmt.evaluation.tables import Column

RECORD: Final = Path(__file__).resolve().parents[1] / "records" / "between-products.json"
COUNTS: Final = (1, 4, 64)
STEP_COLUMNS: Final = (
    "instruction_set=instructions",
    "count=rows",
    "between_microseconds:.0f=between products, us",
    "product_microseconds:.0f=products, us",
    "share:.0%=share between products",
)


def main(arguments: Sequence[str]) -> int:
    """Measure, write the record, print its rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_core_option(parser)
    parser.add_argument("--rounds", type=int, default=31, help="how often each is timed (default: %(default)s)")
    parser.add_argument("--counts", nargs="+", type=int, default=COUNTS, help="rows of activations")
    parser.add_argument(
        "--instruction-set", choices=INSTRUCTION_SETS, help="measure it alone (default: each that the processor has)"
    )
    parser.add_argument("--output", type=Path, default=RECORD, help="the record (default: %(default)s)")
    options = parser.parse_args(arguments)
    instruction_sets = _chosen(options.instruction_set)
    origin, core = provenance(seed=1), OneCore(options.core)
    rows: list[dict[str, Any]] = []
    steps: list[dict[str, Any]] = []
    for instruction_set in instruction_sets:
        measured = measure(instruction_set, BASE, options.counts, options.rounds)
        rows += measured
        steps += [step(instruction_set, BASE, measured, count, options.rounds) for count in options.counts]
    for table, columns in ((rows, _columns(options.counts)), (steps, STEP_COLUMNS)):
        print(markdown_table(table, [Column.parse(column) for column in columns]))
    record = {"network": BASE, "rows": rows, "steps": steps, **core.about(), "provenance": origin}
    write_record(record, options.output)
    return 0


def _chosen(instruction_set: str | None) -> list[str]:
    """Return those to be measured; ConfigurationError if the processor lacks the given one."""
    found = timed_instruction_sets()
    if instruction_set is None:
        return found
    if instruction_set not in found:
        raise ConfigurationError(f"this processor has no {instruction_set}: it has {', '.join(found)}")
    return [instruction_set]


def _columns(counts: Sequence[int]) -> list[str]:
    """Return the columns of the rows of functions."""
    return [
        "instruction_set=instructions",
        "function",
        "columns",
        "read_from=read from",
        *(f"microseconds.{count}:.2f={count}, us" for count in counts),
        *(f"floor_share.{count}:.0%={count}, of the floor" for count in counts),
        f"bound_by.{max(counts)}={max(counts)} bound by",
    ]


if __name__ == "__main__":
    sys.exit(run(main))
