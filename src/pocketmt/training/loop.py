"""The one training loop, on Lightning Fabric: CPU or GPU, one process or several, by the same code."""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from lightning_fabric import Fabric

from pocketmt.errors import DataError
from pocketmt.models.network import TranslationNetwork
from pocketmt.models.networks import make_network
from pocketmt.text.corpus import read_lines
from pocketmt.text.vocabulary import Vocabulary
from pocketmt.training.checkpoints import Snapshots, claim_folder, load_checkpoint, save_checkpoint, save_weights
from pocketmt.training.configuration import Configuration
from pocketmt.training.data import Batch, Corpus, load_corpus, read_vocabulary
from pocketmt.training.objectives import taught_loss
from pocketmt.training.progress import LOG_EVERY, Reporter
from pocketmt.training.schedule import training_rate
from pocketmt.training.steps import (
    backward,
    make_dropouts,
    make_fabric,
    make_optimizer,
    seed_update,
    share_of_epoch,
    step,
)
from pocketmt.training.validation import validate


@dataclass
class Position:
    """Where a run is: all that changes besides weights and optimizer state."""

    update: int = 0
    epoch: int = 0
    batch: int = 0  # batches of the epoch that are done, of all processes together
    best_bleu: float = -1.0
    best_update: int = 0
    finished: bool = False


# The name of a teacher -> its network in evaluation mode, and its vocabulary.
OpenTeacher = Callable[[str], tuple[TranslationNetwork, Vocabulary]]


def train(configuration: Configuration, folder: Path, open_teacher: OpenTeacher | None = None) -> Position:
    """Train a model into `folder`, or go on where an earlier run of the same configuration stopped.

    The folder then holds vocabulary.model, model.safetensors (averaged weights of the best validation), log.jsonl,
    configuration.json, and what is needed to go on.

    Args:
        configuration: what to do.
        folder: of the run, made where it is missing.
        open_teacher: reads the configuration's teacher, in each process; needed where there is one.

    Raises:
        ConfigurationError: the folder holds another run.
        DataError: as `load_corpus` does; the teacher's vocabulary is not the one that is trained with.
    """
    _check_teacher(configuration, open_teacher)
    data = configuration.data
    for pair in [*data.training_files, (Path(data.validation_source), Path(data.validation_target))]:
        for file in pair:
            next(read_lines(file), None)  # one that cannot be read is told before the folder is this run's
    folder.mkdir(parents=True, exist_ok=True)
    claim_folder(folder, "configuration.json", configuration, "run with another configuration")
    settings = configuration.training
    fabric = make_fabric(settings)
    position: Position = fabric.launch(_run, configuration, folder, open_teacher)  # type: ignore[arg-type]
    return position


def _check_teacher(configuration: Configuration, open_teacher: OpenTeacher | None) -> None:
    """Raise DataError, before the run has a folder, where the teacher's vocabulary is not the run's."""
    teacher, vocabulary = configuration.training.teacher, configuration.data.vocabulary
    if teacher is None:
        return
    assert open_teacher is not None
    _, taught = open_teacher(teacher)
    if vocabulary is None or read_vocabulary(Path(vocabulary)).model != taught.model:
        raise DataError(
            f"the vocabulary of the teacher {teacher} is not the one to train with: "
            f"take the teacher's, by [data] vocabulary = {teacher!r}"
        )


def _run(fabric: Fabric, configuration: Configuration, folder: Path, open_teacher: OpenTeacher | None) -> Position:
    """What every process does."""
    if configuration.training.threads:
        torch.set_num_threads(configuration.training.threads)
    if fabric.global_rank == 0:
        load_corpus(configuration.data, folder / "vocabulary.model")  # the others find the vocabulary made
    fabric.barrier()
    corpus = load_corpus(configuration.data, folder / "vocabulary.model")
    teacher = configuration.training.teacher
    network = None if teacher is None or open_teacher is None else open_teacher(teacher)[0]
    run = Run(fabric, configuration, folder, corpus, network)
    try:
        run.go()
    finally:
        run.reporter.close()
    return run.position


