"""Measures the npm package on one student: download size, start, memory, equality with the native engine, and speed.

    make web bergamot build/web-peers/.packages
    STUDENT=examples/demo/teacher.pocketmt
    pocketmt compress $STUDENT benchmarks/four_engines/8bit-matrix.toml --text PLAIN.en --output student8.pocketmt
    pocketmt compress $STUDENT log4-compensated --text PLAIN.en --output student4.pocketmt
    pocketmt compress $STUDENT mixed-2.6-bits-distilled --limit-updates 300 --text PLAIN.en --output student2.pocketmt
    python -m benchmarks.web student8.pocketmt $STUDENT student4.pocketmt student2.pocketmt TEST.en TEST.de

The first model is a student in 8 bits that bergamot's format can hold, the others the same student as PocketMT stores
it. The engines run in Node, and ours and bergamot's in Chromium too, if it is installed. Each has one thread and gets
one line at a time. About ten minutes on a quiet core. Writes benchmarks/records/web.json.
"""

import argparse
import gzip
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any, Final

from benchmarks.command import run
from benchmarks.data import ROOT
from benchmarks.other_engines import BERGAMOT, written
from benchmarks.record_files import write_record
from benchmarks.web.browser import program, run_in_browser, site
from pocketmt.engine import Translator
from pocketmt.evaluation.quality import score
from pocketmt.evaluation.records import provenance
from pocketmt.interop.bergamot.writing import write_model as write_bergamot

RECORD: Final = ROOT / "benchmarks" / "records" / "web.json"
DIST: Final = ROOT / "web" / "dist"
PEERS: Final = ROOT / "build" / "web-peers" / "node_modules" / "fxtranslate"
PROGRAMS: Final = Path(__file__).parent
NEEDED: Final = {
    DIST / "local.js": "make web",
    BERGAMOT / "worker": "make bergamot",
    PEERS: "make build/web-peers/.packages",
}
ENGINES: Final = ("simd128", "relaxed")
RELAXED: Final = ("--experimental-wasm-relaxed-simd", "--no-liftoff")  # Node 20's baseline compiler is wrong

# Translates lines; returns {text, seconds} of each, and {load, memory} at the end.
Answers = Callable[[Sequence[str]], list[dict[str, Any]]]


@dataclass(frozen=True)
class Case:
    """An engine with a model in a host."""

    engine: str
    host: str
    model: Path
    answers: Answers
    ours: bool


