"""Peak memory and time of `pocketmt clean` by the number of pairs, and the share of its first process.

    python -m benchmarks.cleaning_memory
    python -m benchmarks.cleaning_memory --quick

Synthetic pairs of 4 to 30 words, drawn from 50,000 words by Zipf's law; a fifth repeats an earlier pair. Each text is
cleaned by the rules and of duplicates, and then also by the language model, on all cores of this process. The first
process reads, sorts and writes, and trains the language models; the others apply the rules and the models. Writes
benchmarks/records/cleaning-memory.json and prints its rows.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.command import run
from benchmarks.record_files import write_record
from pocketmt.cores import available_cores
from pocketmt.errors import DataError
from pocketmt.evaluation.records import provenance
from pocketmt.evaluation.tables import Column, plain_table

RECORD: Final = Path(__file__).parent / "records" / "cleaning-memory.json"
SEED: Final = 1
PAIRS: Final = (100_000, 1_000_000, 5_000_000)
WORDS: Final = 50_000
FILTERS: Final = {"rules and duplicates": "0", "and the language model": "0.05"}
COLUMNS: Final = (
    "filters",
    "pairs:,",
    "kept:,",
    "text_bytes:,=bytes of text",
    "peak_memory_bytes:,=peak memory",
    "processes",
    "seconds:,.0f",
    "first_seconds:,.1f=of a core, first process",
    "other_seconds:,.1f=of a core, others",
)
# Runs the command line, and prints what its first process and all others took.
PROGRAM: Final = """
import json, resource, sys
from pocketmt.cli.main import run
status = run(sys.argv[1:])
first, others = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
print(json.dumps({
    "peak_memory_bytes": first.ru_maxrss * 1024,
    "peak_memory_bytes_of_another": others.ru_maxrss * 1024,
    "first_seconds": first.ru_utime + first.ru_stime,
    "other_seconds": others.ru_utime + others.ru_stime,
}))
sys.exit(status)
"""


def main(arguments: Sequence[str]) -> int:
    """Measure; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, nargs="+", default=PAIRS, help="numbers of pairs (default: %(default)s)")
    parser.add_argument("--output", type=Path, default=RECORD, help="the record (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="a smoke test: 2,000 pairs, no record")
    options = parser.parse_args(arguments)
    rows: list[dict[str, Any]] = []
    for pairs in (2_000,) if options.quick else options.pairs:
        with tempfile.TemporaryDirectory() as folder:
            rows += _measure(Path(folder), pairs)
    print(plain_table(rows, [Column.parse(each) for each in COLUMNS]))
    if not options.quick or options.output != RECORD:
        write_record({"provenance": provenance(seed=SEED), "rows": rows}, options.output)
    return 0


def _measure(folder: Path, pairs: int) -> Iterator[dict[str, Any]]:
    source, target = folder / "text.en", folder / "text.de"
    with source.open("w") as sources, target.open("w") as targets:
        for pair in _pairs(pairs):
            sources.write(pair[0])
            targets.write(pair[1])
    for filters, improbable in FILTERS.items():
        clean = folder / "clean.en", folder / "clean.de"
        began = time.monotonic()
        usage = _run("clean", source, target, "-o", *clean, "--improbable", improbable)
        yield {
            "filters": filters,
            "pairs": pairs,
            "kept": sum(1 for _ in clean[0].open("rb")),
            "text_bytes": source.stat().st_size + target.stat().st_size,
            "processes": available_cores(),
            "seconds": time.monotonic() - began,
            **usage,
        }


def _run(*arguments: str | Path) -> dict[str, float]:
    """Run `pocketmt`; returns memory in bytes, and seconds of processors."""
    command = [sys.executable, "-c", PROGRAM, *map(str, arguments)]
    answer = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    if answer.returncode:
        raise DataError(f"pocketmt {' '.join(map(str, arguments))}: ended with status {answer.returncode}")
    usage: dict[str, float] = json.loads(answer.stdout)
    return usage


def _pairs(count: int) -> Iterator[tuple[str, str]]:
    """Yield pairs of lines."""
    draw = random.Random(SEED)
    # The logarithm of the rank is drawn evenly, so the probability of a rank is as its inverse.
    words = [f"w{int(WORDS ** draw.random()):x}" for _ in range(4 * WORDS)]
    phrases = [" ".join(draw.choices(words, k=draw.randint(2, 6))) for _ in range(4 * WORDS)]
    pairs = [_pair(draw, phrases) for _ in range(100)]
    for number in range(count):
        if draw.random() < 0.2:
            yield draw.choice(pairs)
            continue
        pair = _pair(draw, phrases)
        if number % 100 == 0:
            pairs.append(pair)
        yield pair


def _pair(draw: random.Random, phrases: Sequence[str]) -> tuple[str, str]:
    drawn = draw.choices(phrases, k=2 * draw.randint(2, 5))
    half = len(drawn) // 2
    return " ".join(drawn[:half]) + "\n", " ".join(drawn[half:]) + "\n"


if __name__ == "__main__":
    sys.exit(run(main))
