"""Translates a corpus on a Ray cluster of two nodes on this machine while workers are killed, and compares the bytes.

    python -m benchmarks.ray_faults
    python -m benchmarks.ray_faults --quick

The bundled model translates lines of Multi30k's training text by greedy search: in one process with two threads; on two
nodes of one core each; the same while a worker is killed every few seconds; and with every process killed three times
and the same command run again. Afterwards, the rate of the driver is measured with workers that only copy: it reads a
text from a file, sends and receives its blocks, and stores the shards, as `pocketmt translate --ray` does. The time of
Ray's start does not count. Writes benchmarks/records/ray-faults.json and prints its rows.
"""

import argparse
import contextlib
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Any, Final

from benchmarks.command import run
from benchmarks.data import corpus
from benchmarks.record_files import write_record
from pocketmt.cli.streams import open_input, read_chunks
from pocketmt.distributed.blocks import Block, Result
from pocketmt.distributed.bulk import run_to_shards
from pocketmt.distributed.ray_pool import Cluster
from pocketmt.engine.devices import LINES_AT_ONCE
from pocketmt.errors import DataError
from pocketmt.evaluation.records import provenance
from pocketmt.evaluation.tables import Column, plain_table

RECORD: Final = Path(__file__).parent / "records" / "ray-faults.json"
MODEL: Final = "captions-en-de"
BLOCKS: Final = 100
KILL_EVERY: Final = 5.0  # Seconds.
KILLS_OF_ALL: Final = 3
COLUMNS: Final = (
    "case",
    "lines:,",
    "blocks:,",
    "kills",
    "seconds:.0f",
    "times_one_process:.2f=times as long as one process",
    "same_bytes=same bytes",
)


@dataclass(frozen=True)
class CopyWork:
    """Copies blocks."""

    def start(self, threads: int) -> Callable[[Block], Result]:
        """Return a function that copies."""
        return lambda block: Result("".join(f"{line}\n" for (line,) in block.rows).encode())


