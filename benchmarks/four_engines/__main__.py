"""Compares engines on one student: agreement with full precision, speed, memory and installed size.

    pocketmt train benchmarks/four_engines/student.toml --output runs/student
    pocketmt compress runs/student benchmarks/four_engines/8bit-matrix.toml --output student8.pocketmt
    python -m benchmarks.four_engines runs/student student8.pocketmt TEXT

The first argument is the folder of a training run, or a model file, in full precision; the second the same model in 8
bits with one scale a matrix and calibrated activations, of a network that Marian has. Each engine gets the same codes,
one thread, and one line at a time, in its own process; they run in turn. Writes benchmarks/records/four-engines.json.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.command import run
from benchmarks.data import ROOT
from benchmarks.one_core import OneCore, add_core_option
from benchmarks.other_engines import BERGAMOT, written
from benchmarks.record_files import write_record
from pocketmt.engine import Translator
from pocketmt.evaluation.records import provenance
from pocketmt.interop.bergamot.writing import write_model as write_bergamot
from pocketmt.interop.ctranslate2.writing import write_model as write_ctranslate2
from pocketmt.packing.model_source import AnyModel

RECORD = ROOT / "benchmarks" / "records" / "four-engines.json"


def main(arguments: Sequence[str]) -> int:
    """Run all engines in turn, and write a record; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("original", help="the model in full precision")
    parser.add_argument("model", type=Path, help="the model in 8 bits")
    parser.add_argument("text", type=Path, help="lines to translate")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each engine (default: %(default)s)")
    add_core_option(parser)
    parser.add_argument("--output", type=Path, default=RECORD, help="the record (default: %(default)s)")
    options = parser.parse_args(arguments)
    origin, core = provenance(seed=None), OneCore(options.core)
    lines = options.text.read_text(encoding="utf-8").splitlines()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        expected = full_precision(options.original, lines, folder)
        programs = programs_of(options.model, folder)
        rows = measure(programs, lines, expected, options.rounds)
    about = {"lines": len(lines), "bytes": options.model.stat().st_size, **core.about(1.0), "provenance": origin}
    write_record({"rows": rows, **about}, options.output)
    for row in rows:
        print(json.dumps(row))
    return 0


def full_precision(original: str, lines: Sequence[str], folder: Path) -> list[str]:
    """Return PocketMT's translations by the model in full precision."""
    translator = Translator(AnyModel(original).file(folder / "original.pocketmt"))
    return translator.translate(lines, beam_size=1, split=False, check=False)


@dataclass(frozen=True)
class Program:
    """A command that translates lines with one engine, and the bytes of its installation."""

    command: list[str]
    installed: int


def programs_of(model: Path, folder: Path) -> dict[str, Program | str]:
    """Return the program of each engine, or why it cannot run the model."""
    ours = folder / "pocketmt"
    ours.mkdir()
    shutil.copy(model, ours / "model.pocketmt")
    bergamot = written(model, folder / "bergamot", write_bergamot)
    ctranslate2 = written(model, folder / "ctranslate2", write_ctranslate2)
    node = shutil.which("node")
    found: dict[str, Program | str] = {
        "PocketMT": python_program("PocketMT", ours),
        "fxtranslate": python_program("fxtranslate", bergamot),
        "bergamot": "needs Node, and `make bergamot`",
        "CTranslate2": python_program("CTranslate2", ctranslate2),
    }
    if isinstance(bergamot, str):
        found["bergamot"] = bergamot
    elif node is not None and BERGAMOT.is_dir():
        command = [node, str(Path(__file__).parent / "run_bergamot.mjs"), str(BERGAMOT), str(bergamot)]
        found["bergamot"] = Program(command, folder_bytes(BERGAMOT))
    return found


def python_program(engine: str, model: Path | str) -> Program | str:
    """Return the program of an engine of Python for a folder, or why there is none."""
    if isinstance(model, str):
        return model
    if find_spec(engine.lower()) is None:
        return f"the package {engine.lower()} is not installed"
    command = [sys.executable, "-m", "benchmarks.four_engines.run_engine", engine, str(model)]
    return Program(command, installed(engine.lower()))


def measure(
    programs: Mapping[str, Program | str], lines: Sequence[str], expected: Sequence[str], rounds: int
) -> list[dict[str, Any]]:
    """Run the engines in turn; return a row for each."""
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in programs}
    reasons = {name: program for name, program in programs.items() if isinstance(program, str)}
    for _ in range(rounds):
        for name, program in programs.items():
            if isinstance(program, Program) and name not in reasons:
                result = measured(program.command, lines, expected)
                if isinstance(result, str):
                    reasons[name] = result
                else:
                    runs[name].append(result)
    ours = median(run["seconds"] for run in runs["PocketMT"])
    rows: list[dict[str, Any]] = []
    for name, program in programs.items():
        if name in reasons or isinstance(program, str):
            rows.append({"engine": name, "reason": reasons[name]})
            continue
        seconds = [run["seconds"] for run in runs[name]]
        rows.append(
            {
                "engine": name,
                **runs[name][0],
                "seconds": median(seconds),
                "fastest": min(seconds),
                "slowest": max(seconds),
                "time": median(seconds) / ours,
                "load_seconds": median(run["load_seconds"] for run in runs[name]),
                "installed_bytes": program.installed,
            }
        )
    return rows


def measured(command: list[str], lines: Sequence[str], expected: Sequence[str]) -> dict[str, Any] | str:
    """Run a command with all lines; returns its measurements, or the end of its errors."""
    done = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, cwd=ROOT, check=False)
    if done.returncode:
        return done.stderr.strip()[-300:]
    *answers, last = (json.loads(line) for line in done.stdout.splitlines())
    texts = [answer["text"] for answer in answers]
    words = [(left.split(), right.split()) for left, right in zip(expected, texts, strict=True)]
    same = sum(a == b for left, right in words for a, b in zip(left, right, strict=False))
    return {
        "same_sentences": sum(left == right for left, right in zip(expected, texts, strict=True)) / len(lines),
        "same_words": same / max(1, sum(max(len(left), len(right)) for left, right in words)),
        "seconds": sum(answer["seconds"] for answer in answers),
        "load_seconds": last["load"],
        "memory_bytes": last["memory"],
    }


def installed(package: str) -> int:
    """Return the bytes of a package, with the libraries that lie beside it."""
    spec = find_spec(package)
    assert spec is not None and spec.origin is not None
    folder = Path(spec.origin).parent
    libraries = folder.parent / f"{package}.libs"
    return folder_bytes(folder) + (folder_bytes(libraries) if libraries.is_dir() else 0)


def folder_bytes(folder: Path) -> int:
    """Return the bytes of all files in a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file() and "__pycache__" not in file.parts)


if __name__ == "__main__":
    sys.exit(run(main))
