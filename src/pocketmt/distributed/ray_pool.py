"""Workers on the nodes of a Ray cluster: actors, each with a share of the cores of its node.

Ray starts the processes, moves blocks and results, and notices processes and nodes that die. Blocks are assigned by
`pocketmt.distributed.scheduler`.
"""

import atexit
import itertools
import logging
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pocketmt.distributed.blocks import Block, Result, Work
from pocketmt.distributed.driver import BlockFailed, BlockFinished, Event, NodeFault, WorkerLost, WorkerReady
from pocketmt.errors import ClusterError, PocketMTError

LOCAL: Final = "local"  # The address that starts a cluster on this machine.
AUTO: Final = "auto"  # The address of the cluster that runs on this machine.
LONGEST_WAIT: Final = 0.5  # Seconds until `wait` returns without an event.
NODES_EVERY: Final = 2.0  # Seconds between two looks for new nodes.
LOWEST_PRIORITY: Final = 19


@dataclass(frozen=True)
class Cluster:
    """A Ray cluster, and the share of it that is used.

    Attributes:
        address: of a running cluster, such as "10.0.0.1:6379" or "auto"; "local" starts one on this machine.
        threads: cores of each worker, which has one engine; None: all cores of its node.
        gpus: GPUs of each worker, which may be a fraction.
    """

    address: str = LOCAL
    threads: int | None = None
    gpus: float = 0.0


class _Actor:
    """A worker: a process of Ray."""

    def __init__(self, work: Work, threads: int) -> None:
        self._work, self._threads = work, threads
        self._handle: Callable[[Block], Result] | None = None

    def start(self) -> None:
        self._handle = self._work.start(self._threads)

    def handle(self, block: Block) -> Result:
        assert self._handle is not None
        return self._handle(block)


@dataclass
class _Started:
    actor: Any
    node: str


class RayPool:
    """Workers on all nodes of a cluster, also on those that join later."""

    def __init__(self, cluster: Cluster, work: Work) -> None:
        import ray

        self._ray: Any = ray  # Its types are incomplete.
        self._cluster = cluster
        self._work: Any = ray.put(work)
        self._names = itertools.count()
        self._actors: dict[str, _Started] = {}
        self._refs: dict[Any, tuple[str, int | None]] = {}  # Reference -> worker, and block or None for its start.
        self._of_block: dict[tuple[str, int], Any] = {}
        self._hosts: dict[str, str] = {}  # Identifier of a node -> its name in messages.
        self._excluded: set[str] = set()
        self._looked = float("-inf")

    def submit(self, worker: str, block: Block) -> None:
        """See `Pool`."""
        reference = self._actors[worker].actor.handle.remote(block)
        self._refs[reference] = worker, block.number
        self._of_block[worker, block.number] = reference

    def cancel(self, worker: str, number: int) -> None:
        """See `Pool`."""
        reference = self._of_block.pop((worker, number), None)
        if reference is not None:
            self._ray.cancel(reference)

    def exclude(self, node: str) -> bool:
        """See `Pool`."""
        self._excluded.update(each for each, host in self._hosts.items() if host == node)
        return any(each["NodeID"] not in self._excluded for each in self._nodes())

    def close(self) -> None:
        """End the workers and release the objects of this pool."""
        for worker in list(self._actors):
            self._drop(worker)
        self._refs.clear()
        self._of_block.clear()
        self._work = None

    def wait(self) -> Sequence[Event[Result]]:
        """See `Pool`."""
        now = time.monotonic()
        if now - self._looked >= NODES_EVERY:
            self._looked = now
            self._start_workers()
        if not self._refs:
            time.sleep(LONGEST_WAIT)
            return []
        waiting = list(self._refs)
        self._ray.wait(waiting, num_returns=1, timeout=LONGEST_WAIT)
        ready, _ = self._ray.wait(waiting, num_returns=len(waiting), timeout=0)
        return [event for reference in ready if (event := self._event(reference)) is not None]

    def _nodes(self) -> list[dict[str, Any]]:
        return [node for node in self._ray.nodes() if node["Alive"]]

    def _start_workers(self) -> None:
        """Start the workers that nodes have room for; those of earlier calls are counted."""
        used: dict[str, int] = {}
        rooms = []
        for started in self._actors.values():
            used[started.node] = used.get(started.node, 0) + 1
        for node in self._nodes():
            name, cores = node["NodeID"], int(node["Resources"].get("CPU", 0))
            self._hosts.setdefault(name, f"node {node['NodeManagerHostname']} {name[:6]}")
            threads = self._cluster.threads or cores
            room = cores // threads if threads else 0
            if self._cluster.gpus:
                room = min(room, int(node["Resources"].get("GPU", 0) / self._cluster.gpus))
            rooms.append(room)
            if name not in self._excluded:
                for _ in range(room - used.get(name, 0)):
                    self._start_worker(name, threads)
        # Other nodes may join a cluster, but not one that this program has started.
        if self._cluster.address == LOCAL and max(rooms, default=0) == 0:
            raise ClusterError(self._no_room())

    def _no_room(self) -> str:
        gpus, threads = self._cluster.gpus, self._cluster.threads
        if gpus:
            return f"each worker needs {gpus:g} GPU, and this machine does not have it: leave out --device cuda"
        return f"each worker needs {threads} cores, and this machine does not have them: give fewer --workers"

    def _start_worker(self, node: str, threads: int) -> None:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        worker = f"worker {next(self._names)}"
        actor = (
            self._ray.remote(_Actor)
            .options(
                num_cpus=threads,
                num_gpus=self._cluster.gpus,
                max_restarts=0,
                max_task_retries=0,
                scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False),
            )
            .remote(self._work, threads)
        )
        self._actors[worker] = _Started(actor, node)
        self._refs[actor.start.remote()] = worker, None

    def _event(self, reference: Any) -> Event[Result] | None:
        worker, number = self._refs.pop(reference)
        if number is not None:
            self._of_block.pop((worker, number), None)
        started = self._actors.get(worker)
        if started is None:  # It is lost, and said to be.
            return None
        host = self._hosts[started.node]
        exceptions = self._ray.exceptions
        try:
            result = self._ray.get(reference)
        except exceptions.TaskCancelledError:
            return None
        except exceptions.RayTaskError as error:
            cause = error.cause if isinstance(error.cause, BaseException) else error
            if number is None or isinstance(cause, OSError | MemoryError):
                self._drop(worker)
                return NodeFault(worker, host, _explain(cause))
            return BlockFailed(worker, number, _explain(cause))
        except (exceptions.OutOfDiskError, exceptions.ObjectStoreFullError) as error:
            self._drop(worker)
            return NodeFault(worker, host, _explain(error))
        except exceptions.RayError as error:
            self._drop(worker)
            node_lost = all(node["NodeID"] != started.node for node in self._nodes())
            if number is None and not node_lost:
                return NodeFault(worker, host, f"a worker died while it started ({type(error).__name__})")
            return WorkerLost(worker, host, "the node is lost" if node_lost else type(error).__name__, node_lost)
        return WorkerReady(worker, host) if number is None else BlockFinished(worker, number, result)

    def _drop(self, worker: str) -> None:
        self._ray.kill(self._actors.pop(worker).actor)


