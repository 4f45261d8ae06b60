"""Training runs: from a configuration and parallel text to a folder with a trained model."""

import dataclasses
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

import msgspec
import torch

from pocketmt.errors import ConfigurationError, DataError
from pocketmt.model_file.ensemble import Common
from pocketmt.model_file.manifest import DEFAULT_UNIT
from pocketmt.models.network import TranslationNetwork
from pocketmt.models.networks import make_network
from pocketmt.text.corpus import read_lines
from pocketmt.text.languages import check_same_languages
from pocketmt.text.vocabulary import Vocabularies
from pocketmt.training.bleu_tokenization import WORDS, Tokenization, bleu_tokenization, tokenization_metadata
from pocketmt.training.checkpoints import Snapshots, load_checkpoint, save_checkpoint, save_weights
from pocketmt.training.configuration import Configuration, Training, without_changeable_settings, without_locations
from pocketmt.training.data import Batch, Corpus, check_teacher, load_corpus
from pocketmt.training.given_vocabulary import read_vocabulary
from pocketmt.training.inputs import INPUTS, RunInputs, check_inputs, read_texts, record_inputs
from pocketmt.training.loop import LoopSettings, Progress, TrainingLoop
from pocketmt.training.objectives import TranslationObjective
from pocketmt.training.reporter import Reporter
from pocketmt.training.run_folder import check_settings, read_settings, record_settings, run_folder
from pocketmt.training.schedule import training_rate
from pocketmt.training.steps import (
    DivergedError,
    check_devices,
    compile_layers,
    is_first_process,
    launch,
    launched_processes,
    make_dropouts,
    make_fabric,
    make_optimizer,
    share_of_epoch,
)
from pocketmt.training.validation import validate

if TYPE_CHECKING:
    from lightning_fabric import Fabric

SETTINGS: Final = "configuration.json"
VOCABULARY: Final = "vocabulary.model"
LOG: Final = "log.jsonl"
CHECKPOINT: Final = "checkpoint.pt"
SNAPSHOTS: Final = "snapshots"
MODEL: Final = "model.safetensors"
ANOTHER_RUN: Final = "run with another configuration"
FILES: Final = (INPUTS, VOCABULARY, LOG, CHECKPOINT, SNAPSHOTS)  # What an unfinished run leaves, beside SETTINGS.


@dataclass
class TrainingProgress(Progress):
    """Progress of a training run."""

    best_bleu: float = -1.0
    tokenization: Tokenization = WORDS  # Of BLEU, for the whole run; checkpoints of earlier versions do not have it.
    best_loss: float = -math.inf  # With `best_bleu`; checkpoints of earlier versions do not have it.
    best_update: int = 0
    validated_update: int = 0  # The last one; checkpoints of earlier versions do not have it.
    finished: bool = False


class TeacherModel(Protocol):
    """A trained model that a configuration names as its teacher."""

    vocabularies: Vocabularies
    languages: dict[str, str]
    common: Common

    @property
    def digest(self) -> str:
        """The digest of its weights."""
        ...

    def decoded_network(self) -> TranslationNetwork:
        """Return the network in evaluation mode, in float32."""
        ...


# Opens the model that a configuration names as its teacher.
OpenTeacher = Callable[[str], TeacherModel]


