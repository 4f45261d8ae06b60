"""Load on `pocketmt serve`, compared with LibreTranslate and the same weights.

    python -m benchmarks.serve.load
    python -m benchmarks.serve.load --without-libretranslate --clients 1 50

Each client sends a request, waits for its answer and sends the next: of one sentence, or of a document of 30 sentences
in 10 lines. Texts are the captions of Multi30k's test of 2016. Each server starts, is measured with one number of
clients after another, and ends; its peak memory is that of its process. Both search with beam 4. LibreTranslate has our
export for CTranslate2 in 8 bits, and otherwise its settings. Clients run on the same machine. Writes
benchmarks/records/serve-load.json.
"""

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.command import run
from benchmarks.data import corpus
from benchmarks.markdown import markdown_table
from benchmarks.record_files import write_record
from benchmarks.serve.clients import Measured, measure_clients
from benchmarks.serve.servers import RunningServer, libretranslate_server, pocketmt_server, prepare_libretranslate
from pocketmt.evaluation.records import provenance
from pocketmt.evaluation.tables import Column

RECORD = Path(__file__).parents[1] / "records" / "serve-load.json"
SENTENCES_OF_LINE = 3
LINES_OF_DOCUMENT = 10
COLUMNS = (
    "server",
    "texts",
    "clients",
    "sentences_per_second:.0f=sentences/s",
    "p50:.0f=p50, ms",
    "p95:.0f=p95, ms",
    "p99:.0f=p99, ms",
    "peak_megabytes:.0f=peak memory, MB",
    "refused",
)


def main(arguments: Sequence[str]) -> int:
    """Measure, write the record, print its rows."""
    options = _options(arguments)
    sentences = (corpus("multi30k") / "test_2016_flickr.en").read_text(encoding="utf-8").splitlines()
    texts = {"sentence": sentences, "document": list(documents(sentences))}
    origin = provenance(seed=0)
    rows: list[dict[str, Any]] = []
    with ExitStack() as stack:
        starts: list[Callable[[], AbstractContextManager[RunningServer]]] = [partial(pocketmt_server, options.workers)]
        if not options.without_libretranslate:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            prepare_libretranslate(folder)
            starts.append(partial(libretranslate_server, folder, options.workers, "int8"))
        for start in starts:
            for kind, its_texts in texts.items():
                with start() as server:
                    rows += load_rows(server, kind, its_texts, options.clients, options.seconds)
    write_record({"rows": rows, "seconds": options.seconds, "provenance": origin}, options.output)
    print(markdown_table(rows, [Column.parse(column) for column in COLUMNS]))
    return 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 10, 50, 200], help="default: %(default)s")
    parser.add_argument("--seconds", type=float, default=5.0, help="of each measurement (default: %(default)s)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="of a server (default: %(default)s)")
    parser.add_argument("--without-libretranslate", action="store_true", help="measure PocketMT alone")
    parser.add_argument("--output", type=Path, default=RECORD, help="the record (default: %(default)s)")
    return parser.parse_args(arguments)


def documents(sentences: Sequence[str]) -> Iterator[str]:
    """Yield documents of several lines of several sentences."""
    size = SENTENCES_OF_LINE * LINES_OF_DOCUMENT
    for start in range(0, len(sentences) - size + 1, size):
        chosen = sentences[start : start + size]
        lines = [chosen[place : place + SENTENCES_OF_LINE] for place in range(0, size, SENTENCES_OF_LINE)]
        yield "\n".join(" ".join(line) for line in lines)


def load_rows(
    server: RunningServer, kind: str, texts: Sequence[str], clients: Sequence[int], seconds: float
) -> Iterator[dict[str, Any]]:
    """Yield a row for each number of clients."""
    asyncio.run(measure_clients(server.place, texts, 1, 1.0))  # The model is loaded before time counts.
    for number in clients:
        measured = asyncio.run(measure_clients(server.place, texts, number, seconds))
        per_request = 1 if kind == "sentence" else SENTENCES_OF_LINE * LINES_OF_DOCUMENT
        yield {
            "server": server.name,
            "texts": kind,
            "clients": number,
            "requests": len(measured.seconds),
            "sentences_per_second": per_request * len(measured.seconds) / measured.elapsed,
            **percentiles(measured),
            "peak_megabytes": server.peak_memory() / 1e6,
            "refused": measured.refused,
        }


def percentiles(measured: Measured) -> dict[str, float]:
    """Return the percentiles of the times of requests, in milliseconds."""
    if len(measured.seconds) < 2:
        return dict.fromkeys(("p50", "p95", "p99"), 1000 * sum(measured.seconds))
    cuts = statistics.quantiles(measured.seconds, n=100, method="inclusive")
    return {f"p{share}": 1000 * cuts[share - 1] for share in (50, 95, 99)}


if __name__ == "__main__":
    sys.exit(run(main))
