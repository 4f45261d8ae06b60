"""Measures the npm package on one student: download size, start, memory, equality with the native engine, and speed.

    python -m benchmarks.web MODEL8 MODEL4 TEXT...

MODEL8 is a student in 8 bits that bergamot's format can hold, MODEL4 the same in 4 bits. Needs `make web bergamot` and
`make build/web-peers/.packages`. Each engine has one thread and gets one line at a time. Writes
benchmarks/records/web.json.
"""

import argparse
import gzip
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.command import run
from benchmarks.data import ROOT
from benchmarks.other_engines import BERGAMOT, written
from benchmarks.record_files import write_record
from pocketmt.engine import Translator
from pocketmt.evaluation.records import provenance
from pocketmt.interop.bergamot.writing import write_model as write_bergamot

RECORD = ROOT / "benchmarks" / "records" / "web.json"
DIST = ROOT / "web" / "dist"
PEERS = ROOT / "build" / "web-peers" / "node_modules" / "fxtranslate"
PROGRAMS = Path(__file__).parent
RELAXED = ("--experimental-wasm-relaxed-simd", "--no-liftoff")  # Node 20's baseline compiler is wrong


def main(arguments: Sequence[str]) -> int:
    """Measure, and write a record; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("eight", type=Path, help="the model in 8 bits")
    parser.add_argument("four", type=Path, help="the model in 4 bits")
    parser.add_argument("text", type=Path, nargs="+", help="lines to translate; the speed is that of the first file")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each engine (default: %(default)s)")
    parser.add_argument("--output", type=Path, default=RECORD, help="the record (default: %(default)s)")
    options = parser.parse_args(arguments)
    origin = provenance(seed=None)
    texts = {path.name: path.read_text(encoding="utf-8").splitlines() for path in options.text}
    with tempfile.TemporaryDirectory() as name:
        commands = commands_of(options.eight, options.four, Path(name))
        rows = [
            measure(engine, command, next(iter(texts.values())), options.rounds) for engine, command in commands.items()
        ]
    equality = [
        compared(model, engine, texts) for model in (options.eight, options.four) for engine in ("simd128", "relaxed")
    ]
    write_record({"files": sizes(), "rows": rows, "equality": equality, "provenance": origin}, options.output)
    for row in (*rows, *equality):
        print(json.dumps(row))
    return 0


def commands_of(eight: Path, four: Path, folder: Path) -> dict[str, list[str]]:
    """Return the command of each engine, which reads lines."""
    node = shutil.which("node")
    if node is None:
        sys.exit("error: node is missing")
    commands = {
        f"PocketMT, {bits} bits, {engine}": pocketmt(node, model, engine)
        for bits, model in ((8, eight), (4, four))
        for engine in ("simd128", "relaxed")
    }
    exported = written(eight, folder / "bergamot", write_bergamot)
    if isinstance(exported, str):
        sys.exit(f"error: {exported}")
    bergamot = PROGRAMS.parent / "four_engines" / "run_bergamot.mjs"
    commands["bergamot, 8 bits"] = [node, str(bergamot), str(BERGAMOT), str(exported)]
    commands["fxtranslate, 8 bits"] = [node, str(PROGRAMS / "run_fxtranslate.mjs"), str(PEERS), str(exported)]
    return commands


def pocketmt(node: str, model: Path, engine: str) -> list[str]:
    """Return the command of this package."""
    flags = RELAXED if engine == "relaxed" else ()
    return [node, *flags, str(PROGRAMS / "run_pocketmt.mjs"), str(DIST), engine, str(model.resolve())]


def measure(engine: str, command: list[str], lines: Sequence[str], rounds: int) -> dict[str, Any]:
    """Run an engine; returns its row."""
    words = sum(len(line.split()) for line in lines)
    speeds, loads, memory, empty = [], [], [], 0
    for _ in range(rounds):
        *answers, last = answers_of(command, lines)
        speeds.append(words / sum(answer["seconds"] for answer in answers))
        loads.append(last["load"])
        memory.append(last["memory"])
        empty = sum(answer["text"] == "" for answer in answers)
    return {
        "engine": engine,
        "lines": len(lines),
        "empty": empty,
        "words_per_second": median(speeds),
        "slowest": min(speeds),
        "fastest": max(speeds),
        "load_seconds": median(loads),
        "memory_bytes": median(memory),
    }


def answers_of(command: list[str], lines: Sequence[str]) -> list[dict[str, Any]]:
    """Return what an engine writes."""
    done = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, cwd=ROOT, check=False)
    if done.returncode:
        sys.exit(f"error: {' '.join(command[:3])}: {done.stderr.strip()[-500:]}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def compared(model: Path, engine: str, texts: dict[str, list[str]]) -> dict[str, Any]:
    """Return in how many lines the translation is that of the native engine."""
    lines = [line for text in texts.values() for line in text]
    expected = Translator(model).translate(lines, beam_size=1, check=False)
    found = [answer["text"] for answer in answers_of(pocketmt("node", model, engine), lines)[:-1]]
    same = sum(left == right for left, right in zip(expected, found, strict=True))
    return {"model": model.name, "engine": engine, "texts": list(texts), "lines": len(lines), "same": same}


def sizes() -> dict[str, dict[str, int]]:
    """Return bytes of the files that a page downloads, plain and by gzip."""
    names = ("pocketmt-simd128.wasm", "pocketmt-relaxed.wasm", "worker.js", "index.js")
    contents = {name: (DIST / name).read_bytes() for name in names}
    return {name: {"bytes": len(each), "gzip": len(gzip.compress(each, 9))} for name, each in contents.items()}


if __name__ == "__main__":
    sys.exit(run(main))
