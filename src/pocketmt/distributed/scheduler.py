"""The scheduler of blocks: which worker handles which block, also when workers are lost, fail or are slow.

It knows neither Ray nor a clock: the caller tells it what has happened and when. So a simulation drives the same code.
"""

import heapq
import statistics
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Generic, Protocol, TypeVar

from pocketmt.errors import ClusterError

_RECENT: Final = 101  # Durations of which the median is taken.


class Numbered(Protocol):
    """A block with a number."""

    @property
    def number(self) -> int:
        """Number of the block, from 0; each occurs once."""
        ...

    @property
    def lines(self) -> str:
        """The lines of the block, for messages."""
        ...


B = TypeVar("B", bound=Numbered)


@dataclass(frozen=True)
class Policy:
    """Bounds of the scheduler.

    Attributes:
        queue: blocks that a worker holds at once: the one it handles, and those that wait there, so that it never waits
            for the network. All workers together hold the only blocks in memory, whatever the length of the text.
        slow: at the end of the text, a block gets a second worker when it takes longer than this number of times the
            median (backup tasks: Dean and Ghemawat 2004, section 3.6); 0: never.
        deaths: of workers while they handle the same block, after which the block is at fault.
        failures: errors that the same block raises, after which the run ends.
        faults: of nodes, such as too little memory, while their workers handle the same block, after which the block is
            at fault. There may be more of them than deaths, because several nodes may be at fault instead.
    """

    queue: int = 2
    slow: float = 2.0
    deaths: int = 5
    failures: int = 2
    faults: int = 10


@dataclass
class _Worker:
    node: str
    queue: list[int] = field(default_factory=list)  # Blocks; the first one is being handled.
    since: float = 0.0  # Time at which the first one began.


@dataclass
class _Unfinished(Generic[B]):
    block: B
    holders: list[str] = field(default_factory=list)
    deaths: int = 0
    failures: int = 0
    faults: int = 0
    avoid: set[str] = field(default_factory=set)  # Nodes on which it has failed.


