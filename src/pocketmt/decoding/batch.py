"""A batch of sentences of similar lengths: they take places, and give them to the next ones when they are done."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final, Protocol

from pocketmt.decoding.requests import Request, SearchSettings, Translation
from pocketmt.decoding.slots import Slots, SlotShape
from pocketmt.errors import EngineError

# Source tokens that are encoded at once.
_CPU_ENCODED_TOKENS: Final = 16_384
_GPU_ENCODED_TOKENS: Final = 65_536
_GPU_STEPS: Final = 8  # Steps between two looks at what is done, each of which waits for the GPU.
_GPU_POSITIONS: Final = 32  # Fewest target positions: fewer lengths need fewer graphs.
_CPU_POSITIONS: Final = 16  # Target positions are multiples of it: attention to positions that are not there yet costs.
_LEAST_PLACES: Final = 8  # Fewer are not worth a move to fewer places.
_REFILLED: Final = 8  # Places are refilled when one of this many is free.


class Places(Protocol):
    """The decoder that a batch asks for places."""

    on_gpu: bool

    def slots(self, settings: SearchSettings, shape: SlotShape) -> Slots:
        """Return places without sentences."""
        ...

    def places(self, settings: SearchSettings, wanted: int, source: int, target: int) -> int:
        """Return how many sentences are decoded together."""
        ...


class Batch:
    """The decoding of sentences, the longest first.

    Attributes:
        source: source tokens for which each place has room.
        most_places: number of places that it began with; 1 before.
    """

    def __init__(
        self,
        decoder: Places,
        settings: SearchSettings,
        requests: Sequence[tuple[int, Request]],
        source: int,
        stopped: Callable[[], bool],
    ) -> None:
        """Take requests with their numbers, and the largest number of tokens of a source, with eos."""
        self._decoder, self._settings, self._stopped = decoder, settings, stopped
        self._waiting = deque(requests)
        self._steps = _GPU_STEPS if decoder.on_gpu else 1
        self._encoded_tokens = _GPU_ENCODED_TOKENS if decoder.on_gpu else _CPU_ENCODED_TOKENS
        self.source = next_power_of_two(source) if decoder.on_gpu else source
        self._limit = max(request.limit for _, request in requests)
        self._shortlists = any(request.allowed is not None for _, request in requests)
        self._longest_prefix = max(len(request.prefix) for _, request in requests)
        self.most_places = 1
        self._owners: list[tuple[int, Request] | None] = []
        self._positions: list[int] = []

    def translations(self) -> Iterator[tuple[int, list[Translation]]]:
        """Yield the number and the hypotheses of each request, in the order in which they are done.

        Raises:
            EngineError: a sentence has no translation of a finite probability.
            torch.OutOfMemoryError: there are too many places.
        """
        slots = self._first_slots()
        while (self._waiting or any(self._owners)) and not self._stopped():
            self._refill(slots)
            slots = self._fitting(slots)
            for _ in range(min(self._steps, self._most_steps())):
                slots.step()
            yield from self._done(slots)

    def _most_steps(self) -> int:
        """Return after how many steps all live sentences are at their limits."""
        return max(
            owner[1].limit - position
            for owner, position in zip(self._owners, self._positions, strict=True)
            if owner is not None
        )

    def _first_slots(self) -> Slots:
        target = self._room(self.source if self._decoder.on_gpu else 1)
        self.most_places = self._decoder.places(self._settings, len(self._waiting), self.source, target)
        self._owners = [None] * self.most_places
        self._positions = [0] * self.most_places
        shape = SlotShape(self.most_places, self.source, target, self._shortlists, self._longest_prefix > 0)
        return self._decoder.slots(self._settings, shape)

    def _room(self, steps: int) -> int:
        """Return target positions for some steps: few are faster, but each number of them needs another graph.

        There is room for every prefix from the start.
        """
        steps = max(steps, self._longest_prefix)
        if self._decoder.on_gpu:
            return next_power_of_two(max(steps, _GPU_POSITIONS))
        return min(self._limit, -(-steps // _CPU_POSITIONS) * _CPU_POSITIONS)

    def _refill(self, slots: Slots) -> None:
        """Put waiting sentences into free places, if enough are free that encoding together is worth it."""
        free = [place for place, owner in enumerate(self._owners) if owner is None]
        if not self._waiting or (len(free) < len(self._owners) // _REFILLED and len(free) < len(self._owners)):
            return
        while free and self._waiting:
            length = max(1, len(self._waiting[0][1].source))
            count = min(len(free), len(self._waiting), max(1, self._encoded_tokens // length))
            chosen, places, free = [self._waiting.popleft() for _ in range(count)], free[:count], free[count:]
            # An error leaves the sentences to the next batch.
            slots.fill(places, [request for _, request in chosen])
            for place, owner in zip(places, chosen, strict=True):
                self._owners[place], self._positions[place] = owner, 0

    def _fitting(self, slots: Slots) -> Slots:
        """Return places for the live sentences: with room for their next steps, and fewer if most are free."""
        shape = slots.shape
        live = [place for place, owner in enumerate(self._owners) if owner is not None]
        last = min(self._limit, max(self._positions[place] for place in live) + self._steps)
        wanted = shape
        if last > shape.target:
            wanted = replace(wanted, target=self._room(last))
        if not self._waiting and (count := self._enough(len(live))) < shape.count:
            wanted = replace(wanted, count=count)
        if wanted == shape:
            return slots
        other = self._decoder.slots(self._settings, wanted)
        slots.move(live, other)
        free = [None] * (wanted.count - len(live))
        self._owners = [*(self._owners[place] for place in live), *free]
        self._positions = [*(self._positions[place] for place in live), *(0 for _ in free)]
        return other

    def _enough(self, live: int) -> int:
        """Return how many places are enough for the last sentences: each number of them needs another graph."""
        if self._decoder.on_gpu:
            return max(_LEAST_PLACES, next_power_of_two(live))
        return -(-live // _LEAST_PLACES) * _LEAST_PLACES

    def _done(self, slots: Slots) -> Iterator[tuple[int, list[Translation]]]:
        live, self._positions = slots.search.progress()
        owners = [(place, owner) for place, owner in enumerate(self._owners) if owner is not None and not live[place]]
        if not owners:
            return
        found = slots.results([place for place, _ in owners])
        for (place, (number, _)), hypotheses in zip(owners, found, strict=True):
            if not hypotheses:
                raise EngineError(
                    "a sentence has no translation of a finite probability: its numbers are too large for the "
                    "precision, or its shortlist has no piece; choose bfloat16 or float32"
                )
            self._owners[place] = None
            yield number, hypotheses


def next_power_of_two(number: int) -> int:
    """Return the least power of two that is not below a number from 1."""
    return 1 << (number - 1).bit_length()


def previous_power_of_two(number: int) -> int:
    """Return the largest power of two that is not above a number, at least 1."""
    return 1 << max(0, number.bit_length() - 1)