def train(configuration: Configuration, folder: Path, open_teacher: OpenTeacher | None = None) -> TrainingProgress:
    """Train a model into `folder`, or resume an earlier run of the same configuration.

    What `CHANGEABLE` lists may differ from the earlier run, and files may have been moved. With more `maximum_updates`
    or `patience` than before, a finished run continues from its last checkpoint.

    The folder then holds vocabulary.model, model.safetensors (averaged weights of the best validation), log.jsonl,
    configuration.json, inputs.json (digests of the text and the teacher), and a checkpoint to resume from.

    Args:
        configuration: configuration of the run.
        folder: folder of the run, created if it is missing.
        open_teacher: opens the teacher; required if the configuration names one.

    Returns:
        The progress at the end of training.

    Raises:
        ConfigurationError: the folder holds another run, a run on other text or by another teacher, more updates than
            `maximum_updates`, or files of no run; or the teacher translates other languages; or as `check_devices`.
        LockedError: another process is training in the folder.
        DataError: as `read_texts` and `load_corpus` do, or the teacher has another vocabulary than the run.
        DivergedError: a gradient or the validation loss is not finite.

    As long as the folder holds neither a checkpoint nor a model, an error removes all that was written.
    """
    if launched := launched_processes():
        training = msgspec.structs.replace(configuration.training, devices=launched)
        configuration = msgspec.structs.replace(configuration, training=training)
    check_devices(configuration.training)
    teacher = _open_teacher(configuration, open_teacher)
    data = configuration.data
    for source, target in [*data.training_files, data.validation_files]:
        # An unreadable file is reported before the folder is created.
        next(read_lines(source, "source", data.languages), None)
        next(read_lines(target, "target", data.languages), None)

    def holds_result(error: BaseException | None) -> bool:
        # The checkpoint of a run that diverged before its first validation leads to the same divergence.
        kept = (MODEL,) if isinstance(error, DivergedError) else (MODEL, CHECKPOINT)
        return any((folder / name).exists() for name in kept)

    if not is_first_process():  # The first one locks the folder and writes to it.
        return launch(make_fabric(configuration.training), _run, configuration, folder, teacher)
    _check_folder(folder)
    with run_folder(folder, SETTINGS, Configuration, FILES, holds_result, kept=(MODEL,)):
        _check_configuration(configuration, folder)
        inputs = RunInputs(read_texts(data), None if teacher is None else teacher.digest)
        check_inputs(folder, inputs, configuration.training.teacher)
        record_settings(folder, SETTINGS, configuration, ANOTHER_RUN, _without_changeable_settings_or_locations)
        record_inputs(folder, inputs)
        fabric = make_fabric(configuration.training)
        return launch(fabric, _run, configuration, folder, teacher)


def _check_folder(folder: Path) -> None:
    """Raise ConfigurationError if a folder that holds no run has files that a run would read or overwrite."""
    found = [name for name in (MODEL, VOCABULARY, LOG, CHECKPOINT, SNAPSHOTS) if (folder / name).exists()]
    if found and not (folder / SETTINGS).exists():
        raise ConfigurationError(
            f"{folder} holds {found[0]} but no {SETTINGS}, so it is not the folder of a run: choose another folder"
        )


def _check_configuration(configuration: Configuration, folder: Path) -> None:
    """Check that the folder of a run holds no other run; what its files hold is checked by `check_inputs`.

    Raises ConfigurationError if it does, or if the vocabulary is another one; and as `read_vocabulary` does.
    """
    updates, earlier = configuration.training.maximum_updates, read_settings(folder / SETTINGS, Configuration)
    if earlier is not None and updates < earlier.training.maximum_updates and (folder / CHECKPOINT).exists():
        done = load_checkpoint(folder / CHECKPOINT)["position"]["update"]
        if done > updates:
            raise ConfigurationError(
                f"{folder} holds a run of {done} updates, more than maximum_updates ({updates}): ask for at least "
                f"{done}, or choose another folder"
            )
    if not (folder / INPUTS).exists():  # In the folder of an earlier version, only paths tell which text it is.
        check_settings(folder, SETTINGS, configuration, ANOTHER_RUN, without_changeable_settings)
        return
    check_settings(folder, SETTINGS, configuration, ANOTHER_RUN, _without_changeable_settings_or_locations)
    given, file = configuration.data.vocabulary, folder / VOCABULARY
    if earlier is None or given is None or given == earlier.data.vocabulary or not file.exists():
        return
    if read_vocabulary(Path(given)).stored != read_vocabulary(file).stored:
        raise ConfigurationError(
            f"{given} is another vocabulary than {file}, which the run in {folder} began with: give the same one, "
            "or choose another folder"
        )


def _without_changeable_settings_or_locations(configuration: Configuration) -> Configuration:
    return without_locations(without_changeable_settings(configuration))