class Run:
    """One process's share of a training run."""

    def __init__(
        self,
        fabric: Fabric,
        configuration: Configuration,
        folder: Path,
        corpus: Corpus,
        teacher: TranslationNetwork | None = None,
    ) -> None:
        """Build model and optimizer, and take up the folder's checkpoint where there is one."""
        self.fabric = fabric
        self.settings = configuration.training
        self.folder = folder
        self.corpus = corpus
        self.teacher = None if teacher is None else teacher.to(fabric.device)
        self.languages = {"source": configuration.data.source_language, "target": configuration.data.target_language}
        torch.manual_seed(self.settings.seed)
        architecture = configuration.model.architecture(len(corpus.vocabulary))
        self.network = make_network(architecture, make_dropouts(configuration.model))
        self.model, self.optimizer = fabric.setup(self.network, make_optimizer(self.network.parameters()))
        self.snapshots = Snapshots(folder / "snapshots", self.settings.averaged_checkpoints)
        self.position = Position()
        checkpoint = folder / "checkpoint.pt"
        if checkpoint.exists():
            state = load_checkpoint(checkpoint)
            self.network.load_state_dict(state["weights"])
            self.optimizer.load_state_dict(state["optimizer"])
            self.position = Position(**state["position"])
        fabric.barrier()
        if fabric.is_global_zero:
            self.snapshots.forget(self.position.update)
        self.reporter = Reporter(
            folder / "log.jsonl",
            self.settings.maximum_updates,
            self.position.update,
            # Without a checkpoint the run begins anew, and so does its log.
            lambda event: 0 < self.position.update >= event.get("update", 0),
            fabric.is_global_zero,
        )

    def go(self) -> None:
        """Train until the run is finished."""
        start: dict[str, Any] = {"pairs": len(self.corpus.training), "left_out": self.corpus.left_out}
        if self.position.update == 0:
            self.reporter.event("start", 0, vocabulary=len(self.corpus.vocabulary), **start)
        while not self.position.finished:
            self._train_epoch()

    def _train_epoch(self) -> None:
        """Train on what is left of the epoch, or until the run is finished."""
        settings, position = self.settings, self.position
        order = settings.seed * 1_000_003 + position.epoch
        shares = share_of_epoch(self.fabric, self.corpus.training, settings.batch_tokens, order, position.batch)
        for batch, total_tokens, done in shares:
            position.batch = done
            loss = self._update(batch, total_tokens)
            self._after_update(loss)
            if self.position.finished:
                return
        self.position.epoch += 1
        self.position.batch = 0

    def _update(self, batch: Batch, total_tokens: int) -> float:
        """One optimizer step; returns the smoothed loss in nats a token of this process's batch."""
        self.position.update += 1
        settings = self.settings
        seed_update(self.fabric, settings.seed, self.position.update)
        share = settings.references_share if settings.objective == "mixed" else 0.0
        output = self.network.embedding.weight
        with self.fabric.autocast():
            loss = taught_loss(self.model, output, batch, settings.label_smoothing, self.teacher, share)
        backward(self.fabric, loss, total_tokens)
        step(self.fabric, self.model, self.optimizer, self._rate(), settings.clip_norm)
        return loss.item() / batch.target_tokens

    def _rate(self) -> float:
        """Return the learning rate of the update that the run is at."""
        settings = self.settings
        return training_rate(
            self.position.update,
            settings.learning_rate,
            settings.warmup_updates,
            settings.maximum_updates,
            settings.cooldown_updates,
        )

    def _after_update(self, loss: float) -> None:
        """Log, validate and save where it is time."""
        update, settings = self.position.update, self.settings
        last = update >= settings.maximum_updates
        if update % LOG_EVERY == 0:
            self.reporter.event("train", update, epoch=self.position.epoch, loss=loss, learning_rate=self._rate())
        self.reporter.advance(update, loss)
        validating = update % settings.validate_every == 0 or last
        if validating:
            self._validate()
        if last or self.position.best_update + settings.patience * settings.validate_every <= update:
            self.position.finished = True
        if validating or update % settings.checkpoint_every == 0:
            self._save()

    def _validate(self) -> None:
        """Score the average of the last snapshots, and keep it where it is the best so far; one process for all."""
        best = [self.position.best_bleu, float(self.position.best_update)]
        if self.fabric.is_global_zero:
            update = self.position.update
            average = self.snapshots.add(update, self.network.state_dict())
            averaged = make_network(self.network.architecture).to(self.fabric.device)
            averaged.load_state_dict(average)
            scores = validate(averaged, self.corpus, self.settings.batch_tokens * 4)
            self.reporter.event("validation", update, epoch=self.position.epoch, loss=scores.loss, bleu=scores.bleu)
            if scores.bleu > self.position.best_bleu:
                best = [scores.bleu, float(update)]
                metadata = {
                    "architecture": self.network.architecture.to_json(),
                    "languages": self.languages,
                    "training": {
                        "update": update,
                        "epoch": self.position.epoch,
                        "seed": self.settings.seed,
                        "validation_bleu": round(scores.bleu, 3),
                        "validation_loss": round(scores.loss, 5),
                    },
                }
                save_weights(self.folder / "model.safetensors", average, metadata)
        best = self.fabric.broadcast(best)
        self.position.best_bleu, self.position.best_update = best[0], int(best[1])

    def _save(self) -> None:
        """Save what is needed to go on from here."""
        if self.fabric.is_global_zero:
            state = {
                "weights": self.network.state_dict(),
                "optimizer": self.optimizer.state_dict(),
                "position": dataclasses.asdict(self.position),
            }
            save_checkpoint(self.folder / "checkpoint.pt", state)
            self.snapshots.forget(self.position.update)
        self.fabric.barrier()
