"""Memory of `pocketmt serve` with both bundled directions, under more and more load.

    python -m benchmarks.serve.memory

Clients send captions of Multi30k in English and German in turn, each to be translated into the other language, beam 4.
The steps follow one another on one server. Writes benchmarks/records/serve-memory.json.
"""

import argparse
import asyncio
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.command import run
from benchmarks.data import corpus
from benchmarks.markdown import markdown_table
from benchmarks.record_files import write_record
from benchmarks.serve.clients import post
from benchmarks.serve.servers import RunningServer, pocketmt_server
from pocketmt.engine.bundled import bundled_models
from pocketmt.errors import DataError
from pocketmt.evaluation.records import provenance
from pocketmt.evaluation.tables import Column

RECORD = Path(__file__).parents[1] / "records" / "serve-memory.json"
MODELS: Final = ("everyday-en-de", "everyday-de-en")
LANGUAGES: Final = ("en", "de")
COLUMNS: Final = ("step", "clients", "megabytes:.0f", "peak_megabytes:.0f")


@dataclass(frozen=True)
class Step:
    """Load on a server.

    Attributes:
        name: in the record.
        clients: at the same time; 0: none.
        requests: of each client, one after the other.
        sentences: of each request.
        detected: whether the server finds the source language.
    """

    name: str
    clients: int = 0
    requests: int = 0
    sentences: int = 1
    detected: bool = False


STEPS: Final = (
    Step("started"),
    Step("a sentence of each language", 1, 2),
    Step("a sentence", 50, 10),
    Step("a sentence", 200, 5),
    Step("a sentence, its language detected", 200, 5, detected=True),
    Step("a document of 30 sentences", 50, 2, 30),
    Step("a document of 30 sentences", 200, 2, 30, detected=True),
)


def main(arguments: Sequence[str]) -> int:
    """Measure, write the record and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="of the server (default: %(default)s)")
    parser.add_argument("--output", type=Path, default=RECORD, help="the record (default: %(default)s)")
    options = parser.parse_args(arguments)
    texts = [
        (corpus("multi30k") / f"test_2016_flickr.{language}").read_text(encoding="utf-8").splitlines()
        for language in LANGUAGES
    ]
    origin = provenance(seed=0)
    with tempfile.TemporaryDirectory() as folder:
        for model in MODELS:
            shutil.copy(bundled_models()[model], folder)
        with pocketmt_server(options.workers, folder) as server:
            rows = [measure(server, step, texts) for step in STEPS]
    write_record({"rows": rows, "workers": options.workers, "provenance": origin}, options.output)
    print(markdown_table(rows, [Column.parse(column) for column in COLUMNS]))
    return 0


def measure(server: RunningServer, step: Step, texts: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Put load on a server, and return its memory afterwards and the most so far; DataError after a refusal."""
    asyncio.run(_send(server.place, step, texts))
    return {
        "step": step.name,
        "clients": step.clients,
        "megabytes": server.memory() / 1e6,
        "peak_megabytes": server.peak_memory() / 1e6,
    }


async def _send(place: tuple[str, int], step: Step, texts: Sequence[Sequence[str]]) -> None:
    async def client(number: int) -> None:
        reader, writer = await asyncio.open_connection(*place, limit=1 << 24)
        for count in range(step.requests):
            source = (number + count) % len(LANGUAGES)
            start = (7 * number + 3 * count) % (len(texts[source]) - step.sentences)
            fields: dict[str, object] = {
                "q": " ".join(texts[source][start : start + step.sentences]),
                "source": "auto" if step.detected else LANGUAGES[source],
                "target": LANGUAGES[1 - source],
            }
            status, answer = await post(reader, writer, fields)
            if status != 200:
                raise DataError(f"the server answers {status}: {answer}")
        writer.close()

    await asyncio.gather(*map(client, range(step.clients)))


if __name__ == "__main__":
    sys.exit(run(main))