def _open_teacher(configuration: Configuration, open_teacher: OpenTeacher | None) -> TeacherModel | None:
    """Return the teacher, if any.

    Raises DataError if it has another vocabulary than the run, or as `check_teacher` does, and ConfigurationError if it
    has other languages.
    """
    name, vocabulary = configuration.training.teacher, configuration.data.vocabulary
    if name is None:
        return None
    assert open_teacher is not None
    teacher = open_teacher(name)
    check_teacher(name, teacher.vocabularies, teacher.common.architecture)
    if vocabulary is None or read_vocabulary(Path(vocabulary)).stored != teacher.vocabularies.source.stored:
        raise DataError(
            f"the vocabulary of the teacher {name} is not that of this run: "
            f"use the teacher's by [data] vocabulary = {name!r}"
        )
    languages = teacher.languages["source"], teacher.languages["target"]
    check_same_languages("this run", configuration.data.languages, f"the teacher {name}", languages)
    return teacher


def _run(
    fabric: "Fabric", configuration: Configuration, folder: Path, teacher: TeacherModel | None
) -> TrainingProgress:
    """Train as one process of the run."""
    if configuration.training.threads:
        torch.set_num_threads(configuration.training.threads)
    load = partial(load_corpus, configuration.data, folder / VOCABULARY)
    corpus = load() if fabric.global_rank == 0 else None  # The first process writes the vocabulary.
    fabric.barrier()
    run = TrainingRun(fabric, configuration, folder, corpus or load(), teacher)
    try:
        run.train()
    finally:
        run.reporter.close()
    return run.progress


