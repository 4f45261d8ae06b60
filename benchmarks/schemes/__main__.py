"""Times a model file of each form, in turn with the 8-bit file of the same network, on one core.

    python -m benchmarks.schemes --core 1
    python -m benchmarks.schemes --quick

The network is `base` with random weights, as in benchmarks/peer: 27 tokens in, 28 out, one sentence at a time, greedy.
Ranges and scales of activations are estimated on other random sentences when the files are written. Each form runs in a
separate process, its rounds in turn with those of the 8-bit file, A B A B. Writes benchmarks/records/schemes.json and
prints its rows.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.command import run
from benchmarks.instruction_sets import held
from benchmarks.one_core import OneCore
from benchmarks.peer.sides import our_side
from benchmarks.record_files import write_record
from benchmarks.schemes.files import FileMaker
from benchmarks.schemes.forms import EIGHT_BIT, Form, every_form
from benchmarks.schemes.record import render, row_of
from benchmarks.schemes.timing import SEED, add_options, record_of, time_in_turn, timed_architecture
from pocketmt.errors import ConfigurationError
from pocketmt.evaluation.records import provenance

RECORD = Path(__file__).resolve().parents[1] / "records" / "schemes.json"


def main(arguments: Sequence[str]) -> int:
    """Measure; return the exit status."""
    options = _options(arguments)
    origin, core = provenance(seed=SEED), OneCore(options.core)
    rows: list[dict[str, Any]] = []
    measurements: list[dict[str, Any]] = []
    for form, sides in _measure(options):
        rows.append(row_of(form, *sides))
        measurements.append({"form": form.name, "sides": sides})
    print(render(rows))
    output = record_of(options, RECORD)
    record = {
        "rows": rows,
        **core.about(min((row["core_share"] for row in rows), default=1.0)),
        "threads": 1,
        "instruction_set": options.instruction_set,
        "measurements": measurements,
        "provenance": origin,
    }
    if output is not None:
        write_record(record, output)
    return 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="FORM", help="names of forms, as in the table")
    add_options(parser, RECORD)
    return parser.parse_args(arguments)


def _measure(options: argparse.Namespace) -> Iterator[tuple[Form, list[dict[str, Any]]]]:
    """Yield each form with the measurements of the 8-bit file and of its file."""
    architecture = timed_architecture(options.quick)
    forms = _chosen(every_form(architecture), options.only)
    with tempfile.TemporaryDirectory() as folder:
        maker = FileMaker(architecture, SEED)
        eight_bit, path = Path(folder) / "eight-bit.pocketmt", Path(folder) / "form.pocketmt"
        maker.write(every_form(architecture)[0], eight_bit)
        for form in forms:
            maker.write(form, path)
            sides = [
                our_side(EIGHT_BIT, str(eight_bit), sys.executable),
                our_side(form.name, str(path), sys.executable),
            ]
            sides = held(sides, options.instruction_set)
            yield form, time_in_turn(sides, architecture, 2 if options.quick else options.rounds)


def _chosen(forms: Sequence[Form], names: Sequence[str] | None) -> list[Form]:
    """Return the forms with these names, or all; ConfigurationError for an unknown name."""
    known = [form.name for form in forms]
    for name in names or ():
        if name not in known:
            raise ConfigurationError(f"there is no form {name!r}: the forms are {'; '.join(known)}")
    return [form for form in forms if names is None or form.name in names]


if __name__ == "__main__":
    sys.exit(run(main))
