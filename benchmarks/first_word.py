"""Time from the start of a process to the first word, compared with CTranslate2: imports, loading, one search step.

    python -m benchmarks.first_word
    python -m benchmarks.first_word --random tiny --rounds 3
    python -m benchmarks.first_word --instruction-set avx2 --output benchmarks/records/first-word-avx2.json

The networks are those of benchmarks/peer, with random weights and without a shortlist; both sides translate one
sentence of 27 tokens and stop after its first token. Each round starts a process for each side, A B A B, on one core,
with the files in the page cache. CTranslate2 runs in its fastest setting. Writes benchmarks/records/first-word.json and
prints its rows.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.command import run
from benchmarks.instruction_sets import add_instruction_set_option, held, used
from benchmarks.markdown import markdown_table
from benchmarks.one_core import OneCore, add_core_option
from benchmarks.peer.child_process import Child
from benchmarks.peer.models import Pythons, TimedModel, random_models
from benchmarks.peer.sides import Setting, Side, our_side
from benchmarks.record_files import write_record
from pocketmt.evaluation.records import provenance
from pocketmt.evaluation.tables import Column

RECORD = Path(__file__).parent / "records" / "first-word.json"
SEED = 1
# Weights of the peer -> our forms to compare with.
FORMS_COMPARED = {"float32": ("float32",), "int8": ("uniform8", "logarithmic4")}
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
    pythons = Pythons(options.peer_python)
    pythons.check()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.random:
            model = next(random_models(name, 1, SEED, Path(folder), pythons))
            for weights, forms in FORMS_COMPARED.items():
                (peer,) = model.peers[weights]
                sides = [peer, *(our_side(form, model.ours[form], sys.executable) for form in forms)]
                rows += list(first_word_rows(model, held(sides, options.instruction_set), options.rounds))
    # Child processes are measured, so this process cannot tell whether there was other load.
    about = {"core": core.core, "instruction_set": options.instruction_set}
    write_record({"rows": rows, **about, "provenance": origin}, options.output)
    print(markdown_table(rows, [Column.parse(column) for column in COLUMNS]))
    return 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--random", nargs="+", default=["base", "tiny"], metavar="PRESET", help="default: %(default)s")
    parser.add_argument("--rounds", type=int, default=11, help="processes of each side (default: %(default)s)")
    parser.add_argument("--peer-python", default=sys.executable, help="the Python with CTranslate2 (default: this one)")
    add_core_option(parser)
    add_instruction_set_option(parser)
    parser.add_argument("--output", type=Path, default=RECORD, help="the record (default: %(default)s)")
    return parser.parse_args(arguments)


def first_word_rows(model: TimedModel, sides: Sequence[Side], rounds: int) -> Iterator[dict[str, Any]]:
    """Yield a row for each side; "times_as_fast" is the median ratio to the first side over rounds."""
    settings = [_quickest(side, model) for side in sides]
    times: list[list[dict[str, float]]] = [[] for _ in sides]
    used_by: dict[int, str | None] = {}
    for _ in range(rounds):
        for index, (side, setting) in enumerate(zip(sides, settings, strict=True)):
            seconds, used_by[index] = first_word_once(side, setting, model)
            times[index].append(seconds)
    for index, (found, side, setting) in enumerate(zip(times, sides, settings, strict=True)):
        ratios = [peer["in_all"] / own["in_all"] for peer, own in zip(times[0], found, strict=True)]
        yield {
            "model": model.name,
            "side": side.name,
            "weights": side.weights,
            "setting": setting.name,
            "instruction_set": used_by[index],
            **{step: statistics.median(each[step] for each in found) for step in STEPS},
            "rounds": found,
            "times_as_fast": statistics.median(ratios),
            "lowest": min(ratios),
            "highest": max(ratios),
        }


def _quickest(side: Side, model: TimedModel) -> Setting:
    """Return the setting with the earliest first word, the best of two processes each."""

    def seconds(setting: Setting) -> float:
        return min(first_word_once(side, setting, model)[0]["in_all"] for _ in range(2))

    return side.settings[0] if len(side.settings) == 1 else min(side.settings, key=seconds)


def first_word_once(side: Side, setting: Setting, model: TimedModel) -> tuple[dict[str, float], str | None]:
    """Return the seconds of a new process for importing its engine, for loading and for the first word.

    The second result is the instruction set in use, see `instruction_sets.used`.
    """
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
    times = {"start": ready - started, "load": loaded - ready, "first_word": ended - loaded, "in_all": ended - started}
    return times, used(side, child.loaded["description"])


if __name__ == "__main__":
    sys.exit(run(main))
