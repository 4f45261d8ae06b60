"""An hour of mixed load on `pocketmt serve`, with faults.

    python -m benchmarks.serve.hour
    python -m benchmarks.serve.hour --minutes 2

Clients, each with its key and its sentences, send single sentences, lists, documents, files, HTML and what the
page sends, with random pauses. Others vanish, stop within a request, stall, read slowly, attack, or send more than the
queue takes. The model file is replaced every 20 seconds by that of another model, first by half a file each fifth time.
The server is killed (SIGKILL) after 1/12, 2/12, 3/12 and 11/12 of the time, and started again a second later. Its
messages go to a file and, each second process, to a full disk (/dev/full).

Answers are compared with `pocketmt translate` and the model file before or after a replacement. The time in which this
process is stopped (SIGSTOP) does not count, nor do requests under way then. Writes
benchmarks/records/serve-hour.json, prints it, and ends with 1 if something was wrong.
"""

import argparse
import asyncio
import json
import random
import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from benchmarks.command import run
from benchmarks.data import corpus
from benchmarks.record_files import write_record
from benchmarks.serve import mixed_clients, mixed_texts
from benchmarks.serve.clients import Measured, read_answer
from benchmarks.serve.faults import translations
from benchmarks.serve.hostile import hostile_requests
from benchmarks.serve.load import percentiles
from benchmarks.serve.mixed_clients import Client, Seen
from benchmarks.serve.mixed_texts import Judge, Text
from benchmarks.serve.model_changes import ModelChanges
from benchmarks.serve.supervised import Clock, SupervisedServer
from pocketmt.evaluation.records import provenance
from pocketmt.serving.settings import ServerSettings

RECORD = Path(__file__).parents[1] / "records" / "serve-hour.json"
KILLS: Final = (1 / 12, 2 / 12, 3 / 12, 11 / 12)  # of the time
SECONDS_BETWEEN_SAMPLES: Final = 3.0
PARTS: Final = 12  # of the time, whose memory and queue are recorded
WORKERS: Final = 2
FULL_DISK: Final = Path("/dev/full")


@dataclass(frozen=True)
class Kind:
    """Clients of one kind.

    Attributes:
        name: in the record.
        clients: how many.
        pause: mean seconds between the requests of each.
        texts: from the sentences of a client.
        send: sends once.
    """

    name: str
    clients: int
    pause: float
    texts: Callable[[Sequence[str]], list[Text]]
    send: Callable[[Client], Awaitable[None]]


@dataclass
class Sample:
    """What was seen of the server at a time in seconds."""

    time: float
    life: int
    memory: int
    peak: int
    requests: float | None = None
    cost: float | None = None


@dataclass
class Run:
    """The server and all clients."""

    server: SupervisedServer
    clock: Clock
    changes: ModelChanges
    seen: dict[str, Seen]
    clients: list[tuple[Client, Kind]] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)


def kinds() -> list[Kind]:
    """Return the kinds of clients."""
    requests = list(hostile_requests(1, 20_000))
    return [
        Kind("a sentence", 4, 0.2, mixed_texts.single, mixed_clients.proper),
        Kind("a list of 10 sentences", 2, 1.0, mixed_texts.lists, mixed_clients.proper),
        Kind("a document of 30 sentences", 2, 2.0, mixed_texts.documents, mixed_clients.proper),
        Kind("HTML of 12 sentences", 2, 1.0, mixed_texts.web_pages, mixed_clients.proper),
        Kind("the page", 3, 1.0, mixed_texts.typed, mixed_clients.page),
        Kind("a file of 30 sentences", 1, 5.0, mixed_texts.documents, mixed_clients.files),
        Kind("a document, read after 5 s", 1, 2.0, mixed_texts.documents, mixed_clients.slow_reader),
        Kind("8 books at once", 1, 120.0, mixed_texts.books, mixed_clients.burst),
        Kind("vanishes", 2, 0.5, mixed_texts.documents, mixed_clients.vanishing),
        Kind("ends within a request", 2, 1.0, mixed_texts.documents, mixed_clients.half_sent),
        Kind("stalls within a request", 3, 2.0, mixed_texts.documents, mixed_clients.stalled),
        Kind("hostile", 2, 0.2, mixed_texts.single, mixed_clients.hostile(requests)),
    ]


