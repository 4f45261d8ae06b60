"""Context that all stages of a compression share, and the progress of the compression."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pocketmt.compression.plan import PlannedStage
from pocketmt.compression.texts import Texts
from pocketmt.model_file.architecture import Architecture
from pocketmt.models.inputs import encoder_input
from pocketmt.models.network import TranslationNetwork
from pocketmt.training.configuration import Model, Training
from pocketmt.training.data import Corpus
from pocketmt.training.loop import Progress
from pocketmt.training.reporter import Reporter

if TYPE_CHECKING:
    from lightning_fabric import Fabric


@dataclass
class CompressionProgress(Progress):
    """How far a compression is."""

    update: int = -1  # of the stage; -1 before its first validation
    stage: int = 0
    trial: int = 0  # estimates of ranges after training that are done
    best_loss: float | None = None  # of the result that is kept, nats a token; None: none is kept yet

    @property
    def reached(self) -> tuple[int, int, int]:
        """A position in the log; later ones are greater."""
        return (self.stage, self.update, self.trial)

    def finishes(self, plan: PlannedStage) -> bool:
        """Return whether nothing of its stage is left to do."""
        trials = 0 if plan.estimation is None or plan.retraining is not None else plan.estimation.trials
        return self.update >= plan.updates and self.trial >= trials


@dataclass(frozen=True)
class TrainingDefaults:
    """How the model was trained, and is retrained where a recipe does not say otherwise."""

    model: Model = field(default_factory=Model)
    training: Training = field(default_factory=Training)


@dataclass(frozen=True, kw_only=True)
class StageContext:
    """What all stages of a compression share.

    Attributes:
        fabric: knows device and processes.
        folder: of the compression.
        architecture: of the network before any pruning.
        prunes_units: whether any stage prunes heads or nodes.
        seed: of the recipe.
        reporter: logs events.
        texts: to train and validate on.
        counts: occurrences of each piece in the training text, as `piece_counts` returns them.
        defaults: of retraining.
        make_teacher: returns the uncompressed model's network.
    """

    fabric: "Fabric"
    folder: Path
    architecture: Architecture
    prunes_units: bool
    seed: int
    reporter: Reporter
    texts: Texts
    counts: dict[str, list[int]]
    defaults: TrainingDefaults
    make_teacher: Callable[[], TranslationNetwork]

    def result_file(self, stage: int) -> Path:
        """Return the file of a stage's result."""
        return self.folder / f"best.{stage}.pt"

    def stage_seed(self, stage: int) -> int:
        """Return the seed of a stage's updates."""
        return self.seed * 1_009 + stage + 1


def piece_counts(corpus: Corpus | None, architecture: Architecture) -> dict[str, list[int]]:
    """Return the occurrences of each piece in the training text, by its id, for each matrix whose rows are pieces.

    An embedding of both sides counts both; each end of a sentence counts.
    """
    sources: Counter[int] = Counter()
    targets: Counter[int] = Counter()
    for source, target in corpus.training if corpus is not None else ():
        sources.update(encoder_input(architecture, source))
        targets.update((*target, architecture.eos_id))
    counted = {"embedding.weight": targets if architecture.embeddings == "separate" else sources + targets}
    if architecture.embeddings == "separate":
        counted["source_embedding.weight"] = sources
    if architecture.output_projection == "untied":
        counted["output.weight"] = targets
    shapes = architecture.parameter_shapes()
    return {name: [counts[piece] for piece in range(shapes[name][0])] for name, counts in counted.items()}
