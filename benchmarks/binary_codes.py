"""Paper B's Table 3 on this machine: time and memory of a sentence in full precision and in the paper's codes.

    python -m benchmarks.binary_codes --core 1
    python -m benchmarks.binary_codes --quick

The network is `base` with random weights: 27 tokens in, 28 out, one sentence at a time, greedy, as the paper's on
newstest2013 in the mean. All files run in turn, each in a process of its own. The record goes to
benchmarks/records/binary-codes.json, its rows as a table to stdout.
"""

import argparse
import random
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.multi30k.row_recipes import find_row_recipe
from benchmarks.one_core import OneCore, add_core_option, share_of_core
from benchmarks.peer.measure import Amount, Case, Choice, compare
from benchmarks.peer.models import RANDOM_VOCABULARY, SOURCE_LENGTH, TARGET_LENGTH, TimedModel
from benchmarks.peer.sides import ONE_BY_ONE, OUR_SETTINGS, our_side
from benchmarks.schemes.files import FileMaker
from benchmarks.schemes.forms import Form
from pocketmt.evaluation.records import provenance, write_record
from pocketmt.evaluation.tables import Column, markdown_table
from pocketmt.model_file import Architecture
from pocketmt.models.presets import preset
from pocketmt.recipes.description.plan import make_plan
from pocketmt.text.vocabulary import SPECIAL_PIECES

RECORD: Final = Path(__file__).parent / "records" / "binary-codes.json"
SEED: Final = 1
SENTENCES: Final = 5  # of a run
QUICK_VOCABULARY: Final = 320
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
class PaperRow:
    """A row of Table 3, of a phone."""

    label: str  # average bits of embedding, decoder and encoder
    recipe: str | None  # None: full precision
    megabytes: float
    milliseconds: float


TABLE: Final = (
    PaperRow("full precision", None, 247.7, 708.9),
    PaperRow("3-bit baseline", "b-3-bit-baseline", 34.5, 301.0),
    PaperRow("2-bit baseline", "b-2-bit-baseline", 24.5, 235.9),
    PaperRow("2.5, FP, FP", "b-embedding-algorithm1", 188.3, 464.3),
    PaperRow("2.5, 1.8, FP", "b-two-phases", 94.5, 201.4),
    PaperRow("2.5, 1.8, 3.7", "b4-mixed-2.6-bits", 29.8, 200.7),
)


def main() -> int:
    """Measure; returns the exit status."""
    options = _options()
    origin, core = provenance(seed=SEED), OneCore(options.core)
    architecture = preset("tiny", QUICK_VOCABULARY) if options.quick else preset("base", RANDOM_VOCABULARY)
    with tempfile.TemporaryDirectory() as folder:
        measured = measure(architecture, Path(folder), options.rounds)
    rows = rows_of(measured)
    print(markdown_table(rows, [Column.parse(column) for column in COLUMNS]))
    about = core.about(min(share_of_core(each) for each in measured))
    if not options.quick or options.output != RECORD:
        record = {"rows": rows, **about, "threads": 1, "measurements": measured, "provenance": origin}
        write_record(record, options.output)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_core_option(parser)
    parser.add_argument("--rounds", type=int, default=11, help="how often each file runs (default: %(default)s)")
    parser.add_argument("--output", type=Path, default=RECORD, help="the record (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="a smoke test: `tiny`, two rounds, no record")
    options = parser.parse_args()
    if options.quick:
        options.rounds = 2
    return options


def measure(architecture: Architecture, folder: Path, rounds: int) -> list[dict[str, Any]]:
    """Return a measurement of each row's file of random weights, in the table's order."""
    chance = random.Random(SEED)
    pieces = range(SPECIAL_PIECES, architecture.vocabulary_size)
    sources = [chance.choices(pieces, k=SOURCE_LENGTH) for _ in range(SENTENCES)]
    lengths = (TARGET_LENGTH, TARGET_LENGTH)
    model = TimedModel("random weights", f"seed {SEED}", architecture, lengths, sources, {}, {})
    maker = FileMaker(architecture, SEED)
    sides = []
    for row in TABLE:
        path = folder / f"{row.recipe}.pocketmt"
        maker.write(_form(row, architecture), path)
        sides.append(our_side(row.label, path, sys.executable))
    choices = [Choice(OUR_SETTINGS[0], ONE_BY_ONE)] * len(sides)
    found = compare(sides, choices, model, Case(one_by_one=True, beam=1), Amount(SENTENCES, 0, rounds))
    for each in found:
        del each["outputs"]
    return found


def _form(row: PaperRow, architecture: Architecture) -> Form:
    if row.recipe is None:
        return Form(row.label, {})
    return Form(row.label, make_plan(find_row_recipe(row.recipe), architecture)[-1].matrices)


def rows_of(measured: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a row for each measurement; times are beside full precision in the same rounds, ours and the paper's."""
    rows = []
    for row, each in zip(TABLE, measured, strict=True):
        ratios = sorted(a / b for a, b in zip(measured[0]["seconds"], each["seconds"], strict=True))
        rows.append(
            {
                "label": row.label,
                "recipe": row.recipe,
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
    sys.exit(main())
