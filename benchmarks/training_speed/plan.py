"""A training that is timed, and its clock."""

import random
import time
from dataclasses import dataclass
from typing import Any

import torch

from pocketmt.training.data import Pair

SHORTEST, LONGEST = 5, 60  # Pieces of a source.
_FEW = 25  # Fewer than the pieces of a pair on average, so that there are enough pairs.


@dataclass(frozen=True)
class TrainingPlan:
    """A training that is timed.

    Attributes:
        device: "cuda" or "torch-cpu".
        vocabulary: number of pieces.
        batch_tokens: pieces of a batch, padding included, on the longer side.
        warm_up: first updates, which are not timed.
        updates: updates in all.
        dropout: rate of embeddings and of the outputs of sub-layers.
        rate: learning rate of all updates.
        seed: of the pairs, the weights and the batches.
    """

    device: str
    vocabulary: int
    batch_tokens: int
    warm_up: int
    updates: int
    dropout: float
    rate: float = 1e-4
    seed: int = 1

    @property
    def place(self) -> torch.device:
        """The device, for PyTorch."""
        return torch.device("cuda" if self.device == "cuda" else "cpu")


def random_pairs(plan: TrainingPlan) -> list[Pair]:
    """Return pairs of piece ids without eos, enough for all updates; both sides of a pair have similar lengths."""
    draw = random.Random(plan.seed)
    pairs = []
    for _ in range((plan.updates + 2) * plan.batch_tokens // _FEW):
        length = draw.randint(SHORTEST, LONGEST)
        sides = [[draw.randrange(4, plan.vocabulary) for _ in range(length + draw.randint(-3, 3))] for _ in range(2)]
        pairs.append((sides[0], sides[1]))
    return pairs


class Clock:
    """Records the loss of each update, and the time from the end of the warm-up on; it is a loop's reporter."""

    def __init__(self, plan: TrainingPlan) -> None:
        self.losses: list[float] = []
        self._warm_up, self._device = plan.warm_up, plan.place
        self.began = 0.0

    def event(self, name: str, update: int, **fields: Any) -> None:
        """Do nothing."""

    def advance(self, update: int, loss: float) -> None:
        """Take note of an update, counted from 1."""
        self.losses.append(loss)
        if update == self._warm_up:
            self.began = self.now()

    def now(self) -> float:
        """Return the time in seconds, when the device has done its work."""
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)
        return time.perf_counter()
