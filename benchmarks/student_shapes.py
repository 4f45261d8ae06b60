"""Size and speed of the student shapes of Behnke et al. 2021, Table 1, in 32, 8 and 4 bits.

    python -m benchmarks.student_shapes --core 1
    python -m benchmarks.student_shapes --instruction-set avx2 --output benchmarks/records/student-shapes-avx2.json
    python -m benchmarks.student_shapes --quick

Networks with random weights, 32,000 pieces and a shortlist of 50 and 100: 27 tokens in, 28 out, greedy, in batches of
32 as in the paper. Quality is not measured. All files run in turn, each in a separate process; times are relative to
`12-1.tiny` in full precision in the same rounds. Writes benchmarks/records/student-shapes.json and prints its rows.
"""

import argparse
import math
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.command import run
from benchmarks.instruction_sets import held
from benchmarks.one_core import OneCore, share_of_core
from benchmarks.peer.models import RANDOM_VOCABULARY
from benchmarks.peer.shortlists import random_shortlist
from benchmarks.peer.sides import Batching, Side, our_side
from benchmarks.recipe_files import find_recipe
from benchmarks.schemes.files import FileMaker
from benchmarks.schemes.forms import Form
from benchmarks.schemes.timing import QUICK_VOCABULARY, SEED, add_options, publish, record_of, time_in_turn
from pocketmt.compression.planning import make_plan
from pocketmt.evaluation.records import provenance
from pocketmt.models.presets import TRANSFORMERS, preset
from pocketmt.packing.shortlist import add_shortlist

RECORD: Final = Path(__file__).parent / "records" / "student-shapes.json"
SENTENCES: Final = 64  # of a run
BATCHING: Final = Batching(32)
FULL: Final = "float32"
# The form of the weights, as the table names it -> its recipe, which needs no training.
RECIPES: Final[Mapping[str, str]] = {"uniform8": "8bit", "logarithmic4": "aji/log4-after-training"}
REFERENCE: Final = "12-1.tiny"
COLUMNS: Final = (
    "model",
    "sizes.encoder_layers=encoder layers",
    "sizes.decoder_layers=decoder layers",
    "sizes.model_dimension=d",
    "sizes.feed_forward_dimension=feed-forward",
    "sizes.attention_dimension=attention",
    "million_parameters:.1f=million parameters",
    "megabytes.float32:.1f=MB",
    "megabytes.uniform8:.1f=MB, 8 bit",
    "megabytes.logarithmic4:.1f=MB, 4 bit",
    "milliseconds.float32:.2f=ms",
    "milliseconds.uniform8:.2f=ms, 8 bit",
    "milliseconds.logarithmic4:.2f=ms, 4 bit",
    "times_the_reference.float32:.2f=of 12-1.tiny's time",
    "times_the_reference.uniform8:.2f=8 bit",
    "times_the_reference.logarithmic4:.2f=4 bit",
    "paper_million_parameters:.1f=paper: million parameters",
    "paper_times:.2f=paper: of 12-1.tiny's time",
)


@dataclass(frozen=True)
class PaperShape:
    """A row of the paper's Table 1: parameters, with an output bias of 32,000, and seconds for the WMT21 test set."""

    name: str
    million_parameters: float
    seconds: float


TABLE: Final = (
    PaperShape("12-1.large", 130.5, 92.2),
    PaperShape("12-1.base", 51.1, 38.9),
    PaperShape("12-1.tiny", 22.0, 19.2),
    PaperShape("12-1.micro", 18.6, 17.1),
    PaperShape("8-4.tied.tiny", 17.8, 30.4),
    PaperShape("6-2.tied.tiny", 15.7, 18.6),
    PaperShape("6-2.base", 42.7, 56.2),
    PaperShape("6-2.tiny", 16.9, 19.2),
)


def main(arguments: Sequence[str]) -> int:
    """Measure; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser, RECORD)
    options = parser.parse_args(arguments)
    origin, core = provenance(seed=SEED), OneCore(options.core)
    vocabulary, rounds = (QUICK_VOCABULARY, 1) if options.quick else (RANDOM_VOCABULARY, options.rounds)
    with tempfile.TemporaryDirectory() as folder:
        measured = measure(TABLE, vocabulary, Path(folder), rounds, options.instruction_set)
    rows = rows_of(TABLE, measured, vocabulary)
    held_to = {"instruction_set": options.instruction_set}
    about = {**core.about(min(share_of_core(each) for each in measured)), **held_to, "provenance": origin}
    publish(rows, COLUMNS, measured, about, record_of(options, RECORD))
    return 0


def measure(
    shapes: Sequence[PaperShape], vocabulary: int, folder: Path, rounds: int, instruction_set: str | None = None
) -> list[dict[str, Any]]:
    """Return measurements of the files of each shape, `FULL` first, without the translations."""
    sides = [side for shape in shapes for side in _sides(shape.name, vocabulary, folder)]
    reference = preset(REFERENCE, vocabulary)
    return time_in_turn(held(sides, instruction_set), reference, rounds, BATCHING, SENTENCES, shortlist=True)


def _sides(name: str, vocabulary: int, folder: Path) -> list[Side]:
    """Write the files of a shape, with random weights and a shortlist."""
    architecture = preset(name, vocabulary)
    forms = {FULL: Form(FULL)}
    for label, recipe in RECIPES.items():
        forms[label] = Form(label, make_plan(find_recipe(recipe), architecture).stages[-1].assignments)
    maker, shortlist = FileMaker(architecture, SEED), random_shortlist(vocabulary, SEED)
    sides = []
    for label, form in forms.items():
        whole, path = folder / "whole.pocketmt", folder / f"{name}-{label}.pocketmt"
        maker.write(form, whole)
        add_shortlist(whole, shortlist, path)
        whole.unlink()
        sides.append(our_side(label, path, sys.executable))
    return sides


def rows_of(shapes: Sequence[PaperShape], measured: Sequence[dict[str, Any]], vocabulary: int) -> list[dict[str, Any]]:
    """Return a row for each shape; times are relative to the reference shape in full precision, round by round."""
    forms = (FULL, *RECIPES)
    by_shape = {
        shape.name: dict(zip(forms, measured[index * len(forms) :], strict=False)) for index, shape in enumerate(shapes)
    }
    reference = by_shape[REFERENCE][FULL]["seconds"]
    paper_reference = next(shape.seconds for shape in shapes if shape.name == REFERENCE)
    rows = []
    for shape in shapes:
        found = by_shape[shape.name]
        parameters = preset(shape.name, vocabulary).parameter_shapes()
        rows.append(
            {
                "model": shape.name,
                "instruction_set": found[FULL]["engine"]["instruction_set"],
                "sizes": TRANSFORMERS[shape.name],
                "million_parameters": 1e-6 * sum(math.prod(each) for each in parameters.values()),
                "megabytes": {form: 1e-6 * each["file_bytes"] for form, each in found.items()},
                "milliseconds": {form: each["milliseconds_per_sentence"] for form, each in found.items()},
                "times_the_reference": {form: _ratio(each["seconds"], reference) for form, each in found.items()},
                "paper_million_parameters": shape.million_parameters,
                "paper_times": shape.seconds / paper_reference,
            }
        )
    return rows


def _ratio(seconds: Sequence[float], reference: Sequence[float]) -> float:
    return statistics.median(own / other for own, other in zip(seconds, reference, strict=True))


if __name__ == "__main__":
    sys.exit(run(main))