def _explain(error: BaseException) -> str:
    if isinstance(error, OSError):
        name = f"{error.filename}: " if error.filename is not None else ""
        return f"{name}{error.strerror or error}"
    return str(error) if isinstance(error, PocketMTError) else f"{type(error).__name__}: {error}"


def connect(cluster: Cluster) -> None:
    """Connect this process to a cluster, or start one on this machine, until the process ends.

    A connection that the process has already is used.

    Raises:
        ModuleNotFoundError: Ray is not installed.
        ClusterError: the cluster cannot be reached, or started, or the process is connected to another one.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # Nothing is sent from a cluster that this program starts.
    import ray

    if ray.is_initialized():
        connected = ray.get_runtime_context().gcs_address
        if cluster.address not in (connected, LOCAL, AUTO):
            raise ClusterError(
                f"{cluster.address}: this process is connected to {connected}: call `ray.shutdown()` first"
            )
        return
    try:
        ray.init(
            address=cluster.address,
            log_to_driver=False,
            logging_level=logging.ERROR,
            include_dashboard=False if cluster.address == LOCAL else None,
        )
    except (ConnectionError, RuntimeError, ValueError, TimeoutError, AssertionError) as error:
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        raise ClusterError(
            f"{cluster.address}: no Ray cluster can be reached ({reason}): start one with `ray start --head`, "
            "or give --ray local"
        ) from error
    atexit.register(disconnect)


def disconnect() -> None:
    """End the connection of this process to a cluster, as the last thing that the calling thread does.

    While `ray.shutdown` of Ray 2.60 frees its objects, another of its threads may still use them to answer nodes, which
    aborts the process. So the connection is kept until all else is done, and the thread that ends it has the lowest
    priority.
    """
    import ray

    if sys.platform == "linux":  # Elsewhere it is the priority of the whole process.
        os.setpriority(os.PRIO_PROCESS, 0, LOWEST_PRIORITY)
    ray.shutdown()
