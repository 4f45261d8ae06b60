"""Table 3 of Chung et al. 2020 on this machine: time and memory per sentence in fp32 and in binary codes.

    python -m benchmarks.binary_codes --core 1
    python -m benchmarks.binary_codes --quick

The network is `base` with random weights. It translates 27 tokens into 28, the means of newstest2013 in the paper,
one sentence at a time with greedy search. The files are measured in turn, each in a separate process. The record is
written to benchmarks/records/binary-codes.json and its rows as a table to stdout.
"""

import argparse
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.command import run
from benchmarks.instruction_sets import held
from benchmarks.one_core import OneCore, share_of_core
from benchmarks.peer.sides import our_side
from benchmarks.recipe_files import find_recipe
from benchmarks.schemes.files import FileMaker
from benchmarks.schemes.forms import Form
from benchmarks.schemes.timing import SEED, add_options, publish, record_of, time_in_turn, timed_architecture
from pocketmt.compression.planning import make_plan
from pocketmt.evaluation.records import provenance
from pocketmt.model_file import Architecture

RECORD: Final = Path(__file__).parent / "records" / "binary-codes.json"
COLUMNS: Final = (
    "label=",
    "file_megabytes:.1f=file, MB",
    "peak_megabytes:.1f=peak, MB",
    "milliseconds:.1f=ms a sentence",
    "times_full_precision:.2f=times as fast",
    "lowest:.2f",
    "highest:.2f",
    "paper_peak_megabytes:.1f=paper: peak, MB",
    "paper_milliseconds:.1f=paper: ms",
    "paper_times:.2f=paper: times as fast",
)


@dataclass(frozen=True)
class PhoneRow:
    """A row of the paper's Table 3, peak memory and milliseconds a sentence on a phone."""

    label: str  # average bits of embedding, decoder and encoder
    recipe: str | None  # None: full precision
    megabytes: float
    milliseconds: float


TABLE: Final = (
    PhoneRow("full precision", None, 247.7, 708.9),
    PhoneRow("3-bit baseline", "chung/3-bit-baseline", 34.5, 301.0),
    PhoneRow("2-bit baseline", "chung/2-bit-baseline", 24.5, 235.9),
    PhoneRow("2.5, FP, FP", "chung/embedding-2.5-bits", 188.3, 464.3),
    PhoneRow("2.5, 1.8, FP", "chung/two-phases", 94.5, 201.4),
    PhoneRow("2.5, 1.8, 3.7", "chung/mixed-2.6-bits", 29.8, 200.7),
)


def main(arguments: Sequence[str]) -> int:
    """Measure; returns the exit status."""
    options = _options(arguments)
    origin, core = provenance(seed=SEED), OneCore(options.core)
    architecture = timed_architecture(options.quick)
    with tempfile.TemporaryDirectory() as folder:
        rounds = 2 if options.quick else options.rounds
        measured = measure(architecture, Path(folder), rounds, options.instruction_set)
    rows = rows_of(measured)
    held_to = {"instruction_set": options.instruction_set}
    about = {**core.about(min(share_of_core(each) for each in measured)), **held_to, "provenance": origin}
    publish(rows, COLUMNS, measured, about, record_of(options, RECORD))
    return 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser, RECORD)
    return parser.parse_args(arguments)


def measure(
    architecture: Architecture, folder: Path, rounds: int, instruction_set: str | None = None
) -> list[dict[str, Any]]:
    """Return a measurement of each row's file of random weights, in the table's order."""
    maker = FileMaker(architecture, SEED)
    sides = []
    for row in TABLE:
        path = folder / f"{row.label}.pocketmt"
        maker.write(_form(row, architecture), path)
        sides.append(our_side(row.label, path, sys.executable))
    return time_in_turn(held(sides, instruction_set), architecture, rounds)


def _form(row: PhoneRow, architecture: Architecture) -> Form:
    if row.recipe is None:
        return Form(row.label)
    return Form(row.label, make_plan(find_recipe(row.recipe), architecture).stages[-1].assignments)


def rows_of(measured: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a row for each measurement; times are beside full precision in the same rounds, ours and the paper's."""
    rows = []
    for row, each in zip(TABLE, measured, strict=True):
        ratios = sorted(a / b for a, b in zip(measured[0]["seconds"], each["seconds"], strict=True))
        rows.append(
            {
                "label": row.label,
                "recipe": row.recipe,
                "instruction_set": each["engine"]["instruction_set"],
                "file_megabytes": each["file_bytes"] / 1e6,
                "peak_megabytes": each["peak_memory_bytes"] / 1e6,
                "milliseconds": each["milliseconds_per_sentence"],
                "times_full_precision": statistics.median(ratios),
                "lowest": ratios[0],
                "highest": ratios[-1],
                "paper_peak_megabytes": row.megabytes,
                "paper_milliseconds": row.milliseconds,
                "paper_times": TABLE[0].milliseconds / row.milliseconds,
            }
        )
    return rows


if __name__ == "__main__":
    sys.exit(run(main))
