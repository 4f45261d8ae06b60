"""The scheduler of blocks: each block has one result, whatever happens to workers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pytest

from benchmarks.scheduler_simulation import Case, SimulatedBlock, driver_seconds, simulate, simulate_seeds
from pocketmt.distributed.driver import (
    FAULTS_PER_NODE,
    BlockFailed,
    BlockFinished,
    Event,
    NodeFault,
    WorkerLost,
    WorkerReady,
    run_blocks,
)
from pocketmt.distributed.scheduler import Policy, Scheduler
from pocketmt.errors import ClusterError


def blocks(count: int) -> Iterator[SimulatedBlock]:
    return (SimulatedBlock(number) for number in range(count))


def assigned(scheduler: Scheduler[SimulatedBlock], now: float = 0.0) -> list[tuple[str, int]]:
    return [(worker, block.number) for worker, block in scheduler.assign(now)]


def test_blocks_are_read_only_as_workers_have_room() -> None:
    read: list[int] = []

    def watched() -> Iterator[SimulatedBlock]:
        for block in blocks(100):
            read.append(block.number)
            yield block

    scheduler = Scheduler(watched(), Policy(queue=2))
    assert assigned(scheduler) == []
    for worker in "ab":
        scheduler.add_worker(worker, "node")
    assert assigned(scheduler) == [("a", 0), ("b", 1), ("a", 2), ("b", 3)]
    assert read == [0, 1, 2, 3]
    scheduler.finish("b", 1, 1.0)
    assert assigned(scheduler) == [("b", 4)]


def test_the_blocks_of_a_lost_worker_go_to_others_before_new_ones() -> None:
    scheduler = Scheduler(blocks(100))
    for worker in "ab":
        scheduler.add_worker(worker, worker)
    assigned(scheduler)
    assert scheduler.remove_worker("a", died=True) == 2
    assert scheduler.remove_worker("a", died=True) == 0
    scheduler.add_worker("c", "a")
    assert assigned(scheduler) == [("c", 0), ("c", 2)]


def test_a_result_that_comes_twice_counts_once() -> None:
    scheduler = Scheduler(blocks(3), Policy(queue=1, slow=2.0))
    for worker in "abc":
        scheduler.add_worker(worker, worker)
    assert assigned(scheduler) == [("a", 0), ("b", 1), ("c", 2)]
    assert scheduler.finish("a", 0, 1.0)[0] is not None
    assert scheduler.finish("b", 1, 1.0)[0] is not None
    assert assigned(scheduler, 1.5) == []  # Block 2 is not slow yet, or there might be more blocks.
    assert assigned(scheduler, 2.5) == [("a", 2)]
    assert scheduler.finish("a", 2, 3.5)[0] is not None
    assert scheduler.finish("c", 2, 3.6) == (None, [])
    assert scheduler.done
    assert (scheduler.backups, scheduler.repeated) == (1, 1)


def test_an_idle_worker_takes_blocks_that_wait_for_a_busy_one() -> None:
    scheduler = Scheduler(blocks(4), Policy(queue=2))
    for worker in "ab":
        scheduler.add_worker(worker, worker)
    assert assigned(scheduler) == [("a", 0), ("b", 1), ("a", 2), ("b", 3)]
    scheduler.finish("b", 1, 1.0)
    scheduler.finish("b", 3, 2.0)
    assert assigned(scheduler, 2.0) == [("b", 2)]
    assert scheduler.finish("b", 2, 3.0) == (SimulatedBlock(2), ["a"])


def test_a_block_that_ends_its_workers_ends_the_run_with_its_lines() -> None:
    scheduler = Scheduler(blocks(2), Policy(queue=1, deaths=3))
    for number in range(3):
        scheduler.add_worker(f"worker {number}", "node")
        assert assigned(scheduler) == [(f"worker {number}", 0)]
        if number < 2:
            scheduler.remove_worker(f"worker {number}", died=True)
    with pytest.raises(ClusterError, match="block 0: 3 workers died"):
        scheduler.remove_worker("worker 2", died=True)


def test_a_block_that_fails_is_tried_on_another_node_once() -> None:
    scheduler = Scheduler(blocks(2), Policy(queue=1))
    for worker, node in (("a", "one"), ("b", "two")):
        scheduler.add_worker(worker, node)
    assert assigned(scheduler) == [("a", 0), ("b", 1)]
    scheduler.fail("a", 0, "bad text", 1.0)
    assert assigned(scheduler, 1.0) == []  # Not on node one again.
    scheduler.finish("b", 1, 1.0)
    assert assigned(scheduler, 1.0) == [("b", 0)]
    with pytest.raises(ClusterError, match="block 0: bad text"):
        scheduler.fail("b", 0, "bad text", 2.0)


@dataclass
class ScriptedPool:
    """Returns events that were written down, and takes note of what it was told."""

    events: list[list[Event[str]]]

    def __post_init__(self) -> None:
        self.submitted: list[tuple[str, int]] = []
        self.excluded: list[str] = []
        self.usable = 2

    def submit(self, worker: str, block: SimulatedBlock) -> None:
        self.submitted.append((worker, block.number))

    def cancel(self, worker: str, number: int) -> None: ...

    def exclude(self, node: str) -> bool:
        self.excluded.append(node)
        self.usable -= 1
        return self.usable > 0

    def wait(self) -> Sequence[Event[str]]:
        return self.events.pop(0)


def test_a_node_with_a_full_disk_is_left_out_and_its_blocks_are_not() -> None:
    full = "No space left on device"
    events: list[list[Event[str]]] = [[WorkerReady("good", "one"), WorkerReady("w0", "two")]]
    events += [[NodeFault(f"w{number}", "two", full), WorkerReady(f"w{number + 1}", "two")] for number in range(2)]
    events += [[NodeFault("w2", "two", full)]]
    events += [[BlockFinished("good", number, "result")] for number in (0, 2, 1, 3)]
    pool = ScriptedPool(events)
    stored: list[int] = []
    warnings: list[str] = []
    run_blocks(blocks(4), pool, lambda block, result: stored.append(block.number), warnings.append)
    assert sorted(stored) == [0, 1, 2, 3]
    assert pool.excluded == ["two"]
    assert len(warnings) == 1
    assert full in warnings[0]


def test_a_block_that_exhausts_its_workers_ends_the_run_with_its_lines() -> None:
    pool = ScriptedPool(
        [
            [WorkerReady("a", "one")],
            [NodeFault("a", "one", "MemoryError: "), WorkerReady("b", "one")],
            [NodeFault("b", "one", "MemoryError: ")],
        ]
    )
    with pytest.raises(ClusterError, match=r"block 0: these lines failed 2 times \(MemoryError: \): remove the line"):
        run_blocks(blocks(1), pool, lambda block, result: None, lambda message: None, Policy(faults=2))


def test_without_any_usable_node_the_run_ends_with_the_reason() -> None:
    pool = ScriptedPool([[NodeFault(f"w{number}", "one", "disk full")] for number in range(FAULTS_PER_NODE)])
    pool.usable = 1
    with pytest.raises(ClusterError, match=r"no node can be used.*one: disk full.*finished blocks are kept"):
        run_blocks(blocks(4), pool, lambda block, result: None, lambda message: None)


def test_lost_workers_are_reported_and_errors_of_blocks_raised() -> None:
    pool = ScriptedPool(
        [
            [WorkerReady("a", "one")],
            [WorkerLost("a", "one", "killed"), WorkerReady("b", "one")],
            [BlockFailed("b", 0, "bad text")],
            [BlockFailed("b", 0, "bad text")],
        ]
    )
    warnings: list[str] = []
    with pytest.raises(ClusterError, match="block 0: bad text"):
        run_blocks(blocks(1), pool, lambda block, result: None, warnings.append)
    assert warnings == ["a worker on one was lost (killed): its 1 unfinished block goes to other workers"]


@pytest.mark.parametrize("seed", range(3))
def test_many_simulated_nodes_lose_and_repeat_no_block(seed: int) -> None:
    """`simulate` refuses a block without a result or with two."""
    case = Case("", nodes=50, words=500_000_000, loss_every=60.0, return_after=20.0, slow_nodes=0.1, jitter=0.5)
    row = simulate(case, seed)
    assert row["lost_nodes"] > 10
    assert row["efficiency"] > 0.5


def test_second_workers_shorten_the_end_of_a_text_with_slow_nodes() -> None:
    case = Case("", nodes=50, words=500_000_000, slow_nodes=0.1)
    with_backups = simulate(case)
    without = simulate(Case("", nodes=50, words=500_000_000, slow_nodes=0.1, backups=False))
    assert with_backups["seconds"] < 0.9 * without["seconds"]
    assert with_backups["backups"] > 0


def test_the_simulated_driver_takes_the_time_of_the_clock() -> None:
    assert driver_seconds({"driver": {"lines": 2000, "seconds": 5.0, "processor_seconds": 1.0}}) == 2.5


def test_losses_slow_nodes_and_the_drivers_time_together_lose_and_repeat_no_block() -> None:
    case = Case("", nodes=200, words=2_000_000_000, loss_every=600.0, slow_nodes=0.05, driver=0.002)
    row = simulate_seeds(case, 3)
    assert row["lost_nodes"] > 0 and row["backups"] > 0 and row["driver_busy"] > 0.1
    assert 0 < row["lowest"] < row["efficiency"] < row["highest"] < 1
    alone = simulate_seeds(Case("", nodes=200, words=2_000_000_000), 1)
    assert row["highest"] < alone["lowest"] == alone["highest"] == alone["efficiency"]


def test_a_block_that_is_sent_to_a_lost_worker_is_no_work_done_again() -> None:
    """The driver is so busy that it learns late what was lost, and workers wait for it."""
    case = Case("", nodes=300, words=1_000_000_000, loss_every=60.0, jitter=0.0, spread=0.0, driver=0.02)
    assert 0 <= simulate(case)["lost_work"] < 0.05
