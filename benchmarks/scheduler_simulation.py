"""Simulates the scheduler of blocks on up to 10,000 nodes, with lost nodes, slow nodes and the time of the driver.

    python -m benchmarks.scheduler_simulation

The scheduler and its loop are those of `pocketmt.distributed`; only the workers and the clock are simulated. Each case
is a text of ten billion words on nodes that translate at the same rate on average. A node is lost at random times, with
the blocks that it holds, and has a worker again after some minutes. The driver reads, sends, receives and stores one
block at a time, in the time that benchmarks/ray_faults measured by the clock. Each case has runs with several seeds.
Its row is that of the run with the median efficiency, with the lowest and the highest of all runs. Every run checks
that each block has one result. The record also has what a billion words cost, by the rates of other records. Writes
benchmarks/records/scheduler-simulation.json and prints its rows.
"""

import argparse
import heapq
import itertools
import random
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from benchmarks.command import run
from benchmarks.record_files import read_record, write_record
from pocketmt.distributed.driver import BlockFinished, Event, WorkerLost, WorkerReady, run_blocks
from pocketmt.distributed.scheduler import Policy
from pocketmt.errors import DataError
from pocketmt.evaluation.records import provenance
from pocketmt.evaluation.tables import Column, plain_table

RECORDS: Final = Path(__file__).parent / "records"
RECORD: Final = RECORDS / "scheduler-simulation.json"
SEED: Final = 1
WORDS_PER_LINE: Final = 25
WORDS_PER_SENTENCE: Final = 20  # Of the 27 pieces that benchmarks/student_shapes translates: 1.35 pieces a word.
CORES: Final = 16  # Of a node.
COLUMNS: Final = (
    "case",
    "nodes",
    "seconds:,.0f",
    "efficiency:.0%=of the best possible",
    "lowest:.0%",
    "highest:.0%",
    "lost_nodes:,=lost nodes",
    "lost_work:.2%=work done again",
    "backups:,=second workers",
    "driver_busy:.0%=driver busy",
)


@dataclass(frozen=True)
class Case:
    """A cluster and a text.

    Attributes:
        case: name.
        nodes: number of nodes, each with one worker.
        words: of the text.
        lines: of a block.
        words_per_second: of a node, on average.
        spread: standard deviation of the logarithm of the nodes' speeds.
        jitter: the same of the time of each block.
        loss_every: mean time in seconds until a node is lost; 0: never.
        detection: seconds until the loss of a node is noticed.
        return_after: seconds until a lost node has a worker again.
        slow_nodes: share of nodes that are slower.
        slow_factor: how many times slower.
        driver: seconds of the driver for a block of 1,000 lines, in proportion for others.
        backups: whether slow blocks get a second worker at the end.
    """

    case: str
    nodes: int = 1000
    words: int = 10_000_000_000
    lines: int = 10_000
    words_per_second: float = 100_000.0
    spread: float = 0.05
    jitter: float = 0.1
    loss_every: float = 0.0
    detection: float = 10.0
    return_after: float = 120.0
    slow_nodes: float = 0.0
    slow_factor: float = 10.0
    driver: float = 0.0
    backups: bool = True


@dataclass(frozen=True)
class SimulatedBlock:
    """A block without text."""

    number: int

    @property
    def lines(self) -> str:
        """The lines, for messages."""
        return f"block {self.number}"


@dataclass
class _Node:
    name: str
    speed: float
    worker: str | None = None
    queue: list[int] = field(default_factory=list)
    began: float = 0.0


