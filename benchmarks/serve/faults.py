"""Faults under load: hostile requests, clients that vanish or stop, and model files that are replaced.

    python -m benchmarks.serve.faults
    python -m benchmarks.serve.faults --requests 5000

Of all requests, 40 % are proper ones, whose answers must be those of `pocketmt translate` with the model file before or
after a replacement, 20 % are hostile, 20 % vanish before the answer, and 20 % stop within the request. The file of the
model is replaced every two seconds by that of the other bundled model, first by half of a file each fifth time. Writes
benchmarks/records/serve-faults.json, prints it, and ends with 1 if an answer was wrong or the server failed.
"""

import argparse
import asyncio
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from benchmarks.command import run
from benchmarks.data import corpus
from benchmarks.record_files import write_record
from benchmarks.serve.clients import post
from benchmarks.serve.hostile import hostile_requests
from benchmarks.serve.servers import RunningServer, pocketmt_server
from pocketmt.engine.bundled import bundled_models
from pocketmt.evaluation.records import provenance

RECORD = Path(__file__).parents[1] / "records" / "serve-faults.json"
MODELS = ("captions-en-de", "captions-en-de-8bit")
CLIENTS = 40
SECONDS_BETWEEN_REPLACEMENTS = 2.0
TEXTS = 500


class Faults:
    """Sends requests and counts what comes back.

    Args:
        server: to ask.
        expected: text -> its translation by each model.
        hostile: requests.
    """

    def __init__(self, server: RunningServer, expected: dict[str, tuple[str, ...]], hostile: list[bytes]) -> None:
        self._server = server
        self._expected = expected
        self._texts = list(expected)
        self._hostile = hostile
        self.counts: Counter[str] = Counter()
        self.models_seen: Counter[int] = Counter()

    async def send(self, number: int) -> None:
        """Send one request of the kind that its number has."""
        generator = random.Random(number)
        kind = ("proper", "proper", "hostile", "vanishing", "stopping")[number % 5]
        with suppress(OSError, EOFError, asyncio.IncompleteReadError):
            reader, writer = await asyncio.open_connection(*self._server.place)
            try:
                if kind == "proper":
                    await self._proper(reader, writer, generator)
                else:
                    await self._faulty(kind, reader, writer, generator)
                return
            finally:
                writer.close()
        self.counts[f"{kind}_no_answer"] += 1

    async def _proper(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, generator: random.Random
    ) -> None:
        texts = generator.sample(self._texts, generator.choice((1, 1, 1, 2, 10)))
        status, answer = await post(reader, writer, {"q": texts, "source": "en", "target": "de"})
        if status != 200:
            self.counts[f"proper_{status}"] += 1
            return
        fits = [
            model
            for model in range(len(MODELS))
            if answer["translatedText"] == [self._expected[text][model] for text in texts]
        ]
        self.counts["proper_right" if fits else "proper_wrong"] += 1
        self.models_seen.update(fits[:1] if len(fits) == 1 else [])

    async def _faulty(
        self, kind: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, generator: random.Random
    ) -> None:
        request = self._hostile[generator.randrange(len(self._hostile))]
        if kind != "hostile":
            body = json.dumps(
                {"q": " ".join(generator.sample(self._texts, 20)), "source": "en", "target": "de"}
            ).encode()
            head = "POST /translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            request = f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
        if kind == "stopping":
            request = request[: generator.randrange(len(request))]
        writer.write(request)
        await writer.drain()
        if kind == "hostile":
            start = await _start_of_answer(reader)
            self.counts[f"hostile_{start[9:12].decode('latin-1') or 'no_answer'}"] += 1
        else:
            await asyncio.sleep(generator.random() / 20)
            self.counts[kind] += 1


async def _start_of_answer(reader: asyncio.StreamReader) -> bytes:
    with suppress(TimeoutError):
        async with asyncio.timeout(0.3):
            return await reader.read(100)
    return b""


def main(arguments: Sequence[str]) -> int:
    """Measure, write the record and print it."""
    options = _options(arguments)
    origin = provenance(seed=0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        texts = (corpus("multi30k") / "test_2016_flickr.en").read_text(encoding="utf-8").splitlines()[:TEXTS]
        expected = dict(zip(texts, zip(*(translations(model, texts) for model in MODELS), strict=True), strict=True))
        shutil.copy(bundled_models()[MODELS[0]], folder / "model.pocketmt")
        with pocketmt_server(options.workers, str(folder), "--deadline", "20") as server:
            faults = Faults(server, expected, list(hostile_requests(1, min(100_000, options.requests))))
            record = asyncio.run(measure(faults, server, folder / "model.pocketmt", options.requests))
    write_record(record | {"provenance": origin}, options.output)
    print(json.dumps(record, indent=2))
    counts = faults.counts
    return int(counts["proper_wrong"] + counts["proper_500"] + counts["hostile_500"] > 0 or not record["survived"])


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=100_000, help="default: %(default)s")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="of the server (default: %(default)s)")
    parser.add_argument("--output", type=Path, default=RECORD, help="the record (default: %(default)s)")
    return parser.parse_args(arguments)


def translations(model: str, texts: Sequence[str]) -> list[str]:
    """Return the translations of the command line."""
    command: list[str | Path] = [
        Path(sys.executable).with_name("pocketmt"),
        "translate",
        "--model",
        model,
        "--no-check",
    ]
    answer = subprocess.run(command, input="\n".join(texts), capture_output=True, text=True, check=True)
    return answer.stdout.splitlines()


async def measure(faults: Faults, server: RunningServer, file: Path, requests: int) -> dict[str, object]:
    """Send requests, replace the file meanwhile, and return what was counted."""
    start = time.monotonic()
    numbers = iter(range(requests))
    replacing = asyncio.create_task(replace_again_and_again(file))

    async def client() -> None:
        for number in numbers:
            await faults.send(number)

    await asyncio.gather(*(client() for _ in range(CLIENTS)))
    replacing.cancel()
    await asyncio.sleep(2)
    metrics = await asyncio.to_thread(read_metrics, server)
    return {
        "requests": requests,
        "seconds": time.monotonic() - start,
        "counts": dict(sorted(faults.counts.items())),
        "answers_by_model": dict(sorted(faults.models_seen.items())),
        "waiting_requests_at_the_end": metrics.get("pocketmt_queue_requests"),
        "peak_megabytes": server.peak_memory() / 1e6,
        "survived": server.process.poll() is None,
    }


async def replace_again_and_again(file: Path) -> None:
    """Replace a model file by the other model's, and now and then by half a file first."""
    number = 0
    while True:
        await asyncio.sleep(SECONDS_BETWEEN_REPLACEMENTS)
        number += 1
        source = bundled_models()[MODELS[number % 2]]
        if number % 5 == 0:
            file.write_bytes(source.read_bytes()[: source.stat().st_size // 2])
            await asyncio.sleep(SECONDS_BETWEEN_REPLACEMENTS)
        new = file.with_suffix(".new")
        shutil.copyfile(source, new)
        os.replace(new, file)


def read_metrics(server: RunningServer) -> dict[str, float]:
    """Return the counters and gauges of a server."""
    host, port = server.place
    with urllib.request.urlopen(f"http://{host}:{port}/metrics", timeout=10) as answer:
        lines = [line.rpartition(" ") for line in answer.read().decode().splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in lines}


if __name__ == "__main__":
    sys.exit(run(main))
