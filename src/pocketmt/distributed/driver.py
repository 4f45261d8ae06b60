"""The loop that drives a pool of workers by the scheduler until every block has its result."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Generic, Protocol, TypeVar

from pocketmt.distributed.scheduler import Numbered, Policy, Scheduler
from pocketmt.errors import ClusterError

# Errors of a node, such as a full disk, without a finished block between them, after which no worker is started there.
FAULTS_PER_NODE: Final = 3
LONGEST_WAIT: Final = 300.0  # Seconds without any worker before the run ends.

B = TypeVar("B", bound=Numbered)
R = TypeVar("R")
B_contra = TypeVar("B_contra", bound=Numbered, contravariant=True)


@dataclass(frozen=True)
class WorkerReady:
    """A worker has started on a node and takes blocks."""

    worker: str
    node: str


@dataclass(frozen=True)
class WorkerLost:
    """A worker has died, or its node is lost; the pool starts another one if the node is alive."""

    worker: str
    node: str
    reason: str
    node_lost: bool = False


@dataclass(frozen=True)
class NodeFault:
    """A worker cannot work for a reason of its node, such as a full disk; the pool has ended it."""

    worker: str
    node: str
    reason: str


@dataclass(frozen=True)
class BlockFinished(Generic[R]):
    """A worker has handled a block."""

    worker: str
    number: int
    result: R


@dataclass(frozen=True)
class BlockFailed:
    """A block has raised an error on a worker, which goes on with others."""

    worker: str
    number: int
    reason: str


Event = WorkerReady | WorkerLost | NodeFault | BlockFinished[R] | BlockFailed


class Pool(Protocol[B_contra, R]):
    """Workers on nodes. Names of workers are never used twice."""

    def submit(self, worker: str, block: B_contra) -> None:
        """Send a block to a worker, which handles its blocks one after another."""
        ...

    def cancel(self, worker: str, number: int) -> None:
        """Take back a block that a worker has not begun, if possible; a result may still arrive."""
        ...

    def exclude(self, node: str) -> bool:
        """Start no further worker on a node; returns whether any other node is left."""
        ...

    def wait(self) -> Sequence[Event[R]]:
        """Return what has happened; waits for something to happen, but not longer than a second or so."""
        ...


def run_blocks(
    blocks: Iterator[B],
    pool: Pool[B, R],
    store: Callable[[B, R], None],
    warn: Callable[[str], None],
    policy: Policy | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Scheduler[B]:
    """Have every block handled by the workers of a pool.

    Args:
        blocks: read only as workers have room for them.
        pool: the workers.
        store: receives each block once, with its result, in the order in which they finish.
        warn: receives messages about lost workers and excluded nodes.
        policy: bounds of the scheduler.
        clock: returns the time in seconds.

    Returns:
        the scheduler, with its counts.

    Raises ClusterError if a block fails repeatedly, or no worker is left.
    """
    return _Run(blocks, pool, store, warn, policy, clock).run()


class _Run(Generic[B, R]):
    def __init__(
        self,
        blocks: Iterator[B],
        pool: Pool[B, R],
        store: Callable[[B, R], None],
        warn: Callable[[str], None],
        policy: Policy | None,
        clock: Callable[[], float],
    ) -> None:
        self._pool, self._store, self._warn, self._clock = pool, store, warn, clock
        self._scheduler = Scheduler(blocks, policy)
        self._faults: Counter[str] = Counter()
        self._last_reason = ""

    def run(self) -> Scheduler[B]:
        last_worker = self._clock()
        while True:
            for worker, block in self._scheduler.assign(self._clock()):
                self._pool.submit(worker, block)
            if self._scheduler.done:
                return self._scheduler
            for event in self._pool.wait():
                self._take(event)
            if self._scheduler.workers:
                last_worker = self._clock()
            elif self._clock() - last_worker > LONGEST_WAIT:
                raise ClusterError(self._nobody(f"no worker was ready for {LONGEST_WAIT:.0f} seconds"))

    def _take(self, event: Event[R]) -> None:
        scheduler, now = self._scheduler, self._clock()
        match event:
            case WorkerReady(worker, node):
                scheduler.add_worker(worker, node)
            case BlockFinished(worker, number, result):
                self._faults.pop(scheduler.node(worker) or "", None)
                block, waiting = scheduler.finish(worker, number, now)
                if block is not None:
                    self._store(block, result)
                for each in waiting:
                    self._pool.cancel(each, number)
            case BlockFailed(worker, number, reason):
                scheduler.fail(worker, number, reason, now)
            case WorkerLost(worker, node, reason, node_lost):
                known = scheduler.node(worker) is not None
                lost = scheduler.remove_worker(worker, died=not node_lost)
                if known:
                    self._warn(f"a worker on {node} was lost ({reason}): its {_blocks(lost)} to other workers")
            case NodeFault(worker, node, reason):
                self._fault(node, reason, scheduler.remove_worker(worker, died=False, fault=reason))

    def _fault(self, node: str, reason: str, lost: int) -> None:
        self._faults[node] += 1
        self._last_reason = f"{node}: {reason}"
        if self._faults[node] < FAULTS_PER_NODE:
            return
        if not self._pool.exclude(node) and not self._scheduler.workers:
            raise ClusterError(self._nobody("no node can be used any more"))
        self._warn(f"{node} is not used any more: {reason}; its {_blocks(lost)} to other workers")

    def _nobody(self, reason: str) -> str:
        last = f" ({self._last_reason})" if self._last_reason else ""
        return f"{reason}{last}: finished blocks are kept; repair the nodes, then run the same command again"


def _blocks(number: int) -> str:
    return f"{number} unfinished {'block goes' if number == 1 else 'blocks go'}"