class SimulatedPool:
    """Workers on simulated nodes, and the clock."""

    def __init__(self, case: Case, seed: int = SEED) -> None:
        self.case = case
        self.now = 0.0
        self.lost_nodes = 0
        self.lost_seconds = 0.0
        self.driver_seconds = 0.0
        self._random = random.Random(seed)
        self._order = itertools.count()
        self._events: list[tuple[float, int, str, _Node, str | None]] = []
        self._workers: dict[str, _Node] = {}
        self.nodes = [_Node(f"node {number}", self._speed()) for number in range(case.nodes)]
        for node in self.nodes:
            self._start(node, 0.0)

    def clock(self) -> float:
        """Return the virtual time in seconds."""
        return self.now

    def drive(self, lines: int) -> None:
        """Let the driver work on a block of a number of lines."""
        seconds = self.case.driver * lines / 1000
        self.now += seconds
        self.driver_seconds += seconds

    def submit(self, worker: str, block: SimulatedBlock) -> None:
        """See `Pool`."""
        node = self._workers.get(worker)
        if node is None:  # The loss is not noticed yet.
            return
        node.queue.append(block.number)
        if len(node.queue) == 1:
            self._begin(node, self.now)

    def cancel(self, worker: str, number: int) -> None:
        """See `Pool`."""
        node = self._workers.get(worker)
        if node is not None and number in node.queue[1:]:
            node.queue.remove(number)

    def exclude(self, node: str) -> bool:
        """See `Pool`; simulated nodes have no faults."""
        raise AssertionError(node)

    def wait(self) -> Sequence[Event[None]]:
        """See `Pool`: advance the clock to the next event, and return all that have happened by then."""
        events: list[Event[None]] = []
        while not events or (self._events and self._events[0][0] <= self.now):
            moment, _, kind, node, worker = heapq.heappop(self._events)
            self.now = max(self.now, moment)
            event = self._happen(kind, node, worker, moment)
            if event is not None:
                events.append(event)
        return events

    def _happen(self, kind: str, node: _Node, worker: str | None, moment: float) -> Event[None] | None:
        if kind == "start":
            return self._ready(node, moment)
        if kind == "noticed":
            assert worker is not None
            return WorkerLost(worker, node.name, "lost", node_lost=True)
        if worker is None or worker != node.worker:
            return None  # Of a worker that was lost before.
        if kind == "finish":
            number = node.queue.pop(0)
            if node.queue:
                self._begin(node, moment)
            return BlockFinished(worker, number, None)
        self.lost_nodes += 1
        # A busy driver may have sent a block after the worker was lost.
        self.lost_seconds += max(0.0, moment - node.began) if node.queue else 0.0
        node.queue.clear()
        node.worker = None
        del self._workers[worker]
        self._push(moment + self.case.detection, "noticed", node, worker)
        self._start(node, moment + self.case.detection + self.case.return_after)
        return None

    def _ready(self, node: _Node, moment: float) -> WorkerReady:
        node.worker = f"worker {next(self._order)}"
        self._workers[node.worker] = node
        if self.case.loss_every:
            self._push(moment + self._random.expovariate(1 / self.case.loss_every), "loss", node, node.worker)
        return WorkerReady(node.worker, node.name)

    def _begin(self, node: _Node, moment: float) -> None:
        node.began = moment
        words = self.case.lines * WORDS_PER_LINE
        seconds = words / node.speed * self._random.lognormvariate(-(self.case.jitter**2) / 2, self.case.jitter)
        self._push(moment + seconds, "finish", node, node.worker)

    def _speed(self) -> float:
        slow = self.case.slow_factor if self._random.random() < self.case.slow_nodes else 1.0
        return self.case.words_per_second * self._random.lognormvariate(0, self.case.spread) / slow

    def _start(self, node: _Node, moment: float) -> None:
        self._push(moment, "start", node, None)

    def _push(self, moment: float, kind: str, node: _Node, worker: str | None) -> None:
        heapq.heappush(self._events, (moment, next(self._order), kind, node, worker))


