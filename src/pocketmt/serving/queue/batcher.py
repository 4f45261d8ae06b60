"""Translation of the sentences of all requests in common batches."""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Generic, Protocol, TypeVar

from pocketmt.serving.errors import RequestError
from pocketmt.serving.queue.fair_queue import FairQueue, Request, cost_of

Kind = TypeVar("Kind", bound=Hashable)
Result = TypeVar("Result")

MOST_SENTENCES: Final = 128  # of a batch
LEAST_COST: Final = 400  # of a batch that is full
LEAST_SHARE: Final = 250  # cost of a batch while other workers are busy, if so much waits
FIRST_COST: Final = 4_000  # of a full batch, before the speed is known
SECONDS_OF_BATCH: Final = 0.15  # so long a short request waits at most for a batch that was begun before it
LARGEST_SHARE: Final = 0.25  # of the queue, for one client
RESERVE: Final = 0.1  # of the queue, for clients that have nothing in it
_NEW_SPEED_WEIGHT: Final = 0.2


class Observer(Protocol):
    """Is told of each batch."""

    def batch(self, sentences: int, cost: int, seconds: float) -> None:
        """Take note of a finished batch."""


@dataclass(eq=False, slots=True)
class _Entry(Generic[Kind, Result]):
    """A request in the queue.

    Attributes:
        request: in the queue.
        done: is set once all sentences have results.
        results: of its sentences; None: not yet translated.
        missing: number of sentences without result.
    """

    request: Request[Kind]
    done: "asyncio.Future[None]"
    results: list[Result | None]
    missing: int


@dataclass(eq=False, slots=True)
class _Batch(Generic[Kind, Result]):
    kind: Kind
    places: list[tuple[_Entry[Kind, Result], int]]
    alone: bool
    task: "asyncio.Task[None] | None" = field(default=None)


class Batcher(Generic[Kind, Result]):
    """Gathers sentences of the same kind in batches, and has at most `workers` batches translated at once.

    Args:
        run: translates the sentences of a batch, in order; it is told whether nothing else was to be translated when
            the batch began, and is cancelled if nobody waits for the batch.
        workers: most batches at once.
        most_cost: of the sentences in the queue; beyond it, requests are refused.
        most_requests: in the queue.
        observer: of the batches.
    """

    def __init__(
        self,
        run: Callable[[Kind, list[str], bool], Awaitable[Sequence[Result]]],
        *,
        workers: int,
        most_cost: int,
        most_requests: int,
        observer: Observer,
    ) -> None:
        self._run = run
        self._workers = workers
        self._most_cost = most_cost
        self._most_requests = most_requests
        self._observer = observer
        self._queue: FairQueue[Kind] = FairQueue()
        self._entries: dict[Request[Kind], _Entry[Kind, Result]] = {}
        self._running: set[_Batch[Kind, Result]] = set()
        self._starting = False
        self._speed = FIRST_COST / SECONDS_OF_BATCH  # cost for each second of one worker

    @property
    def waiting(self) -> tuple[int, int]:
        """Number of requests in the queue, and their cost."""
        return self._queue.requests, self._queue.cost

    async def translate(self, kind: Kind, client: str, sentences: Sequence[str]) -> list[Result]:
        """Return the results of sentences, in order. If this is cancelled, no more of them are translated.

        Raises RequestError (429) if too much is in the queue, and (400) if the sentences would not fit in an empty one.
        """
        if not sentences:
            return []
        request = Request(client, kind, sentences)
        self._admit(request)
        entry: _Entry[Kind, Result] = _Entry(
            request, asyncio.get_running_loop().create_future(), [None] * len(sentences), len(sentences)
        )
        self._entries[request] = entry
        self._queue.add(request, time.monotonic())
        self._start_soon()
        try:
            await entry.done
        finally:
            if self._entries.pop(request, None) is not None:
                self._queue.remove(request)
                self._cancel_unwanted()
        return [result for result in entry.results if result is not None]

    def _admit(self, request: Request[Kind]) -> None:
        if request.remaining > self._most_cost:
            raise RequestError(400, "the texts are more than this server's queue can hold: send less at once")
        own = self._queue.cost_of_client(request.client)
        limit = self._most_cost * (1 - RESERVE * bool(own))
        too_full = self._queue.cost + request.remaining > limit or self._queue.requests >= self._most_requests
        if too_full or (own and own + request.remaining > self._most_cost * LARGEST_SHARE):
            whose = "of yours " if not too_full else ""
            raise RequestError(429, f"too many texts {whose}wait for translation: try again later", self.retry_after())

    def retry_after(self) -> int:
        """Return the seconds after which the queue of now will be translated, 1 to 60."""
        return max(1, min(60, math.ceil(self._queue.cost / (self._speed * self._workers))))

    def _start_soon(self) -> None:
        """Start batches once all requests that came at the same time are in the queue."""
        if not self._starting and len(self._running) < self._workers:
            self._starting = True
            asyncio.get_running_loop().call_soon(self._start_batches)

    def _start_batches(self) -> None:
        self._starting = False
        while len(self._running) < self._workers:
            most_cost = max(LEAST_COST, int(self._speed * SECONDS_OF_BATCH))
            # The other workers, which will soon be idle, get their share of the queue.
            share = max(LEAST_SHARE, math.ceil(self._queue.cost / self._workers))
            taken = self._queue.take(time.monotonic(), min(most_cost, share), MOST_SENTENCES)
            if not taken:
                return
            places = [(self._entries[request], index) for request, index in taken]
            batch = _Batch(taken[0][0].kind, places, alone=not self._running and not self._queue.cost)
            self._running.add(batch)
            batch.task = asyncio.get_running_loop().create_task(self._translate_batch(batch))
            batch.task.add_done_callback(partial(self._end, batch))

    async def _translate_batch(self, batch: _Batch[Kind, Result]) -> None:
        sentences = [entry.request.sentences[index] for entry, index in batch.places]
        start = time.monotonic()
        try:
            results = await self._run(batch.kind, sentences, batch.alone)
        except asyncio.CancelledError:
            # Usually nobody waits any more. Else the engine has ended it, and the others must hear of it.
            self._fail(batch, RequestError(503, "the translation was interrupted: try again", 1))
        except Exception as error:
            self._fail(batch, error)
        else:
            self._deliver(batch, results)
            self._measure(sum(map(cost_of, sentences)), len(sentences), time.monotonic() - start)

    def _end(self, batch: _Batch[Kind, Result], task: "asyncio.Task[None]") -> None:
        """Free the worker of a batch whose task is done, even if it was cancelled before its first step."""
        self._running.remove(batch)
        self._start_batches()

    def _deliver(self, batch: _Batch[Kind, Result], results: Sequence[Result]) -> None:
        for (entry, index), result in zip(batch.places, results, strict=True):
            entry.results[index] = result
            entry.missing -= 1
            if entry.missing == 0 and not entry.done.done():
                self._entries.pop(entry.request, None)
                entry.done.set_result(None)

    def _fail(self, batch: _Batch[Kind, Result], error: Exception) -> None:
        for entry, _ in batch.places:
            if not entry.done.done():
                entry.done.set_exception(error)

    def _measure(self, cost: int, sentences: int, seconds: float) -> None:
        self._observer.batch(sentences, cost, seconds)
        if cost >= LEAST_COST:  # Small batches are slow for their cost.
            self._speed += _NEW_SPEED_WEIGHT * (cost / max(seconds, 1e-4) - self._speed)

    def _cancel_unwanted(self) -> None:
        for batch in self._running:
            if batch.task is not None and not any(entry.request in self._entries for entry, _ in batch.places):
                batch.task.cancel()
