"""Runs docs/tutorial.md on Multi30k, English to German, and records processor time, peak memory and size of each step.

    taskset --cpu-list 1 python -m benchmarks.tutorial [--folder build/tutorial] [--output RECORD.json]

The training text of Multi30k is the reader's corpus; the tutorial itself holds out its test text. On one core,
processor time is the time that a reader waits, also if other programs delay it.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.command import run
from benchmarks.multi30k import data
from benchmarks.record_files import write_record
from pocketmt.errors import ConfigurationError
from pocketmt.evaluation.records import Provenance, provenance
from tools.documentation.blocks import Block, blocks_of

ROOT: Final = Path(__file__).resolve().parents[2]
PAGE: Final = ROOT / "docs" / "tutorial.md"


@dataclass(frozen=True)
class Step:
    """The measurement of one block of the tutorial."""

    section: str
    minutes: float  # of processor time
    peak_megabytes: float  # largest resident memory of one process
    result: str | None  # the last model file or folder of a run that it made
    result_bytes: int | None
    bleu: float | None  # printed by `pocketmt evaluate` for the first file that it scores


@dataclass(frozen=True)
class TutorialRecord:
    """All steps, in order."""

    corpus_pairs: int
    steps: list[Step]
    minutes: float
    provenance: Provenance


def measure(folder: Path) -> TutorialRecord:
    """Run every block of the tutorial in a new folder; ConfigurationError if one fails, DataError without Multi30k."""
    corpus = data.folder()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for language in ("en", "de"):
        shutil.copy(corpus / f"train.{language}", folder / f"corpus.{language}")
    steps = []
    for block in blocks_of(PAGE):
        if block.title is not None:
            (folder / block.title).write_text(block.text, encoding="utf-8")
        elif block.runs:
            steps.append(run_block(block, folder))
            print(steps[-1], flush=True)
    pairs = (folder / "corpus.en").read_bytes().count(b"\n")
    return TutorialRecord(pairs, steps, sum(step.minutes for step in steps), provenance())


def run_block(block: Block, folder: Path) -> Step:
    """Run one block as a program and measure it."""
    programs = {"sh": ["bash", "-euo", "pipefail", "-c", block.text], "python": ["python", "-c", block.text]}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    before = _results(folder)
    process = subprocess.Popen(
        programs[block.language], cwd=folder, env={**os.environ, "PATH": path}, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise ConfigurationError(f"a block of {block.section} failed with status {os.waitstatus_to_exitcode(status)}")
    made = sorted(_results(folder) - before, key=lambda path: path.stat().st_mtime)
    score = re.search(r"^BLEU\s+([\d.]+)", output, flags=re.MULTILINE)
    return Step(
        section=block.section,
        minutes=(usage.ru_utime + usage.ru_stime) / 60,
        peak_megabytes=usage.ru_maxrss * 1024 / 1e6,
        result=str(made[-1].relative_to(folder)) if made else None,
        result_bytes=_size(made[-1]) if made else None,
        bleu=float(score[1]) if score else None,
    )


def _results(folder: Path) -> set[Path]:
    return {*folder.glob("*.pocketmt"), *folder.glob("runs/*")}


def _size(path: Path) -> int:
    files = [each for each in path.rglob("*") if each.is_file()] if path.is_dir() else [path]
    return sum(each.stat().st_size for each in files)


def main(arguments: Sequence[str]) -> int:
    """Measure and write the record."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tutorial", description="Measure the tutorial.")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "tutorial", help="where it runs; emptied first")
    parser.add_argument("--output", type=Path, default=ROOT / "benchmarks" / "records" / "tutorial.json")
    options = parser.parse_args(arguments)
    write_record(measure(options.folder), options.output)
    return 0


if __name__ == "__main__":
    sys.exit(run(main))