def main(arguments: Sequence[str]) -> int:
    """Run, write the record and print it."""
    options = _options(arguments)
    origin = provenance(seed=0)
    with tempfile.TemporaryDirectory(prefix="pocketmt-hour-") as name:
        record = asyncio.run(measure(Path(name), 60 * options.minutes))
    write_record(record | {"provenance": origin}, options.output)
    print(json.dumps(record, indent=2))
    return int(bool(record["failures"]))


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60, help="default: %(default)s")
    parser.add_argument("--output", type=Path, default=RECORD, help="the record (default: %(default)s)")
    return parser.parse_args(arguments)


async def measure(folder: Path, seconds: float) -> dict[str, Any]:
    """Run the server and all clients for some seconds, and return what was seen.

    Args:
        folder: for the model file, keys and messages.
        seconds: without those in which this process was stopped.
    """
    files = [corpus("multi30k") / f"test_{year}_flickr.en" for year in (2016, 2017)]
    sentences = list(dict.fromkeys(line for file in files for line in file.read_text(encoding="utf-8").splitlines()))
    all_kinds = kinds()
    numbers = iter(range(sum(kind.clients for kind in all_kinds)))
    work = [(kind, next(numbers)) for kind in all_kinds for _ in range(kind.clients)]
    texts = [kind.texts(mixed_texts.sentences_of(sentences, number)) for kind, number in work]
    judge = Judge(_expected({line for each in texts for text in each for line in text.lines}))
    keys = [f"key-of-client-{number}" for _, number in work]
    (folder / "keys").write_text("\n".join(keys))
    clock = Clock()
    changes = ModelChanges(folder / "model.pocketmt", clock)
    options: list[str | Path] = [folder / "model.pocketmt", "--workers", str(WORKERS), "--api-keys", folder / "keys"]
    server = SupervisedServer(options, [folder / "messages", FULL_DISK], clock)
    whole = Run(server, clock, changes, {kind.name: Seen() for kind in all_kinds})
    for (kind, number), its_texts, key in zip(work, texts, keys, strict=True):
        seen, generator = whole.seen[kind.name], random.Random(number)
        greedy = kind.send is mixed_clients.burst
        client = Client(server, clock, judge, changes, seen, key, its_texts, kind.pause, generator, greedy)
        whole.clients.append((client, kind))
    await _run_all(whole, seconds)
    return _record(whole, all_kinds, seconds, _faults_of_log(folder / "messages", judge))


def _expected(lines: set[str]) -> dict[str, tuple[str, ...]]:
    ordered = sorted(lines)
    columns = [translations(model, ordered) for model in mixed_texts.MODELS]
    return dict(zip(ordered, zip(*columns, strict=True), strict=True))


async def _run_all(whole: Run, seconds: float) -> None:
    """Let clients send until the time has passed."""
    tasks = [
        asyncio.create_task(work)
        for work in (
            whole.clock.watch(),
            whole.server.supervise(),
            whole.changes.repeat(),
            _sample(whole),
            *(client.run(kind.send) for client, kind in whole.clients),
        )
    ]
    kills = [share * seconds for share in KILLS]
    while whole.clock.now() < seconds:
        if kills and whole.clock.now() >= kills[0] and whole.server.ready:
            kills.pop(0)
            whole.server.kill()
        await asyncio.sleep(0.2)
        for task in tasks:
            if task.done():
                task.result()  # It never ends but by an error.
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _sample(whole: Run) -> None:
    """Take samples of memory and queue again and again."""
    while True:
        await asyncio.sleep(SECONDS_BETWEEN_SAMPLES)
        if not whole.server.ready:
            continue
        memory = whole.server.memory()
        sample = Sample(whole.clock.now(), len(whole.server.lives) - 1, memory["VmRSS"], memory["VmHWM"])
        whole.samples.append(sample)
        with suppress(OSError, EOFError, TimeoutError):
            async with asyncio.timeout(20):
                metrics = await _metrics(whole.server.place)
            sample.requests, sample.cost = metrics["pocketmt_queue_requests"], metrics["pocketmt_queue_cost"]


