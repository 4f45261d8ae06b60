"""Time and memory of loading a model, compared with CTranslate2, and time of a whole `pocketmt translate`.

    python -m benchmarks.loading
    python -m benchmarks.loading --random tiny --rounds 2 --output build/loading.json
    python -m benchmarks.loading --instruction-set avx2 --output benchmarks/records/loading-avx2.json

The networks are those of benchmarks/peer, with random weights and without a shortlist, and the bundled models. Each
round starts a process for each engine and file, in turn, with the files in the page cache; CTranslate2 loads in its
quickest setting. Times are those of loading alone, without the start of Python and imports. Processes may use all
cores, each engine has one worker. The same rounds time programs from their start to their end: an empty one, one that
imports the packages that PocketMT needs, and `pocketmt translate` with one short sentence. Writes
benchmarks/records/loading.json and prints its rows.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.command import run
from benchmarks.instruction_sets import add_instruction_set_option, held, our_instruction_set, used
from benchmarks.markdown import markdown_table
from benchmarks.peer.child_process import Child
from benchmarks.peer.files import PEER_FORMS
from benchmarks.peer.models import Pythons, random_models
from benchmarks.peer.sides import Setting, Side, our_side
from benchmarks.record_files import write_record
from pocketmt.engine import bundled_models
from pocketmt.engine.bundled import resolve_model
from pocketmt.evaluation.records import provenance
from pocketmt.evaluation.tables import Column

RECORD: Final = Path(__file__).parent / "records" / "loading.json"
SEED: Final = 1
SENTENCE: Final = "A man rides a bike.\n"
# Name -> the arguments of Python; what the commands translate with is added.
PROGRAMS: Final = {
    "empty program": ("-c", "pass"),
    "imports of click and SentencePiece": ("-c", "import click, sentencepiece"),
}
COMMAND: Final = ("-c", "from pocketmt.cli.process import main; main()", "translate", "--model")
COLUMNS: Final = (
    "model",
    "side",
    "weights",
    "setting",
    "file_megabytes:.1f=file, MB",
    "seconds:.3f=loading, s",
    "fewest_seconds:.3f=shortest",
    "most_seconds:.3f=longest",
    "peak_megabytes:.0f=peak of the process, MB",
    "before_megabytes:.0f=before, MB",
)
PROGRAM_COLUMNS: Final = (
    "program",
    "seconds:.3f=seconds",
    "fewest_seconds:.3f=shortest",
    "most_seconds:.3f=longest",
)


def main(arguments: Sequence[str]) -> int:
    """Measure, write the record, print its rows."""
    options = _options(arguments)
    origin = provenance(seed=SEED)
    pythons = Pythons(options.peer_python)
    pythons.check()
    load_before = os.getloadavg()
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.random:
            model = next(random_models(name, 1, SEED, Path(folder), pythons))
            peers = [model.peers[form][0] for form in PEER_FORMS]
            ours = [our_side(form, path, sys.executable) for form, path in model.ours.items()]
            rows += loading_rows(model.name, held([*peers, *ours], options.instruction_set), options.rounds)
    bundled = [our_side(name, resolve_model(name), sys.executable) for name in bundled_models()]
    rows += loading_rows("bundled", held(bundled, options.instruction_set), options.rounds)
    programs = list(program_rows(options.rounds, options.instruction_set))
    load = {"before": load_before, "after": os.getloadavg()}
    about = {"load_average": load, "instruction_set": options.instruction_set, "provenance": origin}
    write_record({"rows": rows, "programs": programs, **about}, options.output)
    print(markdown_table(rows, [Column.parse(column) for column in COLUMNS]))
    print(markdown_table(programs, [Column.parse(column) for column in PROGRAM_COLUMNS]))
    return 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--random", nargs="+", default=["base"], metavar="PRESET", help="default: %(default)s")
    parser.add_argument("--rounds", type=int, default=11, help="processes of each side (default: %(default)s)")
    parser.add_argument("--peer-python", default=sys.executable, help="the Python with CTranslate2 (default: this one)")
    add_instruction_set_option(parser)
    parser.add_argument("--output", type=Path, default=RECORD, help="the record (default: %(default)s)")
    return parser.parse_args(arguments)


def loading_rows(model: str, sides: Sequence[Side], rounds: int) -> Iterator[dict[str, Any]]:
    """Yield a row for each side with its times and memory, median of rounds."""
    settings = [_quickest(side) for side in sides]
    found: list[list[dict[str, float]]] = [[] for _ in sides]
    used_by: dict[int, str | None] = {}
    for _ in range(rounds):
        for index, (side, setting) in enumerate(zip(sides, settings, strict=True)):
            once, used_by[index] = load_once(side, setting)
            found[index].append(once)
    for index, (measured, side, setting) in enumerate(zip(found, sides, settings, strict=True)):
        yield {
            "model": model,
            "side": side.name,
            "weights": side.weights,
            "setting": setting.name,
            "instruction_set": used_by[index],
            "file_megabytes": side.file_bytes(setting) / 1e6,
            **_seconds([each["seconds"] for each in measured]),
            "peak_megabytes": statistics.median(each["peak_bytes"] for each in measured) / 1e6,
            "before_megabytes": statistics.median(each["before_bytes"] for each in measured) / 1e6,
            "rounds": measured,
        }


def _quickest(side: Side) -> Setting:
    """Return the setting that loads in the shortest time, the best of two processes each."""

    def seconds(setting: Setting) -> float:
        return min(load_once(side, setting)[0]["seconds"] for _ in range(2))

    return side.settings[0] if len(side.settings) == 1 else min(side.settings, key=seconds)


def load_once(side: Side, setting: Setting) -> tuple[dict[str, float], str | None]:
    """Return the seconds in which a new process loads a model, its memory before, and its peak in bytes.

    The second result is the instruction set in use, see `instruction_sets.used`.
    """
    with Child(side.module, setting.environment, side.python) as child:
        child.load(side.model, side.options(setting))
        peak = child.ask("outputs")["peak_memory_bytes"]
    times = {
        "seconds": child.loaded["load_seconds"],
        "before_bytes": child.loaded["memory_before_load_bytes"],
        "peak_bytes": peak,
    }
    return times, used(side, child.loaded["description"])


def program_rows(rounds: int, instruction_set: str | None) -> Iterator[dict[str, Any]]:
    """Yield a row for each program with its time from start to end, median of rounds after one that is not counted."""
    engine = our_instruction_set(instruction_set)
    commands = {f"translate with {name}": (*COMMAND, name, "--instruction-set", engine) for name in bundled_models()}
    programs: Mapping[str, Sequence[str]] = {**PROGRAMS, **commands}
    times: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(rounds + 1):
        for name, arguments in programs.items():
            times[name].append(program_seconds(arguments))
    for name, seconds in times.items():
        about = {"program": name, "instruction_set": engine if name in commands else None}
        yield {**about, **_seconds(seconds[1:]), "rounds": seconds[1:]}


def program_seconds(arguments: Sequence[str]) -> float:
    """Return the seconds from the start to the end of a Python program, whose input is one sentence."""
    started = time.perf_counter()
    subprocess.run([sys.executable, *arguments], input=SENTENCE, text=True, capture_output=True, check=True)
    return time.perf_counter() - started


def _seconds(seconds: Sequence[float]) -> dict[str, float]:
    return {"seconds": statistics.median(seconds), "fewest_seconds": min(seconds), "most_seconds": max(seconds)}


if __name__ == "__main__":
    sys.exit(run(main))
