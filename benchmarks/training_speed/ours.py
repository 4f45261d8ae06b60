"""The training loop of `pocketmt train`, timed."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from torch import Tensor

from benchmarks.training_speed.plan import Clock, TrainingPlan
from pocketmt.model_file import Architecture
from pocketmt.models.dropout import Dropouts
from pocketmt.models.networks import make_network
from pocketmt.training.configuration import Precision, Training
from pocketmt.training.data import Pair
from pocketmt.training.loop import LoopSettings, Progress, TrainingLoop
from pocketmt.training.objectives import TranslationObjective
from pocketmt.training.steps import compile_layers, make_fabric, make_optimizer, share_of_epoch


class _Run:
    """A run that ends after some updates, and saves nothing."""

    def __init__(self, progress: Progress, updates: int) -> None:
        self._progress, self._updates = progress, updates

    def validate(self) -> None:
        """Do nothing."""

    def save(self) -> None:
        """Do nothing."""

    def finished(self) -> bool:
        """Return whether all updates are done."""
        return self._progress.update >= self._updates


def train_ours(
    architecture: Architecture,
    weights: Mapping[str, Tensor],
    pairs: Sequence[Pair],
    plan: TrainingPlan,
    precision: Precision,
    compiled: bool,
) -> tuple[list[float], float]:
    """Train by the loop of `pocketmt train`; returns the loss of each update and target tokens a second."""
    accelerator = "cuda" if plan.device == "cuda" else "cpu"
    fabric = make_fabric(Training(accelerator=accelerator, precision=precision))  # type: ignore[arg-type]
    network = make_network(architecture, Dropouts(plan.dropout, 0.0, 0.0))
    network.load_state_dict(weights)
    if compiled:
        compile_layers(network)
    model, optimizer = fabric.setup(network, make_optimizer(network.parameters()))
    progress, clock, tokens = Progress(), Clock(plan), []

    def batches(epoch: int, done: int) -> Any:
        for batch, total, after in share_of_epoch(fabric, architecture, pairs, plan.batch_tokens, plan.seed, done):
            tokens.append(total)
            yield batch, total, after

    loop = TrainingLoop(
        fabric=fabric,
        model=model,
        optimizer=optimizer,
        objective=TranslationObjective(model=model, network=network, smoothing=0.0, autocast=fabric.autocast),
        batches=batches,
        settings=LoopSettings(
            updates=plan.updates,
            seed=plan.seed,
            rate=lambda update: plan.rate,
            clip_norm=1.0,
            validate_every=plan.updates,
            checkpoint_every=plan.updates,
        ),
        hooks=[],
        progress=progress,
        reporter=cast("Any", clock),
    )
    network.train()
    loop.train(_Run(progress, plan.updates))
    return clock.losses, sum(tokens[plan.warm_up : plan.updates]) / (clock.now() - clock.began)