def simulate(case: Case, seed: int = SEED) -> dict[str, Any]:
    """Return a row of the record. DataError if a block has no result, or two."""
    pool = SimulatedPool(case, seed)
    blocks = -(-case.words // (case.lines * WORDS_PER_LINE))
    stored = bytearray(blocks)

    def store(block: SimulatedBlock, result: None) -> None:
        stored[block.number] += 1
        pool.drive(case.lines)

    def numbered() -> Iterator[SimulatedBlock]:
        return (SimulatedBlock(number) for number in range(blocks))

    policy = Policy() if case.backups else replace(Policy(), slow=0.0)
    began = time.monotonic()
    scheduler = run_blocks(numbered(), pool, store, lambda message: None, policy, pool.clock)
    if any(count != 1 for count in stored):
        raise DataError(f"{case.case}: a block has no result, or two")
    best = case.words / sum(node.speed for node in pool.nodes)
    return {
        **asdict(case),
        "blocks": blocks,
        "seconds": pool.now,
        "best_seconds": best,
        "efficiency": best / pool.now,
        "lost_nodes": pool.lost_nodes,
        "lost_work": pool.lost_seconds / (best * case.nodes),
        "backups": scheduler.backups,
        "repeated": scheduler.repeated,
        "driver_busy": pool.driver_seconds / pool.now,
        "words_per_second_of_all": case.words / pool.now,
        "simulation_seconds": time.monotonic() - began,
    }


def simulate_seeds(case: Case, count: int) -> dict[str, Any]:
    """Return the row of the run with the median efficiency, with the lowest and the highest of all runs.

    Raises DataError as `simulate` does.
    """
    runs = [simulate(case, SEED + number) for number in range(count)]
    runs.sort(key=lambda row: float(row["efficiency"]))
    return {**runs[count // 2], "lowest": runs[0]["efficiency"], "highest": runs[-1]["efficiency"]}


def cases(driver: float) -> list[Case]:
    """Return the cases; `driver`: seconds of the driver for 1,000 lines."""
    return [
        *(Case("no faults", nodes=nodes) for nodes in (10, 100, 1000)),
        Case("blocks of 1,000 lines", lines=1000),
        Case("blocks of 100,000 lines", lines=100_000),
        *(
            Case(f"a node is lost every {name}", loss_every=seconds)
            for name, seconds in (("6 hours", 21_600.0), ("hour", 3600.0), ("10 minutes", 600.0))
        ),
        Case("2 % of nodes 10 times slower", slow_nodes=0.02),
        Case("2 % of nodes 10 times slower, no second workers", slow_nodes=0.02, backups=False),
        Case("losses every hour, slow nodes", loss_every=3600.0, slow_nodes=0.02),
        *(Case("the driver's time counted", nodes=nodes, driver=driver) for nodes in (100, 300, 1000, 3000, 10_000)),
        *(
            Case(
                "losses every hour, slow nodes, the driver's time",
                nodes=nodes,
                loss_every=3600.0,
                slow_nodes=0.02,
                driver=driver,
            )
            for nodes in (100, 300, 1000)
        ),
    ]


def costs(driver: float) -> list[dict[str, Any]]:
    """Return what a billion words cost by the rates of other records; `driver`: its seconds for 1,000 lines."""
    captions = read_record(RECORDS / "million-lines.json")
    rates = {
        "captions, 4+4 layers of 128": captions["timing"]["words_per_second"] / captions["workers"],
        **{
            row["model"]: WORDS_PER_SENTENCE / row["milliseconds"]["uniform8"] * 1000
            for row in read_record(RECORDS / "student-shapes.json")["rows"]
        },
    }
    words_of_driver = WORDS_PER_LINE * 1000 / driver
    return [
        {
            "model": model,
            "words_per_second": rate,
            "core_hours": 1e9 / rate / 3600,
            "hours_of_a_node": 1e9 / rate / 3600 / CORES,
            "saturating_nodes": words_of_driver / rate / CORES,
        }
        for model, rate in sorted(rates.items(), key=lambda each: -each[1])
    ]


def driver_seconds(record: dict[str, Any]) -> float:
    """Return the seconds of the driver for 1,000 lines by the clock, from the record of benchmarks/ray_faults."""
    return 1000 * float(record["driver"]["seconds"]) / float(record["driver"]["lines"])


def main(arguments: Sequence[str]) -> int:
    """Simulate; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3, help="runs of each case (default: %(default)s)")
    parser.add_argument("--output", type=Path, default=RECORD, help="the record (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="a smoke test: a tenth of the text, one run, no record")
    options = parser.parse_args(arguments)
    driver = driver_seconds(read_record(RECORDS / "ray-faults.json"))
    rows = []
    for case in cases(driver):
        shorter = replace(case, words=case.words // 10) if options.quick else case
        rows.append(simulate_seeds(shorter, 1 if options.quick else options.seeds))
        print(f"{case.case}, {case.nodes} nodes: {rows[-1]['simulation_seconds']:.1f} s", file=sys.stderr)
    print(plain_table(rows, [Column.parse(each) for each in COLUMNS]))
    if not options.quick or options.output != RECORD:
        record = {
            "words_per_line": WORDS_PER_LINE,
            "words_per_sentence": WORDS_PER_SENTENCE,
            "cores": CORES,
            "seeds": 1 if options.quick else options.seeds,
            "driver_seconds_per_1000_lines": driver,
            "rows": rows,
            "costs": costs(driver),
        }
        write_record({"provenance": provenance(seed=SEED), **record}, options.output)
    return 0


if __name__ == "__main__":
    sys.exit(run(main))
