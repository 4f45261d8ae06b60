"""Too little memory: batches shrink, and their translations stay the same. A fake device runs out of it."""

import gc
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from pocketmt.decoding import decoder as decoder_module
from pocketmt.decoding import slots as slots_module
from pocketmt.decoding.captured_step import capture_step
from pocketmt.decoding.decoder import Decoder
from pocketmt.decoding.memory import bytes_of_place, free_bytes
from pocketmt.decoding.requests import Request, SearchSettings
from pocketmt.decoding.slots import Slots, SlotShape
from pocketmt.errors import EngineError
from pocketmt.models.transformer import PositionedNetwork
from tests.engine.conftest import sentences
from tests.engine.reference import architecture

from .test_decoder import ending_network

GPU = torch.device("cuda", 0)


class FakeMemory:
    """Runs out in one of the methods of places for more than some sentences."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, most: int, method: str = "fill") -> None:
        self.counts: list[int] = []
        self.encoded = 0
        fill = Slots.fill

        def counting(slots: Slots, places: Sequence[int], given: Sequence[Request]) -> None:
            fill(slots, places, given)
            self.encoded += len(given)

        monkeypatch.setattr(Slots, "fill", counting)
        original = getattr(Slots, method)

        def limited(slots: Slots, *arguments: Any, **options: Any) -> Any:
            shape = arguments[2] if method == "__init__" else slots.shape
            self.counts.append(shape.count)
            if shape.count > most:
                raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB.\nMore words.")
            return original(slots, *arguments, **options)

        monkeypatch.setattr(Slots, method, limited)


@pytest.mark.parametrize("method", ["__init__", "fill", "step", "results"])
@pytest.mark.parametrize("beam", [1, 3])
def test_batches_too_large_for_memory_are_halved(monkeypatch: pytest.MonkeyPatch, method: str, beam: int) -> None:
    network, sources = ending_network(architecture()), sentences(20)
    expected = Decoder([network]).best(sources, beam)
    memory = FakeMemory(monkeypatch, 3, method)
    decoder = Decoder([network])
    assert decoder.best(sources, beam) == expected
    assert memory.counts[0] > 3 >= memory.counts[-1]
    assert decoder.best(sources, beam) == expected  # It goes on with smaller batches.


@pytest.mark.usefixtures("like_a_gpu")
def test_a_capture_that_does_not_fit_halves_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    network, sources = ending_network(architecture()), sentences(20)
    expected = Decoder([network]).best(sources, 3)
    captured: list[int] = []

    def capture(step: Callable[[], None], device: torch.device) -> None:
        slots: Slots = step.__self__  # type: ignore[attr-defined]
        captured.append(slots.shape.count)
        if slots.shape.count > 4:
            raise torch.OutOfMemoryError

    monkeypatch.setattr(slots_module, "capture_step", capture)
    decoder = Decoder([network])
    decoder.on_gpu = True
    assert decoder.best(sources, 3) == expected
    assert captured[0] > 4 >= captured[-1]


def test_sentences_that_are_done_are_not_translated_again(monkeypatch: pytest.MonkeyPatch) -> None:
    network, sources = ending_network(architecture()), sentences(20)
    settings, requests = SearchSettings(1), [Request(source, 14) for source in sources]
    expected = Decoder([network]).translate(requests, settings)
    memory = FakeMemory(monkeypatch, 99)
    step, steps = Slots.step, iter(range(1000))

    def failing(slots: Slots) -> None:
        if next(steps) == 10:
            raise torch.OutOfMemoryError
        step(slots)

    monkeypatch.setattr(Slots, "step", failing)
    assert Decoder([network]).translate(requests, settings) == expected
    assert 20 < memory.encoded < 40


def test_a_single_sentence_that_does_not_fit_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    network = ending_network(architecture())
    FakeMemory(monkeypatch, 0)
    message = (
        r"^cpu: its memory is too small for a single sentence of 3 pieces with beam size 2 \(CUDA out of memory\. "
        r"Tried to allocate 2 GiB\.\): close other programs .* choose a smaller beam or 16-bit precision, or "
        r"translate with device 'cpu'$"
    )
    with pytest.raises(EngineError, match=message):
        Decoder([network]).best([[5, 6]], 2)


@pytest.mark.usefixtures("like_a_gpu")
def test_memory_that_runs_out_before_any_place_is_an_error_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*arguments: object) -> int:
        raise torch.OutOfMemoryError

    monkeypatch.setattr(decoder_module, "bytes_of_place", failing)
    decoder = Decoder([ending_network(architecture())])
    decoder.on_gpu = True
    with pytest.raises(EngineError, match="too small for a single sentence"):
        decoder.best(sentences(5), 2)


@pytest.mark.usefixtures("like_a_gpu")
def test_a_sentence_that_lacks_the_memory_of_kept_batches_gets_it(monkeypatch: pytest.MonkeyPatch) -> None:
    network, sources = ending_network(architecture()), [[5] * 40, *sentences(8, longest=6, seed=3)]
    expected = Decoder([network]).best(sources, 2)
    decoder = Decoder([network])
    decoder.on_gpu = True
    decoder.best(sources[1:], 2)
    fill, failures = Slots.fill, []

    def failing(slots: Slots, places: Sequence[int], given: Sequence[Request]) -> None:
        if any(kept is not slots for kept in decoder._kept.values()):
            failures.append(slots.shape.count)
            raise torch.OutOfMemoryError
        fill(slots, places, given)

    monkeypatch.setattr(Slots, "fill", failing)
    assert decoder.best(sources, 2) == expected
    assert failures[0] == 1


@pytest.mark.usefixtures("like_a_gpu")
def test_the_memory_of_a_failed_batch_is_free_when_it_is_released(monkeypatch: pytest.MonkeyPatch) -> None:
    network, sources = ending_network(architecture()), sentences(20)
    memory = FakeMemory(monkeypatch, 4, "step")
    used: list[weakref.ref[Slots]] = []
    create, release = Slots.__init__, Decoder.release

    def creating(slots: Slots, *arguments: Any, **options: Any) -> None:
        used.append(weakref.ref(slots))
        create(slots, *arguments, **options)

    def released(decoder: Decoder) -> None:
        release(decoder)
        assert not any(each() for each in used)

    monkeypatch.setattr(Slots, "__init__", creating)
    monkeypatch.setattr(Decoder, "release", released)
    decoder = Decoder([network])
    decoder.on_gpu = True
    gc.disable()  # Memory is free at once, not at some later time.
    try:
        decoder.best(sources, 2)
    finally:
        gc.enable()
    assert max(memory.counts) > 4


def test_kept_batches_are_released_if_more_sentences_then_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    network, settings = ending_network(architecture()), SearchSettings(2)
    decoder = Decoder([network])
    decoder.on_gpu = True
    place = bytes_of_place([network], settings, 32, 32)
    free = 2 * place * 20

    def free_of_kept(device: torch.device) -> int:
        return free - sum(slots.bytes for slots in decoder._kept.values())

    monkeypatch.setattr(decoder_module, "unused_bytes", lambda device: 0)
    monkeypatch.setattr(decoder_module, "free_bytes", free_of_kept)
    assert decoder.places(settings, 100, 32, 32) == 16
    decoder.slots(settings, SlotShape(1, 16, 32))
    assert decoder.places(settings, 100, 32, 32) == 16
    assert len(decoder._kept) == 1  # It takes too little to matter.
    decoder.slots(settings, SlotShape(30, 32, 32))
    assert decoder.places(settings, 8, 32, 32) == 8
    assert len(decoder._kept) == 2
    assert decoder.places(settings, 100, 32, 32) == 16
    assert not decoder._kept


def test_kept_batches_are_dropped_one_by_one_until_a_new_one_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    network, settings = ending_network(architecture()), SearchSettings(2)
    decoder = Decoder([network])
    decoder.on_gpu = True
    place = bytes_of_place([network], settings, 32, 32)

    def free_of_kept(device: torch.device) -> int:
        return place * (50 - sum(slots.shape.count for slots in decoder._kept.values()))

    monkeypatch.setattr(decoder_module, "unused_bytes", lambda device: 0)
    monkeypatch.setattr(decoder_module, "free_bytes", free_of_kept)
    shapes = [SlotShape(count, 32, 32) for count in (8, 16, 20, 24, 60)]
    for shape in shapes[:3]:
        decoder.slots(settings, shape)
    assert [shape.count for _, shape in decoder._kept] == [8, 16, 20]
    decoder.slots(settings, shapes[3])
    assert [shape.count for _, shape in decoder._kept] == [20, 24]
    decoder.slots(settings, shapes[4])  # It may still fit, as the estimate is high.
    assert [shape.count for _, shape in decoder._kept] == [60]


def test_kept_places_keep_the_positions_that_their_graph_reads() -> None:
    network = ending_network(architecture())
    assert isinstance(network, PositionedNetwork)
    slots = Slots([network], SearchSettings(2), SlotShape(2, 8, 32))
    positions = weakref.ref(network.positions)
    network.reserve_positions(5000)
    assert len(network.positions) > 5000 and positions() is not None
    del slots
    gc.collect()
    assert positions() is None


def test_a_kernel_whose_code_does_not_fit_halves_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    network, sources = ending_network(architecture()), sentences(20)
    expected = Decoder([network]).best(sources, 2)
    fill = Slots.fill

    def failing(slots: Slots, places: Sequence[int], given: Sequence[Request]) -> None:
        if slots.shape.count > 4:
            raise RuntimeError("Triton Error [CUDA]: out of memory")
        fill(slots, places, given)

    monkeypatch.setattr(Slots, "fill", failing)
    decoder = Decoder([network])
    assert decoder.best(sources, 2) == expected
    assert decoder.batch_tokens < 100


def test_an_error_that_is_no_lack_of_memory_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*arguments: object) -> None:
        raise RuntimeError("Triton Error [CUDA]: an illegal instruction was encountered")

    monkeypatch.setattr(Slots, "fill", failing)
    with pytest.raises(RuntimeError, match="illegal instruction"):
        Decoder([ending_network(architecture())]).best(sentences(5), 2)


def test_free_memory_leaves_out_what_graphs_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    def segment(device: int, total: int, allocated: int, pool: tuple[int, int]) -> dict[str, Any]:
        return {"device": device, "total_size": total, "allocated_size": allocated, "segment_pool_id": pool}

    segments = [segment(0, 100, 70, (0, 0)), segment(0, 500, 0, (0, 1)), segment(1, 900, 0, (0, 0))]
    monkeypatch.setattr(torch.cuda, "memory_snapshot", lambda: segments)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (1000, 9999))
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 1)
    assert free_bytes(GPU) == 1030
    assert free_bytes(torch.device("cuda")) == 1900


@contextmanager
def failing_end(graph: object, **options: object) -> Iterator[None]:
    """Capture as CUDA does when memory runs out: the end of the capture fails, too."""
    try:
        yield
    finally:
        raise RuntimeError("CUDA error: operation failed due to a previous error during capture")


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (torch.OutOfMemoryError("CUDA out of memory."), torch.OutOfMemoryError),
        (RuntimeError("CUDA error: out of memory"), torch.OutOfMemoryError),
        (RuntimeError("CUDA error: an illegal instruction"), RuntimeError),
    ],
)
@pytest.mark.parametrize("where", ["before", "capture", "end"])
def test_a_capture_that_lacks_memory_says_so(
    monkeypatch: pytest.MonkeyPatch, error: RuntimeError, expected: type[RuntimeError], where: str
) -> None:
    steps = iter(range(9))

    def step() -> None:
        if next(steps) == {"before": 0}.get(where, 2):
            raise error

    stream = SimpleNamespace(wait_stream=lambda other: None)
    for name, fake in {
        "device": lambda device: nullcontext(),
        "stream": lambda stream: nullcontext(),
        "current_stream": lambda: stream,
        "Stream": lambda: stream,
        "CUDAGraph": object,
        "graph": failing_end if where == "end" else lambda graph, **options: nullcontext(),
    }.items():
        monkeypatch.setattr(torch.cuda, name, fake)
    with pytest.raises(RuntimeError) as raised:
        capture_step(step, GPU)
    assert type(raised.value) is expected


def test_no_graph_is_captured_on_the_processor() -> None:
    assert capture_step(lambda: pytest.fail("run"), torch.device("cpu")) is None
