"""The time from starting a process to the first word, beside CTranslate2: importing, loading, one step of search.

    python -m benchmarks.first_word
    python -m benchmarks.first_word --random tiny --rounds 3

The networks are those of benchmarks/peer, random weights, without a shortlist; both sides translate one sentence of 27
tokens and stop after its first token. Each round starts a process for each side, A B A B, all on one core; files were
read before, and lie in the system's cache. CTranslate2 runs in the setting whose first word comes first. The record
goes to benchmarks/records/first-word.json, its rows as a table to stdout.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.one_core import OneCore, add_core_option
from benchmarks.peer.child_process import Child
from benchmarks.peer.models import Pythons, TimedModel, random_models
from benchmarks.peer.sides import Setting, Side, our_side
from pocketmt.evaluation.records import provenance, write_record
from pocketmt.evaluation.tables import Column, markdown_table

RECORD = Path(__file__).parent / "records" / "first-word.json"
SEED = 1
# Which of our forms stand beside a peer's weights.
FORMS_BESIDE = {"float32": ("float32",), "int8": ("uniform8", "logarithmic4")}
STEPS = ("start", "load", "first_word", "in_all")
COLUMNS = (
    "model",
    "side",
    "weights",
    "setting",
    "start:.3f=start, s",
    "load:.3f=load, s",
    "first_word:.3f=first word, s",
    "in_all:.3f=in all, s",
    "times_as_fast:.2f=times as fast",
)


def main(arguments: Sequence[str]) -> int:
    """Measure, write the record, print its rows."""
    options = _options(arguments)
    origin, core = provenance(seed=SEED), OneCore(options.core)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.random:
            model = next(random_models(name, 1, SEED, Path(folder), Pythons(options.peer_python)))
            for weights, forms in FORMS_BESIDE.items():
                (peer,) = model.peers[weights]
                sides = [peer, *(our_side(form, model.ours[form], sys.executable) for form in forms)]
                rows += list(first_word_rows(model, sides, options.rounds))
    # The processes that are measured are children: whether the core was free is not seen from here.
    write_record({"rows": rows, "core": core.core, "provenance": origin}, options.output)
    print(markdown_table(rows, [Column.parse(column) for column in COLUMNS]))
    return 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--random", nargs="+", default=["base", "tiny"], metavar="PRESET", help="default: %(default)s")
    parser.add_argument("--rounds", type=int, default=11, help="processes of each side (default: %(default)s)")
    parser.add_argument(
        "--peer-python", default=sys.executable, help="the Python that has CTranslate2 (default: this one)"
    )
    add_core_option(parser)
    parser.add_argument("--output", type=Path, default=RECORD, help="the record (default: %(default)s)")
    return parser.parse_args(arguments)


def first_word_rows(model: TimedModel, sides: Sequence[Side], rounds: int) -> Iterator[dict[str, Any]]:
    """Yield a row a side; "times_as_fast" is the median of the rounds' ratios to the first side."""
    settings = [_quickest(side, model) for side in sides]
    times: list[list[dict[str, float]]] = [[] for _ in sides]
    for _ in range(rounds):
        for found, side, setting in zip(times, sides, settings, strict=True):
            found.append(first_word_seconds(side, setting, model))
    for found, side, setting in zip(times, sides, settings, strict=True):
        ratios = [peer["in_all"] / own["in_all"] for peer, own in zip(times[0], found, strict=True)]
        yield {
            "model": model.name,
            "side": side.name,
            "weights": side.weights,
            "setting": setting.name,
            **{step: statistics.median(each[step] for each in found) for step in STEPS},
            "rounds": found,
            "times_as_fast": statistics.median(ratios),
            "lowest": min(ratios),
            "highest": max(ratios),
        }


def _quickest(side: Side, model: TimedModel) -> Setting:
    """Return the setting whose first word comes first, of two processes each."""

    def seconds(setting: Setting) -> float:
        return min(first_word_seconds(side, setting, model)["in_all"] for _ in range(2))

    return side.settings[0] if len(side.settings) == 1 else min(side.settings, key=seconds)


def first_word_seconds(side: Side, setting: Setting, model: TimedModel) -> dict[str, float]:
    """Return the seconds of one new process: until it has imported its engine, of loading, and until the first word."""
    started = time.perf_counter()
    with Child(side.module, setting.environment, side.python) as child:
        child.ask("prepare", sources=[])
        ready = time.perf_counter()
        child.load(side.model, side.options(setting))
        loaded = time.perf_counter()
        child.ask("prepare", sources=model.sentences[:1])
        search = {"beam": 1, "batch_size": 0, "batch_type": "examples", "shortest": 1, "longest": 1, "shortlist": False}
        child.ask("run", one_by_one=True, options=search)
        ended = time.perf_counter()
    return {"start": ready - started, "load": loaded - ready, "first_word": ended - loaded, "in_all": ended - started}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
