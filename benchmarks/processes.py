"""Throughput of several processes that translate on the same cores at the same time, each with a worker for each core.

    python -m benchmarks.processes
    python -m benchmarks.processes --instruction-set avx2 --output benchmarks/records/processes-avx2.json
    python -m benchmarks.processes --quick

Networks with random weights as in benchmarks/threads, one sentence at a time and many at once. One process alone and
two together run in turn. Of two that don't slow one another, each has half of what one alone has: together as much.
Writes benchmarks/records/processes.json and prints its rows.
"""

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.command import run
from benchmarks.data import ROOT
from benchmarks.instruction_sets import add_instruction_set_option
from benchmarks.one_core import usable_cores
from benchmarks.peer.models import RANDOM_VOCABULARY, random_sources
from benchmarks.record_files import write_record
from benchmarks.threads import CASES, PRESETS, SCHEMES, SEED, pack_random_network
from pocketmt.engine import Translator
from pocketmt.evaluation.records import provenance
from pocketmt.evaluation.tables import Column, plain_table
from pocketmt.models.presets import preset

RECORD: Final = ROOT / "benchmarks" / "records" / "processes.json"
PROCESSES: Final = 2
COLUMNS: Final = (
    "model",
    "scheme=weights",
    "case",
    "workers",
    "alone:.1f=one process, sentences/s",
    "together:.1f=two together, sentences/s",
    "ratio:.3f",
    "lowest:.3f",
    "highest:.3f",
)


def main(arguments: Sequence[str]) -> int:
    """Measure, write the record, print its rows; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7, help="runs alone and together (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=3.0, help="of each run (default: %(default)s)")
    add_instruction_set_option(parser)
    parser.add_argument("--output", type=Path, default=RECORD, help="the record (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="a smoke test: `tiny`, short runs, no record")
    parser.add_argument("--child", nargs=2, metavar=("MODEL", "WORKERS"), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.child:
        return _serve(Path(options.child[0]), int(options.child[1]), options.instruction_set)
    origin, rows = provenance(seed=SEED), []
    for name in ("tiny",) if options.quick else PRESETS:
        for scheme in SCHEMES[:1] if options.quick else SCHEMES:
            rows += _measure(
                name,
                scheme,
                options.instruction_set,
                rounds=1 if options.quick else options.rounds,
                seconds=0.1 if options.quick else options.seconds,
                vocabulary=320 if options.quick else RANDOM_VOCABULARY,
            )
    print(plain_table(rows, [Column.parse(each) for each in COLUMNS]))
    if not options.quick or options.output != RECORD:
        about = {"instruction_set": options.instruction_set, "load_average": os.getloadavg()}
        write_record({"rows": rows, **about, "provenance": origin}, options.output)
    return 0


def _measure(
    name: str, scheme: str, instruction_set: str | None, *, rounds: int, seconds: float, vocabulary: int
) -> list[dict[str, Any]]:
    """Return a row for each case of a network."""
    workers = len(usable_cores())
    rows = []
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        path = Path(folder) / "model.pocketmt"
        pack_random_network(path, preset(name, vocabulary), scheme)
        children = [stack.enter_context(_Child(path, workers, instruction_set)) for _ in range(PROCESSES)]
        for case in CASES:
            rates = [[_rate(children[:count], case, seconds) for count in (1, PROCESSES)] for _ in range(rounds)]
            ratios = [together / alone for alone, together in rates]
            rows.append(
                {
                    **{"model": name, "scheme": scheme, "case": case, "workers": workers},
                    "instruction_set": children[0].instruction_set,
                    "alone": statistics.median(alone for alone, _ in rates),
                    "together": statistics.median(together for _, together in rates),
                    "ratio": statistics.median(ratios),
                    "lowest": min(ratios),
                    "highest": max(ratios),
                    "rates": rates,
                }
            )
    return rows


class _Child(contextlib.AbstractContextManager["_Child"]):
    """A process that translates for as long as it is told."""

    def __init__(self, model: Path, workers: int, instruction_set: str | None) -> None:
        command = [sys.executable, "-m", "benchmarks.processes", "--child", str(model), str(workers)]
        command += [] if instruction_set is None else ["--instruction-set", instruction_set]
        self._process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self.instruction_set = str(self._answer())

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def send(self, case: str, seconds: float) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{json.dumps([case, seconds])}\n")

    def receive(self) -> float:
        """Return the sentences a second of the last run."""
        return float(self._answer())

    def _answer(self) -> str | float:
        assert self._process.stdout is not None
        answer: str | float = json.loads(self._process.stdout.readline())
        return answer


def _rate(children: Sequence[_Child], case: str, seconds: float) -> float:
    """Return the sum of the sentences a second of processes that run at the same time."""
    for child in children:
        child.send(case, seconds)
    return sum(child.receive() for child in children)


def _serve(model: Path, workers: int, instruction_set: str | None) -> int:
    """Translate by the case and the seconds of each line of stdin, and answer with the sentences a second.

    The first line of stdout is the instruction set in use.
    """
    translator = Translator(model, workers=workers, instruction_set=instruction_set)
    sources = random_sources(len(translator.tokenizer), max(sentences for _, sentences in CASES.values()), SEED)
    print(json.dumps(translator.instruction_set), flush=True)
    for line in sys.stdin:
        case, seconds = json.loads(line)
        translate, sentences = CASES[case]
        start, done = time.perf_counter(), 0
        while time.perf_counter() - start < seconds:
            translate(translator, sources[:sentences])
            done += sentences
        print(done / (time.perf_counter() - start), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(run(main))
