"""A queue of sentences that is fair between clients, and of a client takes short requests before older long ones."""

import heapq
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Final, Generic, TypeVar

Kind = TypeVar("Kind", bound=Hashable)

COST_OF_SENTENCE: Final = 20  # characters, added to those of its text
PATIENCE: Final = 0.5  # seconds without a turn after which a request comes before shorter ones of its client
SECONDS_BY_COST: Final = 0.0005  # so much later may a request come, for each unit that it is shorter, and go first


@dataclass(eq=False, slots=True)
class Request(Generic[Kind]):
    """Sentences of one client that are translated in the same way.

    Attributes:
        client: who asks.
        kind: requests of the same kind may be translated in one batch.
        sentences: in order.
        taken: how many were taken from the queue.
        remaining: cost of the others.
        arrival: when the request came, in seconds.
        last_turn: when a sentence was last taken, or when the request came.
    """

    client: str
    kind: Kind
    sentences: Sequence[str]
    taken: int = 0
    remaining: int = field(init=False)
    arrival: float = 0.0
    last_turn: float = 0.0

    def __post_init__(self) -> None:
        self.remaining = sum(map(cost_of, self.sentences))


@dataclass(eq=False, slots=True)
class _Client(Generic[Kind]):
    spent: int  # cost of what was taken, and of a start that is as late as that of others
    requests: list[Request[Kind]] = field(default_factory=list)
    waiting: int = 0  # cost of the sentences in the queue


def cost_of(sentence: str) -> int:
    """Return the cost of a sentence: its characters, and a constant."""
    return len(sentence) + COST_OF_SENTENCE


class FairQueue(Generic[Kind]):
    """Sentences that wait. The client that has spent least comes next (start-time fair queueing, Goyal et al. 1996).

    Of a client's requests, short ones come before long ones that are not much older (`SECONDS_BY_COST`), and one that
    had no turn for `PATIENCE` seconds before all others.

    Attributes:
        cost: of all sentences in the queue.
        requests: how many have sentences in the queue.
    """

    def __init__(self) -> None:
        self.cost = 0
        self.requests = 0
        self._clients: dict[str, _Client[Kind]] = {}
        self._turns: list[tuple[int, int, str]] = []
        self._order = count()
        self._spent = 0  # by the client that came last

    def cost_of_client(self, client: str) -> int:
        """Return the cost of the sentences of a client that are in the queue."""
        return self._clients[client].waiting if client in self._clients else 0

    def add(self, request: Request[Kind], now: float) -> None:
        """Add a request with at least one sentence, at a time in seconds."""
        request.arrival = request.last_turn = now
        client = self._clients.get(request.client)
        if client is None:
            client = self._clients[request.client] = _Client(self._spent)
            heapq.heappush(self._turns, (client.spent, next(self._order), request.client))
        client.requests.append(request)
        client.waiting += request.remaining
        self.cost += request.remaining
        self.requests += 1

    def remove(self, request: Request[Kind]) -> None:
        """Remove what remains of a request; does nothing if it is not in the queue."""
        client = self._clients.get(request.client)
        if client is not None and request in client.requests:
            client.requests.remove(request)
            client.waiting -= request.remaining
            self.cost -= request.remaining
            self.requests -= 1

    def take(self, now: float, most_cost: int, most_sentences: int) -> list[tuple[Request[Kind], int]]:
        """Take the next sentences, all of one kind: requests and the indices of their sentences.

        Args:
            now: in seconds.
            most_cost: of the sentences together, unless it is a single one.
            most_sentences: at least 1.
        """
        taken: list[tuple[Request[Kind], int]] = []
        passed: list[tuple[int, int, str]] = []
        cost = 0
        while self._turns and len(taken) < most_sentences:
            turn = heapq.heappop(self._turns)
            client = self._clients[turn[2]]
            if not client.requests:
                del self._clients[turn[2]]
                continue
            request = _choose(client.requests, now, taken[0][0].kind if taken else None)
            added = 0 if request is None else cost_of(request.sentences[request.taken])
            if request is None or (taken and cost + added > most_cost):
                passed.append(turn)
                if request is None:
                    continue
                break
            cost += added
            self._spent = max(self._spent, client.spent)
            taken.append((request, request.taken))
            self._charge(client, request, added, now)
            heapq.heappush(self._turns, (client.spent, next(self._order), turn[2]))
        for turn in passed:
            heapq.heappush(self._turns, turn)
        return taken

    def _charge(self, client: _Client[Kind], request: Request[Kind], cost: int, now: float) -> None:
        client.spent += cost
        client.waiting -= cost
        self.cost -= cost
        request.remaining -= cost
        request.taken += 1
        request.last_turn = now
        if request.taken == len(request.sentences):
            client.requests.remove(request)
            self.requests -= 1


def _choose(requests: Sequence[Request[Kind]], now: float, kind: Kind | None) -> Request[Kind] | None:
    """Return the request that comes next, of one kind if there is one; None: there is no request of the kind."""
    if kind is not None:
        requests = [request for request in requests if request.kind == kind]
        if not requests:
            return None
    longest_waiting = min(requests, key=lambda request: request.last_turn)
    if now - longest_waiting.last_turn > PATIENCE:
        return longest_waiting
    return min(requests, key=lambda request: request.arrival + request.remaining * SECONDS_BY_COST)