class TrainingRun:
    """One process of a training run."""

    def __init__(
        self,
        fabric: "Fabric",
        configuration: Configuration,
        folder: Path,
        corpus: Corpus,
        teacher: TeacherModel | None = None,
    ) -> None:
        """Build the network and the optimizer, and load the checkpoint of the folder, if any."""
        self.fabric = fabric
        self.settings = configuration.training
        self.folder = folder
        self.corpus = corpus
        data = configuration.data
        self.about: dict[str, Any] = {"languages": {"source": data.source_language, "target": data.target_language}}
        if data.unit != DEFAULT_UNIT:
            self.about["unit"] = data.unit
        torch.manual_seed(self.settings.seed)
        architecture = configuration.model.architecture(len(corpus.vocabularies.target))
        self.network = make_network(architecture, make_dropouts(configuration.model))
        if self.settings.compiled:
            compile_layers(self.network)
        self.model, self.optimizer = fabric.setup(self.network, make_optimizer(self.network.parameters()))
        self.snapshots = Snapshots(folder / SNAPSHOTS, self.settings.averaged_checkpoints)
        self.progress = self._load_checkpoint(folder / CHECKPOINT)
        fabric.barrier()
        if fabric.is_global_zero:
            self.snapshots.remove_unneeded(self.progress.update)
        self.reporter = Reporter(
            folder / LOG,
            self.settings.maximum_updates,
            self.progress.update,
            # A run without a checkpoint starts again, so its log does as well.
            lambda event: 0 < self.progress.update >= event.get("update", 0),
            fabric.is_global_zero,
        )
        weight = self.settings.cross_entropy_weight if self.settings.objective == "mixed" else 0.0
        self.objective = TranslationObjective(
            model=self.model,
            network=self.network,
            smoothing=self.settings.label_smoothing,
            teacher=None if teacher is None else teacher.decoded_network().to(fabric.device),
            cross_entropy_weight=weight,
            autocast=fabric.autocast,
        )

    def train(self) -> None:
        """Train until the run is finished."""
        start: dict[str, Any] = {"pairs": len(self.corpus.training), "left_out": self.corpus.left_out}
        if self.progress.update == 0:
            self.reporter.event("start", 0, vocabulary=len(self.corpus.vocabularies.target), **start)
        loop = TrainingLoop(
            fabric=self.fabric,
            model=self.model,
            optimizer=self.optimizer,
            objective=self.objective,
            batches=self._batches,
            settings=_loop_settings(self.settings),
            hooks=[],
            progress=self.progress,
            reporter=self.reporter,
        )
        try:
            if self.finished():
                self._validate_last_update()
            loop.train(self)
        except DivergedError as error:
            raise DivergedError(self._explain_divergence()) from error

    def _validate_last_update(self) -> None:
        """Validate a finished run if its last update was not: `maximum_updates` may have been lowered to it."""
        update = self.progress.update
        if update % self.settings.validate_every and self.progress.validated_update != update:
            self.validate()
            self.save()

    def _explain_divergence(self) -> str:
        settings, model = self.settings, self.folder / MODEL
        kept = f"; {model} is the best model before that" if model.exists() else ""
        return (
            f"training diverged at update {self.progress.update}, a gradient or the validation loss is not "
            f"finite{kept}: lower learning_rate (now {settings.learning_rate:g}) or raise warmup_updates "
            f"(now {settings.warmup_updates})" + (", and choose another folder" if kept else "")
        )

    def finished(self) -> bool:
        """Return whether all updates are done, or BLEU has not improved for `patience` validations."""
        settings, progress = self.settings, self.progress
        patience = settings.patience * settings.validate_every
        all_done = progress.update >= settings.maximum_updates
        progress.finished = all_done or progress.best_update + patience <= progress.update
        return progress.finished

    def _batches(self, epoch: int, done: int) -> Iterator[tuple[list[Batch], int, int]]:
        order = self.settings.seed * 1_000_003 + epoch
        settings, pairs = self.settings, self.corpus.training
        tokens, together = settings.batch_tokens, settings.batches_per_update
        return share_of_epoch(self.fabric, self.network.architecture, pairs, tokens, order, done, together)

    def _load_checkpoint(self, checkpoint: Path) -> TrainingProgress:
        if not checkpoint.exists():
            return TrainingProgress(tokenization=bleu_tokenization(self.corpus.validation_references))
        state = load_checkpoint(checkpoint)
        self.network.load_state_dict(state["weights"])
        self.optimizer.load_state_dict(state["optimizer"])
        return TrainingProgress(**state["position"])

    def validate(self) -> None:
        """Score the average of the last snapshots, in one process for all, and keep it if it is the best so far.

        Raises DivergedError, in all processes, if its loss is not finite.
        """
        progress, finite = self.progress, True
        best = [progress.best_bleu, progress.best_loss, float(progress.best_update)]
        if self.fabric.is_global_zero:
            update = self.progress.update
            average = self.snapshots.add(update, self.network.state_dict())
            averaged = make_network(self.network.architecture).to(self.fabric.device)
            averaged.load_state_dict(average)
            scores = validate(averaged, self.corpus, self.settings.batch_tokens * 4, progress.tokenization)
            finite = math.isfinite(scores.loss)
            loss = scores.loss if finite else None  # JSON has no NaN.
            self.reporter.event("validation", update, epoch=self.progress.epoch, loss=loss, bleu=scores.bleu)
            if finite and scores.better_than(progress.best_bleu, progress.best_loss):
                best = [scores.bleu, scores.loss, float(update)]
                metadata = {
                    "architecture": self.network.architecture.to_json(),
                    **self.about,
                    "training": {
                        "update": update,
                        "epoch": self.progress.epoch,
                        "seed": self.settings.seed,
                        "training_pairs": len(self.corpus.training),
                        "validation_bleu": round(scores.bleu, 3),
                        "validation_loss": round(scores.loss, 5),
                        **tokenization_metadata(progress.tokenization),
                    },
                }
                save_weights(self.folder / MODEL, average, metadata)
        best, finite = self.fabric.broadcast((best, finite))
        if not finite:
            self.fabric.barrier()  # No process ends while another one still receives.
            raise DivergedError("training diverged, the validation loss is not finite")
        progress.best_bleu, progress.best_loss, progress.best_update = best[0], best[1], int(best[2])
        progress.validated_update = progress.update

    def save(self) -> None:
        """Save a checkpoint."""
        if self.fabric.is_global_zero:
            state = {
                "weights": self.network.state_dict(),
                "optimizer": self.optimizer.state_dict(),
                "position": dataclasses.asdict(self.progress),
            }
            save_checkpoint(self.folder / CHECKPOINT, state)
            self.snapshots.remove_unneeded(self.progress.update)
        self.fabric.barrier()


def _loop_settings(settings: Training) -> LoopSettings:
    return LoopSettings(
        updates=settings.maximum_updates,
        seed=settings.seed,
        rate=lambda update: training_rate(
            update, settings.learning_rate, settings.warmup_updates, settings.maximum_updates, settings.decay_updates
        ),
        clip_norm=settings.clip_norm,
        validate_every=settings.validate_every,
        checkpoint_every=settings.checkpoint_every,
    )