async def _metrics(place: tuple[str, int]) -> dict[str, float]:
    reader, writer = await asyncio.open_connection(*place, limit=1 << 20)
    try:
        writer.write(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
        _, _, body = await read_answer(reader)
    finally:
        writer.close()
    lines = [line.rpartition(" ") for line in body.decode().splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in lines}


def _faults_of_log(path: Path, judge: Judge) -> dict[str, Any]:
    """Return how many lines the messages have, and what of it should not be there; with the first traceback."""
    content = path.read_text(encoding="utf-8", errors="replace")
    return {
        "lines": content.count("\n"),
        "tracebacks": content.count("Traceback"),
        "texts": int(judge.leaks(content)),
        "traceback": content.partition("Traceback")[2][:2000],
    }


def _record(whole: Run, all_kinds: Sequence[Kind], seconds: float, log: dict[str, Any]) -> dict[str, Any]:
    limits = ServerSettings()
    wrong_ends = [life for life in whole.server.lives if life.ended not in ("kill -9", "status 0", "")]
    record = {
        "seconds": whole.clock.now(),
        "seconds_stopped": whole.clock.stopped,
        "stops": whole.clock.stops,
        "kinds": [_row(kind, whole.seen[kind.name], seconds) for kind in all_kinds],
        "totals": _totals(whole),
        "replacements": whole.changes.count,
        "half_files": whole.changes.halves,
        "kills": sum(life.ended == "kill -9" for life in whole.server.lives),
        "failed_starts": whole.server.failed_starts,
        "messages": log,
        "lives": [_life(whole, number) for number in range(len(whole.server.lives))],
        "parts": [_part(whole, number, seconds) for number in range(PARTS)],
        "queue_bounds": {"requests": limits.queued_requests, "cost": limits.queued_characters},
        "unexpected": [note for seen in whole.seen.values() for note in seen.unexpected],
    }
    most_cost = max((sample.cost or 0 for sample in whole.samples), default=0)
    record["failures"] = (
        sum(seen.counts["unexpected"] for seen in whole.seen.values())
        + log["tracebacks"]
        + log["texts"]
        + len(wrong_ends)
        + (most_cost > limits.queued_characters)
    )
    return record


def _totals(whole: Run) -> dict[str, int]:
    counts = sum((seen.counts for seen in whole.seen.values()), Counter[str]())
    names = ("sent", "right", "mixed", "late", "crossed", "wrong", "refused", "unexpected")
    return {name: counts[name] for name in names}


def _row(kind: Kind, seen: Seen, seconds: float) -> dict[str, Any]:
    cuts = percentiles(Measured(seen.seconds))
    return {
        "kind": kind.name,
        "clients": kind.clients,
        "pause": kind.pause,
        "per_second": seen.counts["sent"] / seconds,
        "counts": dict(sorted(seen.counts.items())),
        **({"p50": cuts["p50"], "p95": cuts["p95"]} if seen.seconds else {}),
    }


def _life(whole: Run, number: int) -> dict[str, Any]:
    life = whole.server.lives[number]
    samples = [sample for sample in whole.samples if sample.life == number]
    return {
        "began": life.began,
        "ended": life.ended or "running",
        "messages": "full disk" if life.log == FULL_DISK else "file",
        "peak_megabytes": max((sample.peak for sample in samples), default=0) / 1e6,
    }


def _part(whole: Run, number: int, seconds: float) -> dict[str, Any]:
    """Return the memory and queue of one part of the time, each of the process that ran for most of it."""
    start, end = (seconds * place / PARTS for place in (number, number + 1))
    samples = [sample for sample in whole.samples if start <= sample.time < end]
    if not samples:
        return {"minutes": f"{start / 60:.3g} to {end / 60:.3g}", "samples": 0}
    life = statistics.mode(sample.life for sample in samples)
    memory = [sample.memory / 1e6 for sample in samples if sample.life == life]
    return {
        "minutes": f"{start / 60:.3g} to {end / 60:.3g}",
        "samples": len(samples),
        "process": life + 1,
        "median_megabytes": statistics.median(memory),
        "most_megabytes": max(memory),
        "most_requests": max(sample.requests or 0 for sample in samples),
        "most_cost": max(sample.cost or 0 for sample in samples),
    }


if __name__ == "__main__":
    sys.exit(run(main))
