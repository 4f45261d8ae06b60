"""Training when memory runs out: batches are computed in parts, and the weights stay the same."""

from collections.abc import Iterator
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest
import torch
from lightning_fabric import Fabric
from torch import Tensor
from torch.utils.hooks import RemovableHandle

from pocketmt.models.networks import make_network
from pocketmt.models.presets import preset
from pocketmt.training.data import Batch, make_batch
from pocketmt.training.loop import Division, LoopSettings, Progress, TrainingLoop
from pocketmt.training.objectives import TranslationObjective
from pocketmt.training.steps import share_of_epoch

ARCHITECTURE = preset("tiny", 20)
PAIRS = [([5 + index % 7] * (1 + index % 3), [6 + index % 5] * (1 + index % 4)) for index in range(12)]
EQUALLY_LONG = [([5 + index % 7, 4, 5], [6 + index % 5, 7, 8]) for index in range(16)]  # Two batches of eight.
UPDATES = 3


def fail() -> NoReturn:
    """Report that memory has run out."""
    raise torch.OutOfMemoryError("CUDA out of memory.")


class Events:
    """A reporter that keeps events."""

    def __init__(self) -> None:
        """Start without events."""
        self.events: list[dict[str, Any]] = []

    def event(self, kind: str, update: int, **values: Any) -> None:
        """Keep an event."""
        self.events.append({"event": kind, "update": update, **values})

    def advance(self, update: int, loss: float) -> None:
        """Keep the loss of an update."""
        self.events.append({"event": "loss", "update": update, "loss": loss})


class Unsaved:
    """A run that ends after its updates, and saves nothing."""

    def __init__(self, progress: Progress) -> None:
        """Follow the progress of a loop."""
        self.progress = progress

    def validate(self) -> None:
        """Score nothing."""

    def save(self) -> None:
        """Save nothing."""

    def finished(self) -> bool:
        """Return whether all updates are done."""
        return self.progress.update >= UPDATES


def trained(most_sentences: int, in_backward: bool = False) -> tuple[list[Tensor], list[dict[str, Any]]]:
    """Train where memory holds `most_sentences` at once; returns the weights and the events."""
    fabric = Fabric(accelerator="cpu", devices=1)
    torch.manual_seed(1)
    network = make_network(ARCHITECTURE)  # Without dropout.
    # Adam would enlarge differences of gradients that are almost 0.
    model, optimizer = fabric.setup(network, torch.optim.SGD(network.parameters()))
    translation = TranslationObjective(
        model=model, network=network, smoothing=0.1, teacher=None, cross_entropy_weight=0.0, autocast=nullcontext
    )

    hooks: list[RemovableHandle] = []

    def objective(batch: Batch) -> Tensor:
        while hooks:
            hooks.pop().remove()
        if len(batch.targets) <= most_sentences:
            return translation(batch)
        if not in_backward:
            fail()
        hooks.append(network.output_weight.register_hook(lambda gradient: fail()))  # type: ignore[no-untyped-call]
        return translation(batch)

    def batches(epoch: int, done: int) -> Iterator[tuple[list[Batch], int, int]]:
        return share_of_epoch(fabric, ARCHITECTURE, EQUALLY_LONG, 32, epoch, done, 2)

    progress, events = Progress(), Events()
    loop = TrainingLoop(
        fabric=fabric,
        model=model,
        optimizer=optimizer,
        objective=objective,
        batches=batches,
        settings=LoopSettings(
            updates=UPDATES, seed=1, rate=lambda _: 0.1, clip_norm=1.0, validate_every=100, checkpoint_every=100
        ),
        hooks=[],
        progress=progress,
        reporter=events,  # type: ignore[arg-type]
    )
    loop.train(Unsaved(progress))
    return [each.detach().clone() for each in network.parameters()], events.events


@pytest.mark.parametrize("in_backward", [False, True])
@pytest.mark.parametrize(("most_sentences", "halvings"), [(4, 1), (2, 2), (1, 3)])
def test_batches_are_computed_in_parts(most_sentences: int, halvings: int, in_backward: bool) -> None:
    expected, events = trained(100)
    losses = [each["loss"] for each in events]
    weights, events = trained(most_sentences, in_backward)
    torch.testing.assert_close(weights, expected, rtol=1e-4, atol=1e-5)
    assert [each["event"] for each in events[:-UPDATES]] == ["out_of_memory"] * halvings
    assert [each["update"] for each in events[:-UPDATES]] == [1] * halvings  # Later batches are divided from the start.
    assert events[0]["batches"] == 2
    assert events[0]["computed_in_parts"] == 4
    assert [each["loss"] for each in events[-UPDATES:]] == pytest.approx(losses, rel=1e-4)


def test_a_sentence_that_does_not_fit_ends_the_run() -> None:
    with pytest.raises(torch.OutOfMemoryError):
        trained(0)


def test_several_processes_do_not_wait_for_one_without_memory() -> None:
    fabric: Any = SimpleNamespace(
        world_size=2, global_rank=0, no_backward_sync=lambda model, enabled: nullcontext(), device="cpu"
    )
    loop: Any = TrainingLoop(
        fabric=fabric,
        model=None,  # type: ignore[arg-type]
        optimizer=None,  # type: ignore[arg-type]
        objective=lambda batch: fail(),
        batches=lambda epoch, done: iter([([make_batch(PAIRS, ARCHITECTURE, "cpu")], 10, 1)]),
        settings=LoopSettings(
            updates=1, seed=1, rate=lambda _: 0.01, clip_norm=1.0, validate_every=100, checkpoint_every=100
        ),
        hooks=[],
        progress=(progress := Progress()),
    )
    with pytest.raises(torch.OutOfMemoryError):
        loop.train(Unsaved(progress))
    assert loop.division.halvings == 0


def test_halves_have_every_sentence_once() -> None:
    batch = make_batch(PAIRS[:5], ARCHITECTURE, "cpu")
    parts = Division(2).parts([batch])
    assert [len(part.targets) for part in parts] == [1, 1, 1, 2]
    assert sum(part.target_tokens for part in parts) == batch.target_tokens
    for name in ("source", "target_inputs", "targets"):
        assert torch.equal(torch.cat([getattr(part, name) for part in parts]), getattr(batch, name))
    assert Division(9).parts([batch])[0].halves()[0].target_tokens == len(PAIRS[0][1]) + 1
