"""What all stages of a compression share, and where it is."""

from collections import Counter
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from lightning_fabric import Fabric

from pocketmt.recipes.description.plan import PlannedStage
from pocketmt.recipes.retraining.texts import Texts
from pocketmt.recipes.row_groups import RowGroup
from pocketmt.recipes.trained_model import TrainedModel
from pocketmt.text.vocabulary import EOS
from pocketmt.training.configuration import Model, Training
from pocketmt.training.data import Corpus
from pocketmt.training.progress import Reporter


@dataclass
class Position:
    """Where a compression is: all that changes besides weights, methods and optimizer."""

    stage: int = 0
    update: int = -1  # of the stage; -1 before its first validation
    trial: int = 0  # estimates of ranges after training that are done
    epoch: int = 0
    batch: int = 0  # batches of the epoch that are done, of all processes together
    best_loss: float | None = None  # of what is kept, nats a token; None: nothing is kept yet

    @property
    def reached(self) -> tuple[int, int, int]:
        """How far the compression is; later positions are greater."""
        return (self.stage, self.update, self.trial)

    def finishes(self, plan: PlannedStage) -> bool:
        """Return whether nothing of its stage is left to do."""
        updates = 0 if plan.retraining is None else plan.retraining.updates
        trials = 0 if plan.estimation is None or plan.retraining is not None else plan.estimation.trials
        return self.update >= updates and self.trial >= trials


@dataclass(frozen=True)
class Settings:
    """How the model was trained, and is retrained wherever a recipe says nothing else."""

    model: Model = field(default_factory=Model)
    training: Training = field(default_factory=Training)


@dataclass(frozen=True)
class Setting:
    """What all stages of a compression share."""

    fabric: Fabric
    folder: Path
    model: TrainedModel
    seed: int
    reporter: Reporter
    texts: Texts
    settings: Settings


def piece_counts(corpus: Corpus | None, pieces: int) -> list[int]:
    """Return how often each piece occurs in the training text, by its id, the end of each sentence counted."""
    counts: Counter[int] = Counter()
    for source, target in corpus.training if corpus is not None else ():
        counts.update(chain(source, target))
        counts[EOS] += 2
    return [counts[piece] for piece in range(pieces)]


def row_groups(plan: PlannedStage, counts: list[int]) -> dict[str, tuple[RowGroup, ...]]:
    """Return the row groups of each of a stage's matrices."""
    return {name: division.groups(counts) for name, division in plan.matrices.items()}


def best_file(folder: Path, stage: int) -> Path:
    """Return where a stage's outcome is kept."""
    return folder / f"best.{stage}.pt"
