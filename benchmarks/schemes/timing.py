"""What programs share that time files of random weights in turn."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.one_core import add_core_option
from benchmarks.peer.measure import Amount, Case, Choice, compare
from benchmarks.peer.models import RANDOM_VOCABULARY, TARGET_LENGTH, TimedModel, random_sources
from benchmarks.peer.sides import ONE_BY_ONE, OUR_SETTINGS, Side
from pocketmt.model_file import Architecture
from pocketmt.models.presets import preset

SEED: Final = 1
SENTENCES: Final = 5  # of a run
QUICK_VOCABULARY: Final = 320


def add_options(parser: argparse.ArgumentParser, record: Path) -> None:
    """Add --core, --rounds, --output (`record` if not given) and --quick."""
    add_core_option(parser)
    parser.add_argument("--rounds", type=int, default=11, help="how often each file runs (default: %(default)s)")
    parser.add_argument("--output", type=Path, default=record, help="the record (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="a smoke test: small networks, few rounds, no record")


def timed_architecture(quick: bool) -> Architecture:
    """Return the network that is timed: `base`; for a smoke test a small one."""
    return preset("tiny", QUICK_VOCABULARY) if quick else preset("base", RANDOM_VOCABULARY)


def time_in_turn(sides: Sequence[Side], architecture: Architecture, rounds: int) -> list[dict[str, Any]]:
    """Return a measurement of each side, as `compare` makes them, of 27 tokens in and 28 out; without the outputs."""
    sources = random_sources(architecture.vocabulary_size, SENTENCES, SEED)
    lengths = (TARGET_LENGTH, TARGET_LENGTH)
    model = TimedModel("random weights", f"seed {SEED}", architecture, lengths, sources, {}, {})
    choices = [Choice(OUR_SETTINGS[0], ONE_BY_ONE)] * len(sides)
    found = compare(sides, choices, model, Case(one_by_one=True, beam=1), Amount(SENTENCES, 0, rounds))
    for each in found:
        del each["outputs"]
    return found
