"""Translation of any number of sentences, sorted by length: in batches that fit memory, whose places are refilled."""

from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from typing import Final

import torch

from pocketmt.decoding.batch import Batch, next_power_of_two, previous_power_of_two
from pocketmt.decoding.captured_step import lack_of_memory
from pocketmt.decoding.current_device import current_device
from pocketmt.decoding.memory import bytes_of_place, free_bytes, unused_bytes
from pocketmt.decoding.requests import Request, SearchSettings, Translation, plain_requests
from pocketmt.decoding.slots import Slots, SlotShape
from pocketmt.errors import EngineError
from pocketmt.models.inputs import encoder_input
from pocketmt.models.network import TranslationNetwork

# Source tokens of the sentences that are decoded together, times the size of the beam.
CPU_BATCH_TOKENS: Final = 4096
GPU_BATCH_TOKENS: Final = 131_072
_KEPT_SHAPES: Final = 12  # Shapes whose tensors and graphs are kept for the next sentences.
_LEAST_POSITIONS: Final = 32


class Decoder:
    """Translates with one network, or with an ensemble of several of one vocabulary.

    A translation depends on its sentence alone, up to the rounding of float sums, whose order the shapes may change
    (on the processor only in networks without `exact_sums`).

    When a GPU has too little memory for a batch, batches become half as large, and those of its sentences that are not
    done are decoded again.
    """

    def __init__(self, networks: Sequence[TranslationNetwork], batch_tokens: int | None = None) -> None:
        """Take networks in evaluation mode on one device.

        Args:
            networks: the members of the ensemble, whose log-probabilities are averaged.
            batch_tokens: most source tokens of the sentences that are decoded together, times the size of the beam;
                None: as many as are fast on the device.
        """
        self._networks = networks
        self.device = networks[0].embedding.weight.device
        self.on_gpu = self.device.type == "cuda"
        self.batch_tokens = batch_tokens or (GPU_BATCH_TOKENS if self.on_gpu else CPU_BATCH_TOKENS)
        self._kept: OrderedDict[tuple[SearchSettings, SlotShape], Slots] = OrderedDict()
        self._bytes: dict[tuple[SearchSettings, int, int], int] = {}  # What a place needs (`bytes_of_place`).

    @torch.inference_mode()
    def translate(
        self,
        requests: Sequence[Request],
        settings: SearchSettings,
        stopped: Callable[[], bool] = lambda: False,
    ) -> list[list[Translation]]:
        """Return the hypotheses of each request, best first: at most `beam_size`, at least one.

        Args:
            requests: sources are not empty.
            settings: of the search.
            stopped: asked between steps whether to end; the translations are then incomplete.

        Raises:
            EngineError: memory is too small for a single sentence.
        """
        with current_device(self.device):
            return self._translate(requests, settings, stopped)

    def _translate(
        self, requests: Sequence[Request], settings: SearchSettings, stopped: Callable[[], bool]
    ) -> list[list[Translation]]:
        results: list[list[Translation]] = [[] for _ in requests]
        lengths = [self._source_tokens(request) for request in requests]
        order = sorted(range(len(requests)), key=lambda index: -lengths[index])
        waiting = deque(order)
        tried_alone = complete = False
        try:
            while waiting and not stopped():
                batch = self._similar(waiting, lengths)
                run = Batch(self, settings, [(index, requests[index]) for index in batch], lengths[batch[0]], stopped)
                reason = self._run(run, results)
                if reason is None:
                    tried_alone = False
                    continue
                # After the error, because its traceback holds the memory of the batch.
                self.release()
                if run.most_places > 1:
                    self.batch_tokens = run.most_places // 2 * run.source * settings.beam_size
                elif tried_alone:
                    raise EngineError(self._too_large(lengths[batch[0]], settings, reason))
                else:  # Other batches may have held the memory that it lacked.
                    tried_alone = True
                waiting.extendleft(reversed([index for index in batch if not results[index]]))
            complete = not stopped()
        finally:
            if not complete:  # After an error, states may have numbers that are not finite.
                self._kept.clear()
        return results

    def _run(self, run: Batch, results: list[list[Translation]]) -> str | None:
        """Take the results of a batch; returns PyTorch's reason if memory runs out, else None."""
        try:
            for index, found in run.translations():
                results[index] = found
        except RuntimeError as error:
            reason = lack_of_memory(error)
            if reason is None:
                raise
            return reason.partition("\n")[0] or "out of memory"
        return None

    def _too_large(self, length: int, settings: SearchSettings, reason: str) -> str:
        return (
            f"{self.device}: its memory is too small for a single sentence of {length} pieces with beam size "
            f"{settings.beam_size} ({reason}): close other programs that use the device, choose a smaller beam or "
            "16-bit precision, or translate with device 'cpu'"
        )

    def best(self, sources: Sequence[Sequence[int]], beam_size: int, prefix: Sequence[int] = ()) -> list[list[int]]:
        """Return the ids of the best translation of each source, after the prefix; that of an empty source is empty."""
        given = [index for index, source in enumerate(sources) if source]
        settings = SearchSettings(beam_size, scores=False, n_best=1)
        found = self.translate(plain_requests([sources[index] for index in given], prefix), settings)
        results: list[list[int]] = [[] for _ in sources]
        for index, hypotheses in zip(given, found, strict=True):
            results[index] = [*hypotheses[0].ids[len(prefix) :]]
        return results

    def _source_tokens(self, request: Request) -> int:
        return max(len(encoder_input(network.architecture, request.source)) for network in self._networks)

    def _similar(self, waiting: deque[int], lengths: Sequence[int]) -> list[int]:
        """Take the sentences that are at least half as long as the longest one."""
        longest = lengths[waiting[0]]
        batch = [waiting.popleft()]
        while waiting and (2 * lengths[waiting[0]] > longest or longest <= _LEAST_POSITIONS):
            batch.append(waiting.popleft())
        return batch

    def release(self) -> None:
        """Release the memory of batches."""
        self._kept.clear()
        if self.on_gpu:
            torch.cuda.empty_cache()

    def slots(self, settings: SearchSettings, shape: SlotShape) -> Slots:
        """Return places without sentences, kept ones if there are any."""
        key = settings, shape
        slots = self._kept.pop(key, None)
        if slots is None:
            if self.on_gpu:
                self._make_room(settings, shape)
            slots = Slots(self._networks, settings, shape)
        else:
            slots.search.clear()
        if self.on_gpu:  # Elsewhere new tensors cost little.
            self._kept[key] = slots
            if len(self._kept) > _KEPT_SHAPES:
                self._kept.popitem(last=False)
        return slots

    def _make_room(self, settings: SearchSettings, shape: SlotShape) -> None:
        """Drop the kept places that were used least recently until new ones fit."""
        needed = shape.count * self._bytes_of_place(settings, shape.source, shape.target)
        if needed <= unused_bytes(self.device):
            return
        torch.cuda.empty_cache()  # A graph takes memory that PyTorch does not hold.
        while self._kept and needed > free_bytes(self.device):
            self._kept.popitem(last=False)
            torch.cuda.empty_cache()  # Returns that of the graph.

    def _bytes_of_place(self, settings: SearchSettings, source: int, target: int) -> int:
        key = settings, source, target
        if key not in self._bytes:
            self._bytes[key] = bytes_of_place(self._networks, settings, source, target)
        return self._bytes[key]

    def places(self, settings: SearchSettings, wanted: int, source: int, target: int) -> int:
        """Return how many sentences, of these lengths, are decoded together; `wanted` are there."""
        most = min(wanted, max(1, self.batch_tokens // (source * settings.beam_size)))
        if not self.on_gpu:
            return most
        most = next_power_of_two(most)
        needed = 2 * self._bytes_of_place(settings, source, target)  # Half of the memory stays free.
        if most * needed <= unused_bytes(self.device):
            return most
        free = free_bytes(self.device)
        fitting = previous_power_of_two(free // needed)
        kept = sum(slots.bytes for slots in self._kept.values())
        if fitting < most and previous_power_of_two((free + kept) // needed) > fitting:
            self.release()
            fitting = previous_power_of_two(free_bytes(self.device) // needed)
        return min(most, fitting)
