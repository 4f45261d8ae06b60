"""Measures a model as the efficiency task does (Behnke et al. 2021, section 1.1), on the everyday model.

    python -m benchmarks.efficiency_task
    python -m benchmarks.efficiency_task --lines 20000 --output build/efficiency-task.json

A million different lines by throughput, on one core and on all cores; 1,000 of them one by one, for latency; 1,000
lines of 150 words, the task's longest; the bytes of what translation needs, plain and compressed by xz. The lines are
the English texts of Tatoeba, newstest and Multi30k, in this order, filled up by the sentences of examples/demo. Greedy
search, with a shortlist if the model has one, by `pocketmt benchmark` with pinned workers. Writes
benchmarks/records/efficiency-task.json. About 20 minutes on two cores.
"""

import argparse
import io
import json
import lzma
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from importlib.metadata import files
from itertools import count, islice
from pathlib import Path
from typing import Any, Final

from benchmarks.command import run
from benchmarks.data import ROOT, corpus
from benchmarks.markdown import markdown_table
from benchmarks.record_files import write_record
from examples.demo.sentences import sentences
from pocketmt.engine.bundled import resolve_model
from pocketmt.errors import ConfigurationError
from pocketmt.evaluation.records import provenance
from pocketmt.evaluation.tables import Column

RECORD: Final = ROOT / "benchmarks" / "records" / "efficiency-task.json"
TEXTS: Final = ("tatoeba/train.en", "tatoeba-fr/train.en", "newstest", "multi30k/train.en")
LATENCY_LINES: Final = 1_000
LONG_LINES: Final = 1_000
LONG_WORDS: Final = 150
GENERATED_AT_ONCE: Final = 100_000
XZ_PRESET: Final = 9
COLUMNS: Final = (
    "text",
    "mode",
    "lines:,",
    "words:,",
    "workers",
    "seconds:,.1f",
    "words_per_second:,.0f=words/s",
    "median_milliseconds:.2f=median, ms",
    "percentile_99_milliseconds:.2f=99 %, ms",
    "peak_megabytes:.0f=peak memory, MB",
)


def main(arguments: Sequence[str]) -> int:
    """Measure, write the record, print its rows; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="everyday-en-de", help="model file or bundled model (default: %(default)s)")
    parser.add_argument("--lines", type=int, default=1_000_000, help="different lines (default: %(default)s)")
    parser.add_argument("--output", type=Path, default=RECORD, help="the record (default: %(default)s)")
    options = parser.parse_args(arguments)
    origin = provenance(seed=1)
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name:
        lines, long = Path(name) / "lines.en", Path(name) / "long.en"
        lines.write_text("".join(f"{line}\n" for line in islice(different_lines(), options.lines)), encoding="utf-8")
        long.write_text("".join(f"{line}\n" for line in islice(long_lines(), LONG_LINES)), encoding="utf-8")
        cores = len(os.sched_getaffinity(0))
        for text, path in (("different lines", lines), (f"lines of {LONG_WORDS} words", long)):
            for workers in sorted({1, cores}):
                rows.append(measured(options.model, text, path, "throughput", "--workers", str(workers)))
        latency_lines = str(min(LATENCY_LINES, options.lines))
        rows.append(measured(options.model, "different lines", lines, "latency", "--lines", latency_lines))
    sizes = image_sizes(resolve_model(options.model))
    write_record({"model": options.model, "rows": rows, "image": sizes, "provenance": origin}, options.output)
    print(markdown_table(rows, [Column.parse(column) for column in COLUMNS]))
    print(sizes)
    return 0


def different_lines() -> Iterator[str]:
    """Yield lines of real text, then generated ones, each once."""
    seen = set()
    for line in all_lines():
        if line not in seen:
            seen.add(line)
            yield line


def all_lines() -> Iterator[str]:
    """Yield the lines of all texts, then generated ones without end."""
    for text in TEXTS:
        path = corpus(text.split("/")[0]) / text.partition("/")[2]
        for file in sorted(path.glob("*.en-de.en")) if path.is_dir() else [path]:
            yield from file.read_text(encoding="utf-8").splitlines()
    for seed in count(1):
        yield from sentences(GENERATED_AT_ONCE, seed)


def long_lines() -> Iterator[str]:
    """Yield lines of 150 words, from the words of news."""
    news = (file.read_text(encoding="utf-8") for file in sorted(corpus("newstest").glob("*.en-de.en")))
    words = (word for text in news for word in text.split())
    while line := list(islice(words, LONG_WORDS)):
        yield " ".join(line)


def measured(model: str, text: str, path: Path, mode: str, *options: str) -> dict[str, Any]:
    """Return the row of one run of `pocketmt benchmark`; ConfigurationError if it fails."""
    program = Path(sys.executable).with_name("pocketmt")
    fixed = ("--beam-size", "1", "--repeats", "1", "--pin-workers", "--json")
    command = [str(program), "benchmark", model, str(path), "--mode", mode, *options, *fixed]
    answer = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if answer.returncode:
        raise ConfigurationError(f"pocketmt benchmark: ended with status {answer.returncode}")
    record = json.loads(answer.stdout)
    timing, latency = record["timing"], record["timing"]["latency"]
    return {
        "text": text,
        "mode": mode,
        "lines": timing["sentences"],
        "words": timing["words"],
        "workers": record["workers"],
        "seconds": timing["median_seconds"],
        "words_per_second": timing["words_per_second"],
        "median_milliseconds": latency and latency["median_milliseconds"],
        "percentile_99_milliseconds": latency and latency["percentile_99_milliseconds"],
        "peak_megabytes": record["peak_memory_bytes"] / 1e6,
        "instruction_set": record["instruction_set"],
    }


def image_sizes(model: Path) -> dict[str, int]:
    """Return bytes, plain and by xz, of the model with PocketMT and its runtime packages, and of the model alone."""
    needed = [model, *(ROOT / "src" / "pocketmt").rglob("*.py")]
    needed += (ROOT / "build" / "editable").glob("_native.*.so")
    for package in ("click", "sentencepiece"):
        needed += (Path(str(path.locate())) for path in files(package) or () if path.suffix != ".pyc")
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        for path in needed:
            tar.add(path)
    return {
        "image_bytes": sum(path.stat().st_size for path in needed),
        "image_xz_bytes": len(lzma.compress(archive.getvalue(), preset=XZ_PRESET)),
        "model_bytes": model.stat().st_size,
        "model_xz_bytes": len(lzma.compress(model.read_bytes(), preset=XZ_PRESET)),
    }


if __name__ == "__main__":
    sys.exit(run(main))