def main(arguments: Sequence[str]) -> int:
    """Measure, and write a record; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", type=Path, nargs="+", help="the model in 8 bits, then in fewer bits")
    parser.add_argument("text", type=Path, help="lines to translate")
    parser.add_argument("references", type=Path, help="their translations by people")
    parser.add_argument("--lines", type=int, default=300, help="of each timed run (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each engine (default: %(default)s)")
    parser.add_argument("--output", type=Path, default=RECORD, help="the record (default: %(default)s)")
    options = parser.parse_args(arguments)
    check_needed()
    origin = provenance(seed=None)
    lines = options.text.read_text(encoding="utf-8").splitlines()
    references = options.references.read_text(encoding="utf-8").splitlines()
    with tempfile.TemporaryDirectory() as name:
        exported = written(options.models[0], Path(name) / "bergamot", write_bergamot)
        if isinstance(exported, str):
            sys.exit(f"error: {options.models[0]}: {exported}: train benchmarks/four_engines/student.toml")
        (Path(name) / "site").mkdir()
        with site(Path(name) / "site", places(options.models, exported)) as address:
            cases = [*node_cases(options.models, exported), *browser_cases(options.models, exported, address)]
            rows = measured(cases, lines[: options.lines], options.rounds)
            equality = [compared(case, lines) for case in cases if case.ours]
    models = [about(model, lines, references) for model in options.models]
    record = {"files": sizes(), "models": models, "rows": rows, "equality": equality, "provenance": origin}
    write_record(record, options.output)
    for row in (*models, *rows, *equality):
        print(json.dumps(row))
    return 0


def check_needed() -> None:
    """Exit with the commands that make what is missing."""
    if shutil.which("node") is None:
        sys.exit("error: node is missing: install Node 20 or later")
    commands = [command for path, command in NEEDED.items() if not path.exists()]
    if commands:
        sys.exit(f"error: something is not built: {' && '.join(commands)}")


def places(models: Sequence[Path], exported: Path) -> Mapping[str, Path]:
    """Return what the site for browsers has."""
    return {"pocketmt": DIST, "bergamot": BERGAMOT / "worker", "exported": exported} | {
        model.name: model for model in models
    }


def node_cases(models: Sequence[Path], exported: Path) -> Iterator[Case]:
    """Yield the engines in Node."""
    for model in models:
        for engine in ENGINES:
            yield Case(f"PocketMT, {engine}", "Node", model, partial(in_node, pocketmt(model, engine)), ours=True)
    bergamot = ["node", str(PROGRAMS.parent / "four_engines" / "run_bergamot.mjs"), str(BERGAMOT), str(exported)]
    yield Case("bergamot", "Node", exported, partial(in_node, bergamot), ours=False)
    fxtranslate = ["node", str(PROGRAMS / "run_fxtranslate.mjs"), str(PEERS), str(exported)]
    yield Case("fxtranslate", "Node", exported, partial(in_node, fxtranslate), ours=False)


def pocketmt(model: Path, engine: str) -> list[str]:
    """Return the command of this package in Node."""
    flags = RELAXED if engine == "relaxed" else ()
    return ["node", *flags, str(PROGRAMS / "run_pocketmt.mjs"), str(DIST), engine, str(model.resolve())]


def in_node(command: Sequence[str], lines: Sequence[str]) -> list[dict[str, Any]]:
    """Return what a program for Node writes."""
    done = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, cwd=ROOT, check=False)
    if done.returncode:
        sys.exit(f"error: {' '.join(command[:3])}: {done.stderr.strip()[-500:]}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def browser_cases(models: Sequence[Path], exported: Path, address: str) -> Iterator[Case]:
    """Yield the engines in Chromium, none if there is no Chromium."""
    if program() is None:
        return

    def case(name: str, function: str, model: Path, given: Mapping[str, object]) -> Case:
        def answers(lines: Sequence[str]) -> list[dict[str, Any]]:
            return run_in_browser(address, function, {**given, "lines": list(lines)})

        return Case(name, "Chromium", model, answers, ours=function == "runPocketmt")

    for model in models:
        for engine in ENGINES:
            yield case(f"PocketMT, {engine}", "runPocketmt", model, {"engine": engine, "model": model.name})
    files = sorted(path.name for path in exported.iterdir())
    yield case("bergamot", "runBergamot", exported, {"model": "exported", "files": files})


def measured(cases: Sequence[Case], lines: Sequence[str], rounds: int) -> list[dict[str, Any]]:
    """Run all cases in turn, `rounds` times; returns a row of each."""
    runs: list[list[list[dict[str, Any]]]] = [[] for _ in cases]
    for number in range(rounds):
        for case, its_runs in zip(cases, runs, strict=True):
            print(f"round {number + 1} of {rounds}: {case.engine}, {case.model.name}, {case.host}", file=sys.stderr)
            its_runs.append(case.answers(lines))
    # bergamot has the same codes and rules, so that a sound peer translates most lines as it does.
    expected = next(found[0] for case, found in zip(cases, runs, strict=True) if case.engine == "bergamot")
    peers = {case.host: seconds_of(found) for case, found in zip(cases, runs, strict=True) if case.engine == "bergamot"}
    return [row(case, found, lines, expected, peers[case.host]) for case, found in zip(cases, runs, strict=True)]


def seconds_of(runs: Sequence[list[dict[str, Any]]]) -> list[float]:
    """Return the seconds that an engine translated in each round."""
    return [sum(answer["seconds"] for answer in answers[:-1]) for answers in runs]


def row(
    case: Case,
    runs: Sequence[list[dict[str, Any]]],
    lines: Sequence[str],
    expected: Sequence[dict[str, Any]],
    peer: Sequence[float],
) -> dict[str, Any]:
    """Return the row of an engine: speed in words of the source a second, start and memory.

    `peer` has the seconds of bergamot in the same host and rounds.
    """
    words = sum(len(line.split()) for line in lines)
    speeds = [words / seconds for seconds in seconds_of(runs)]
    ratios = [theirs / ours for ours, theirs in zip(seconds_of(runs), peer, strict=True)]
    texts = [answer["text"] for answer in runs[0][:-1]]
    same = sum(text == other["text"] for text, other in zip(texts, islice(expected, len(lines)), strict=True))
    return {
        "engine": case.engine,
        "host": case.host,
        "model": case.model.name,
        "lines": len(lines),
        "empty": texts.count(""),
        "as_bergamot": same,
        "words_per_second": median(speeds),
        "slowest": min(speeds),
        "fastest": max(speeds),
        "times_bergamot": median(ratios),
        "lowest_ratio": min(ratios),
        "highest_ratio": max(ratios),
        "load_milliseconds": 1000 * median(answers[-1]["load"] for answers in runs),
        "first_milliseconds": 1000 * median(answers[-1]["load"] + answers[0]["seconds"] for answers in runs),
        "memory_megabytes": median(answers[-1]["memory"] - answers[-1].get("base", 0) for answers in runs) / 1e6,
    }


def compared(case: Case, lines: Sequence[str]) -> dict[str, Any]:
    """Return in how many lines the translation is that of the native engine."""
    print(f"all lines: {case.engine}, {case.model.name}, {case.host}", file=sys.stderr)
    expected = Translator(case.model).translate(lines, beam_size=1, check=False)
    found = [answer["text"] for answer in case.answers(lines)[:-1]]
    same = sum(left == right for left, right in zip(expected, found, strict=True))
    return {"model": case.model.name, "engine": case.engine, "host": case.host, "lines": len(lines), "same": same}


def about(model: Path, lines: Sequence[str], references: Sequence[str]) -> dict[str, Any]:
    """Return the size of a model's download, and the BLEU and chrF of its greedy translations."""
    quality = score(Translator(model).translate(lines, beam_size=1, check=False), references)
    return {
        "model": model.name,
        "bytes": model.stat().st_size,
        "bleu": quality.bleu.value,
        "bleu_signature": quality.bleu.signature,
        "chrf": quality.chrf.value,
        "chrf_signature": quality.chrf.signature,
    }


def sizes() -> list[dict[str, Any]]:
    """Return bytes of the files that a page downloads, plain and by gzip."""
    names = ("pocketmt-simd128.wasm", "pocketmt-relaxed.wasm", "worker.js", "index.js")
    contents = [(name, (DIST / name).read_bytes()) for name in names]
    return [{"file": name, "bytes": len(each), "gzip": len(gzip.compress(each, 9))} for name, each in contents]


if __name__ == "__main__":
    sys.exit(run(main))