def main(arguments: Sequence[str]) -> int:
    """Measure; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=200_000, help="lines of the text (default: %(default)s)")
    parser.add_argument("--output", type=Path, default=RECORD, help="the record (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="a smoke test: 2,000 lines, no record")
    options = parser.parse_args(arguments)
    source = _training_text()
    lines = 2_000 if options.quick else options.lines
    with tempfile.TemporaryDirectory() as name:
        text = Path(name) / "text.en"
        _write(text, source, lines)
        rows = list(_rows(Path(name), text))
        driver = _driver(Path(name), 10 * lines, source)
    print(plain_table(rows, [Column.parse(each) for each in COLUMNS]))
    print(
        f"the driver takes {1000 * driver['seconds_per_1000_lines']:.2f} ms for 1,000 lines, "
        f"and {1000 * driver['processor_seconds_per_1000_lines']:.2f} ms of a core"
    )
    if not options.quick or options.output != RECORD:
        settings = {"model": MODEL, "kill_every": KILL_EVERY}
        write_record({"provenance": provenance(), **settings, "rows": rows, "driver": driver}, options.output)
    return 0 if all(row["same_bytes"] for row in rows) else 1


def _training_text() -> list[str]:
    return (corpus("multi30k") / "train.en").read_text(encoding="utf-8").splitlines()


def _write(text: Path, source: Sequence[str], lines: int) -> None:
    with text.open("w", encoding="utf-8") as stream:
        stream.writelines(f"{line}\n" for line in islice(cycle(source), lines))


def _rows(folder: Path, text: Path) -> Iterator[dict[str, Any]]:
    lines = sum(1 for _ in text.open("rb"))
    expected = folder / "one.de"
    began = time.monotonic()
    subprocess.run([*_command(text, expected), "--workers", "2"], check=True, stderr=subprocess.DEVNULL)
    alone = time.monotonic() - began
    first = {"case": "one process", "lines": lines, "blocks": 1, "kills": 0, "seconds": alone}
    yield {**first, "times_one_process": 1.0, "same_bytes": True}
    cases: tuple[tuple[str, Callable[[Path, Path], tuple[int, float]]], ...] = (
        ("two nodes", lambda text, output: _on_two_nodes(text, output, kill=False)),
        ("two nodes, workers killed", lambda text, output: _on_two_nodes(text, output, kill=True)),
        ("everything killed and resumed", _killed_and_resumed),
    )
    for name, translate in cases:
        output = folder / name.replace(" ", "-")
        kills, seconds = translate(text, output)
        shards = sorted(output.glob("*.txt"))
        yield {
            "case": name,
            "lines": lines,
            "blocks": len(shards),
            "kills": kills,
            "seconds": seconds,
            "times_one_process": seconds / alone,
            "same_bytes": b"".join(shard.read_bytes() for shard in shards) == expected.read_bytes(),
        }


def _block_lines(text: Path) -> str:
    return str(-(-sum(1 for _ in text.open("rb")) // BLOCKS))


def _command(text: Path, output: Path) -> list[str]:
    program = str(Path(sys.executable).with_name("pocketmt"))
    return [program, "translate", "-m", MODEL, "-i", str(text), "-o", str(output), "--beam-size", "1", "--no-check"]


@contextlib.contextmanager
def _two_nodes() -> Iterator[str]:
    from ray.cluster_utils import Cluster as Nodes

    nodes: Any = Nodes(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    nodes.add_node(num_cpus=1)
    try:
        yield str(nodes.address)
    finally:
        nodes.shutdown()


def _on_two_nodes(text: Path, output: Path, *, kill: bool) -> tuple[int, float]:
    """Return the number of killed workers and the seconds, without those that the cluster takes to start."""
    ended = threading.Event()
    killed: list[int] = []

    def kill_workers() -> None:
        while not ended.wait(KILL_EVERY):
            workers = [process for process, name in _processes() if name.startswith("ray::_Actor.handle")]
            if workers:
                killed.append(workers[len(killed) % len(workers)])
                os.kill(killed[-1], signal.SIGKILL)

    with _two_nodes() as address:
        killer = threading.Thread(target=kill_workers)
        began = time.monotonic()
        if kill:
            killer.start()
        command = [*_command(text, output), "--ray", address, "--block-lines", _block_lines(text)]
        answer = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
        seconds = time.monotonic() - began
        ended.set()
        if kill:
            killer.join()
    if answer.returncode:
        raise DataError(f"{output}: {answer.stderr.strip().splitlines()[-1]}")
    return len(killed), seconds


def _killed_and_resumed(text: Path, output: Path) -> tuple[int, float]:
    """Return the number of times that every process was killed, and the seconds of all runs, each with its cluster."""
    command = [*_command(text, output), "--ray", "local", "--block-lines", _block_lines(text)]
    began = time.monotonic()
    for kills in range(KILLS_OF_ALL):
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        while len(list(output.glob("records/*.json"))) < BLOCKS * (kills + 1) // (KILLS_OF_ALL + 1):
            if process.poll() is not None:
                raise DataError(f"{output}: ended before it was killed, with status {process.returncode}")
            time.sleep(0.05)
        for each in (process.pid, *descendants(process.pid)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        process.wait()
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    return KILLS_OF_ALL, time.monotonic() - began


def _processes() -> list[tuple[int, str]]:
    listed = subprocess.run(["ps", "-e", "-o", "pid=,args="], capture_output=True, text=True, check=True).stdout
    return [(int(process), name) for process, _, name in (line.strip().partition(" ") for line in listed.splitlines())]


def descendants(process: int) -> list[int]:
    """Return the ids of all processes below one."""
    listed = subprocess.run(["ps", "-e", "-o", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    parents = [(int(child), int(parent)) for child, parent in map(str.split, listed.splitlines())]
    found = [process]
    for each in found:
        found += [child for child, parent in parents if parent == each]
    return found[1:]


def _driver(folder: Path, lines: int, source: Sequence[str]) -> dict[str, Any]:
    """Measure the process that reads, sends, receives and stores blocks: by the clock, and its time on a processor.

    Two texts are handled, and their difference counts: so the start of Ray, and of the connection, does not.
    """
    texts = {count: folder / f"{count}.en" for count in (1, 6)}
    for count, text in texts.items():
        _write(text, source, count * lines)
    with _two_nodes() as address:
        _copied(texts[1], address)
        short, long = (_copied(text, address) for text in texts.values())
    processor, seconds = (long[name] - short[name] for name in ("processor_seconds", "seconds"))
    return {
        "lines": 5 * lines,
        "seconds": seconds,
        "processor_seconds": processor,
        "start_processor_seconds": short["processor_seconds"] - processor / 5,
        "seconds_per_1000_lines": 1000 * seconds / (5 * lines),
        "processor_seconds_per_1000_lines": 1000 * processor / (5 * lines),
        "lines_per_second": 5 * lines / seconds,
        "peak_memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


def _copied(text: Path, address: str) -> dict[str, float]:
    """Copy a text on a cluster; returns the seconds, and those of this process on a processor."""
    with tempfile.TemporaryDirectory() as output, open_input(text) as stream:
        rows = ((line,) for chunk in read_chunks(stream, str(text), LINES_AT_ONCE) for line in chunk)
        began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF)
        run_to_shards(Cluster(address), CopyWork(), rows, output, {}, warn=print, progress=lambda done: None)
        after, seconds = resource.getrusage(resource.RUSAGE_SELF), time.monotonic() - began
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": seconds, "processor_seconds": processor}


if __name__ == "__main__":
    sys.exit(run(main))
