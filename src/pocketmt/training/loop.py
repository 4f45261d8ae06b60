"""The training loop of training, retraining and the language model: updates, logging, validation and checkpoints.

Lightning Fabric runs the same code on a CPU or a GPU, in one process or several.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Protocol, Self, TypeVar

import torch
from torch import Tensor
from torch.optim import Optimizer

from pocketmt.training.hooks import Hook
from pocketmt.training.reporter import LOG_EVERY, Reporter
from pocketmt.training.steps import backward, seed_update, step

if TYPE_CHECKING:
    from lightning_fabric import Fabric
    from lightning_fabric.wrappers import _FabricModule


class CountedBatch(Protocol):
    """A batch with a known number of target tokens."""

    @property
    def target_tokens(self) -> int:
        """Number of target tokens, without padding."""
        ...

    def halves(self) -> Sequence[Self]:
        """Return the sentences in two batches, or this batch if it has only one."""
        ...


B = TypeVar("B", bound=CountedBatch)
# Called with an epoch and the number of its batches that are done. Yields this process's batches of each update, the
# number of target tokens in the batches of all processes, and the number of batches that are done after it.
Batches = Callable[[int, int], Iterator[tuple[Sequence[B], int, int]]]


@dataclass
class Progress:
    """Progress of a run, which a checkpoint holds besides weights and optimizer state."""

    update: int = 0
    epoch: int = 0
    batch: int = 0  # Number of batches of the epoch that are done, by all processes together.


@dataclass
class Division:
    """How often batches are halved, so that memory suffices for each part."""

    halvings: int = 0

    def parts(self, batches: Sequence[B]) -> list[B]:
        """Return the parts of batches."""
        parts = list(batches)
        for _ in range(self.halvings):
            parts = [half for part in parts for half in part.halves()]
        return parts


@dataclass(frozen=True, kw_only=True)
class LoopSettings:
    """Settings of a loop.

    Attributes:
        updates: number of updates of the whole run.
        seed: random seed; each update seeds its dropout by this seed and its number.
        rate: maps an update, counted from 1, to its learning rate.
        clip_norm: largest norm of all gradients together.
        validate_every: updates between validations; there is also one after the last update.
        validate_at: an additional update after which there is a validation, if any.
        checkpoint_every: updates between checkpoints; there is also one after every validation.
    """

    updates: int
    seed: int
    rate: Callable[[int], float]
    clip_norm: float
    validate_every: int
    validate_at: int | None = None
    checkpoint_every: int

    def validates(self, update: int) -> bool:
        """Return whether there is a validation after an update."""
        return update % self.validate_every == 0 or update in (self.updates, self.validate_at)


class Run(Protocol):
    """The run that a loop trains: it scores and saves the network."""

    def validate(self) -> None:
        """Score the network and keep it if it is the best so far."""
        ...

    def save(self) -> None:
        """Save a checkpoint from which the run can resume."""
        ...

    def finished(self) -> bool:
        """Return whether training is complete."""
        ...


@dataclass(frozen=True, kw_only=True)
class TrainingLoop(Generic[B]):
    """The training loop in one process of a run.

    Attributes:
        fabric: device and processes.
        model: the network, wrapped by Fabric.
        optimizer: the optimizer, wrapped by Fabric.
        objective: maps a batch to its loss, summed over its target tokens, in nats.
        batches: yields the batches of an epoch.
        settings: settings of the loop.
        hooks: called around each update.
        progress: progress of the run, which the loop changes.
        reporter: logs updates; None: nothing is logged.
        division: of the batches; the loop divides them further when memory runs out.
    """

    fabric: "Fabric"
    model: "_FabricModule"
    optimizer: Optimizer
    objective: Callable[[B], Tensor]
    batches: Batches[B]
    settings: LoopSettings
    hooks: Sequence[Hook]
    progress: Progress
    reporter: Reporter | None = None
    division: Division = field(default_factory=Division)

    def train(self, run: Run) -> None:
        """Train until the run is finished.

        Raises DivergedError if a gradient is not finite.
        """
        while not run.finished():
            self._train_epoch(run)

    def _train_epoch(self, run: Run) -> None:
        """Train on the rest of the epoch, or until the run is finished."""
        progress = self.progress
        for batches, total_tokens, done in self.batches(progress.epoch, progress.batch):
            progress.batch = done
            progress.update += 1
            loss = self._update(batches, total_tokens)
            self._report(loss)
            validated = self.settings.validates(progress.update)
            if validated:
                run.validate()
            finished = run.finished()
            if validated or finished or progress.update % self.settings.checkpoint_every == 0:
                run.save()
            if finished:
                return
        progress.epoch += 1
        progress.batch = 0

    def _update(self, batches: Sequence[B], total_tokens: int) -> float:
        """Do one update; returns the loss of this process's batches, in nats per target token."""
        update, settings = self.progress.update, self.settings
        seed_update(self.fabric, settings.seed, update)
        for hook in self.hooks:
            if hook.enabled:
                hook.before_forward(update)
        while (loss := self._add_gradients(self.division.parts(batches), total_tokens)) is None:
            # After the error, because its traceback holds the memory of the batch.
            self._divide_further(batches)
        for hook in self.hooks:
            if hook.enabled:
                hook.after_backward()
        step(self.fabric, self.model, self.optimizer, settings.rate(update), settings.clip_norm)
        for hook in reversed(self.hooks):
            if hook.enabled:
                hook.after_step(update)
        return loss / sum(batch.target_tokens for batch in batches)

    def _add_gradients(self, batches: Sequence[B], total_tokens: int) -> float | None:
        """Add the gradients of batches; returns their loss, summed over target tokens, or None if memory runs out.

        Several processes wait for each other's gradients, so there the error is raised, as it is if no batch can be
        divided.
        """
        losses = []
        try:
            for part, batch in enumerate(batches):
                if part > 0:
                    seed_update(self.fabric, self.settings.seed, self.progress.update, part)
                # Processes exchange the gradients of all batches at once.
                with self.fabric.no_backward_sync(self.model, enabled=part + 1 < len(batches)):
                    loss = self.objective(batch)
                    backward(self.fabric, self._with_penalties(loss) if part == 0 else loss, total_tokens)
                losses.append(loss.detach())
        except torch.OutOfMemoryError:
            if self.fabric.world_size > 1 or all(len(batch.halves()) == 1 for batch in batches):
                raise
            return None
        return float(sum(losses))

    def _divide_further(self, batches: Sequence[B]) -> None:
        """Drop the gradients of an update, and halve its batches and all later ones once more."""
        self.optimizer.zero_grad(set_to_none=True)
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        self.division.halvings += 1
        if self.reporter is not None:
            parts = len(self.division.parts(batches))
            self.reporter.event("out_of_memory", self.progress.update, batches=len(batches), computed_in_parts=parts)
        seed_update(self.fabric, self.settings.seed, self.progress.update)

    def _with_penalties(self, loss: Tensor) -> Tensor:
        """Add the penalties of hooks. Gradients are averaged over processes, so each adds only its share of them."""
        penalties = [penalty for hook in self.hooks if (penalty := hook.penalty()) is not None]
        return loss + sum(penalties, loss.new_zeros(())) / self.fabric.world_size if penalties else loss

    def _report(self, loss: float) -> None:
        update, reporter = self.progress.update, self.reporter
        if reporter is None:
            return
        if update % LOG_EVERY == 0:
            rate = self.settings.rate(update)
            reporter.event("train", update, epoch=self.progress.epoch, loss=loss, learning_rate=rate)
        reporter.advance(update, loss)