class Scheduler(Generic[B]):
    """Hands every block to a worker until each has one result.

    Blocks are taken from the iterator only when a worker has room for them.
    """

    def __init__(self, blocks: Iterator[B], policy: Policy | None = None) -> None:
        self._blocks = blocks
        self._policy = policy or Policy()
        self._exhausted = False
        self._workers: dict[str, _Worker] = {}
        self._by_load: list[dict[str, None]] = [{} for _ in range(self._policy.queue + 1)]
        self._unfinished: dict[int, _Unfinished[B]] = {}
        self._again: list[int] = []  # A heap of the numbers of blocks that have lost their worker.
        self._durations: deque[float] = deque(maxlen=_RECENT)
        self.backups = 0  # Blocks that were given to a second worker.
        self.repeated = 0  # Results that were not needed, because another worker was faster.

    @property
    def done(self) -> bool:
        """Whether every block has its result; the last call of `assign` has found no further block."""
        return self._exhausted and not self._unfinished

    @property
    def workers(self) -> int:
        """Number of workers."""
        return len(self._workers)

    def node(self, worker: str) -> str | None:
        """Return the node of a worker; None if there is no such worker."""
        found = self._workers.get(worker)
        return None if found is None else found.node

    def add_worker(self, worker: str, node: str) -> None:
        """Add an idle worker, which has a new name, on a node."""
        self._workers[worker] = _Worker(node)
        self._by_load[0][worker] = None

    def remove_worker(self, worker: str, died: bool, fault: str = "") -> int:
        """Remove a worker; its unfinished blocks go to others.

        Args:
            worker: its name; unknown ones are ignored.
            died: whether it died on a node that is alive, perhaps of the block that it was handling.
            fault: of its node, which ended the handling of a block; empty if there was none.

        Returns:
            the number of blocks that nobody else handles.

        Raises ClusterError if too many workers have died, or too many nodes have failed, while they handled the same
        block.
        """
        removed = self._workers.pop(worker, None)
        if removed is None:
            return 0
        self._by_load[len(removed.queue)].pop(worker)
        lost = 0
        for place, number in enumerate(removed.queue):
            if (unfinished := self._unfinished.get(number)) is None:
                continue
            unfinished.holders.remove(worker)
            unfinished.deaths += died and place == 0
            if unfinished.deaths >= self._policy.deaths:
                raise ClusterError(
                    f"{unfinished.block.lines}: {unfinished.deaths} workers died while they handled these lines: "
                    "remove the line at fault, or give workers more memory; then run the same command again"
                )
            unfinished.faults += fault != "" and place == 0
            if unfinished.faults >= self._policy.faults:
                raise ClusterError(
                    f"{unfinished.block.lines}: these lines failed {unfinished.faults} times ({fault}): remove the "
                    "line at fault, or give workers more memory; then run the same command again"
                )
            if not unfinished.holders:
                heapq.heappush(self._again, number)
                lost += 1
        return lost

    def assign(self, now: float) -> list[tuple[str, B]]:
        """Return (worker, block) for the blocks that are to be sent now. Workers with the fewest blocks come first."""
        assigned = []
        for load in range(self._policy.queue):
            for worker in list(self._by_load[load]):
                unfinished = self._next(worker) or (self._slow_block(worker, now) if load == 0 else None)
                if unfinished is None and self._again:
                    continue  # These blocks have failed on the node of this worker.
                if unfinished is None:
                    break
                self._give(worker, unfinished, now)
                assigned.append((worker, unfinished.block))
        return assigned

    def finish(self, worker: str, number: int, now: float) -> tuple[B | None, list[str]]:
        """Take a result.

        Returns:
            the block, or None if it had a result before, and the workers that hold it too but have not begun it.
        """
        if number in self._held(worker):
            holder = self._workers[worker]
            if holder.queue[0] == number:
                self._durations.append(now - holder.since)
            self._take(worker, number, now)
        unfinished = self._unfinished.pop(number, None)
        if unfinished is None:
            self.repeated += 1
            return None, []
        if number in self._again:
            self._again.remove(number)
            heapq.heapify(self._again)
        waiting = [each for each in unfinished.holders if each != worker and self._workers[each].queue[0] != number]
        for each in waiting:
            self._take(each, number, now)
        return unfinished.block, waiting

    def fail(self, worker: str, number: int, reason: str, now: float) -> None:
        """Take an error that a block has raised on a worker. ClusterError if the block has failed too often."""
        if number not in self._held(worker):
            return
        self._take(worker, number, now)
        unfinished = self._unfinished.get(number)
        if unfinished is None:
            return
        unfinished.holders.remove(worker)
        unfinished.failures += 1
        unfinished.avoid.add(self._workers[worker].node)
        if unfinished.failures >= self._policy.failures:
            raise ClusterError(f"{unfinished.block.lines}: {reason}")
        if not unfinished.holders:
            heapq.heappush(self._again, number)

    def _held(self, worker: str) -> list[int]:
        return self._workers[worker].queue if worker in self._workers else []

    def _next(self, worker: str) -> _Unfinished[B] | None:
        """Return the next block that no worker holds; None if there is none for this worker."""
        node = self._workers[worker].node
        for number in sorted(self._again):
            avoid = self._unfinished[number].avoid
            if node not in avoid or all(other.node in avoid for other in self._workers.values()):
                self._again.remove(number)
                heapq.heapify(self._again)
                return self._unfinished[number]
        if self._exhausted:
            return None
        block = next(self._blocks, None)
        if block is None:
            self._exhausted = True
            return None
        return self._unfinished.setdefault(block.number, _Unfinished(block))

    def _slow_block(self, worker: str, now: float) -> _Unfinished[B] | None:
        """Return a block for an idle worker that waits in another queue, or else the one that takes longest."""
        if not self._exhausted or not self._policy.slow or not self._durations:
            return None
        limit = self._policy.slow * statistics.median(self._durations)
        slowest: tuple[bool, float] | None = None
        found = None
        for number, unfinished in self._unfinished.items():
            if len(unfinished.holders) != 1 or unfinished.holders[0] == worker:
                continue
            holder = self._workers[unfinished.holders[0]]
            waits, elapsed = holder.queue[0] != number, now - holder.since
            if (waits or elapsed > limit) and (slowest is None or (waits, elapsed) > slowest):
                slowest, found = (waits, elapsed), unfinished
        self.backups += found is not None
        return found

    def _give(self, worker: str, unfinished: _Unfinished[B], now: float) -> None:
        holder = self._workers[worker]
        if not holder.queue:
            holder.since = now
        self._by_load[len(holder.queue)].pop(worker)
        holder.queue.append(unfinished.block.number)
        self._by_load[len(holder.queue)][worker] = None
        unfinished.holders.append(worker)

    def _take(self, worker: str, number: int, now: float) -> None:
        holder = self._workers[worker]
        self._by_load[len(holder.queue)].pop(worker)
        if holder.queue[0] == number:
            holder.since = now
        holder.queue.remove(number)
        self._by_load[len(holder.queue)][worker] = None
