"""Shared parts of the programs that time files with random weights in turn."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.instruction_sets import add_instruction_set_option
from benchmarks.markdown import markdown_table
from benchmarks.one_core import add_core_option
from benchmarks.peer.measure import Amount, Case, Choice, compare
from benchmarks.peer.models import RANDOM_VOCABULARY, TARGET_LENGTH, TimedModel, random_sources
from benchmarks.peer.sides import ONE_BY_ONE, OUR_SETTINGS, Batching, Side
from benchmarks.record_files import write_record
from pocketmt.evaluation.tables import Column
from pocketmt.model_file import Architecture
from pocketmt.models.presets import preset

SEED: Final = 1
SENTENCES: Final = 5  # in a run
QUICK_VOCABULARY: Final = 320


def add_options(parser: argparse.ArgumentParser, record: Path) -> None:
    """Add --core, --instruction-set, --rounds, --output (`record` if not given) and --quick."""
    add_core_option(parser)
    add_instruction_set_option(parser)
    parser.add_argument("--rounds", type=int, default=11, help="runs of each file (default: %(default)s)")
    parser.add_argument("--output", type=Path, default=record, help="the record (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="a smoke test: small networks, few rounds, no record")


def timed_architecture(quick: bool) -> Architecture:
    """Return the architecture to time: `base`, or a small one for a smoke test."""
    return preset("tiny", QUICK_VOCABULARY) if quick else preset("base", RANDOM_VOCABULARY)


def time_in_turn(
    sides: Sequence[Side],
    architecture: Architecture,
    rounds: int,
    batching: Batching = ONE_BY_ONE,
    sentences: int = SENTENCES,
    shortlist: bool = False,
) -> list[dict[str, Any]]:
    """Return a measurement of each side (see `compare`) for 27 tokens in and 28 out, without the translations.

    Args:
        sides: engines with networks that have the vocabulary of `architecture`.
        architecture: the architecture named in progress messages.
        rounds: number of runs of each side.
        batching: how many sentences are translated together.
        sentences: number of sentences in a run.
        shortlist: whether to use the shortlists of the files.
    """
    sources = random_sources(architecture.vocabulary_size, sentences, SEED)
    lengths = (TARGET_LENGTH, TARGET_LENGTH)
    model = TimedModel("random weights", f"seed {SEED}", architecture, lengths, sources, {}, {}, shortlist)
    choices = [Choice(OUR_SETTINGS[0], batching)] * len(sides)
    case = Case(one_by_one=batching == ONE_BY_ONE, beam=1)
    found = compare(sides, choices, model, case, Amount(sentences, sentences, rounds))
    for each in found:
        del each["outputs"]
    return found


def publish(
    rows: Sequence[dict[str, Any]],
    columns: Sequence[str],
    measured: Sequence[dict[str, Any]],
    about: dict[str, Any],
    output: Path | None,
) -> None:
    """Print rows as a table, and write them with their measurements to a record, if `output` is not None."""
    print(markdown_table(rows, [Column.parse(column) for column in columns]))
    if output is not None:
        write_record({"rows": rows, **about, "threads": 1, "measurements": measured}, output)


def record_of(options: argparse.Namespace, record: Path) -> Path | None:
    """Return the path of the record; None for a smoke test without --output."""
    output: Path = options.output
    return None if options.quick and output == record else output
