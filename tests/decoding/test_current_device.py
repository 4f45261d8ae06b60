"""Work on a GPU makes it the current device, and keeps other threads from GPUs. A fake device stands for it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Thread
from typing import Any

import pytest
import torch

from pocketmt.decoding.current_device import current_device
from pocketmt.decoding.decoder import Decoder
from pocketmt.decoding.requests import Request
from pocketmt.decoding.slots import Slots
from tests.engine.conftest import sentences
from tests.engine.reference import architecture

from .test_decoder import ending_network

SECOND = torch.device("cuda", 1)


@pytest.fixture
def current(monkeypatch: pytest.MonkeyPatch) -> list[torch.device]:
    """The devices that are current, the innermost last."""
    devices: list[torch.device] = []

    @contextmanager
    def entered(device: torch.device) -> Iterator[None]:
        devices.append(device)
        yield
        devices.pop()

    monkeypatch.setattr(torch.cuda, "device", entered)
    return devices


def test_a_decoder_encodes_and_decodes_on_its_gpu(current: list[torch.device], monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[torch.device]] = []
    fill, step = Slots.fill, Slots.step

    def watched_fill(slots: Slots, places: Sequence[int], requests: Sequence[Request]) -> None:
        seen.append([*current])
        fill(slots, places, requests)

    def watched_step(slots: Slots, *arguments: Any) -> Any:
        seen.append([*current])
        return step(slots, *arguments)

    monkeypatch.setattr(Slots, "fill", watched_fill)
    monkeypatch.setattr(Slots, "step", watched_step)
    decoder = Decoder([ending_network(architecture())])
    decoder.device = SECOND
    decoder.best(sentences(4), 2)
    assert len(seen) > 2
    assert all(devices == [SECOND] for devices in seen)
    assert not current


def test_the_processor_is_never_made_current(current: list[torch.device]) -> None:
    with current_device(torch.device("cpu")):
        assert not current


@pytest.mark.usefixtures("current")
def test_another_thread_waits_for_any_gpu() -> None:
    order: list[str] = []

    def work() -> None:
        with current_device(torch.device("cuda", 0)):
            order.append("other")

    with current_device(SECOND), current_device(SECOND):
        thread = Thread(target=work)
        thread.start()
        thread.join(0.2)
        assert thread.is_alive()
        order.append("own")
    thread.join(10)
    assert order == ["own", "other"]
