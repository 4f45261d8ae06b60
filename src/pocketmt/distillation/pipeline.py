"""The pipeline from teachers to a small student: training, distillation, compression and a shortlist."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, product
from pathlib import Path
from typing import Any, Final

import msgspec

from pocketmt.atomic_file import check_not_read
from pocketmt.compression.activations.estimation import check_outcome
from pocketmt.compression.planning import make_plan
from pocketmt.compression.run import CompressionTask, compress_run
from pocketmt.distillation.configuration import Pipeline
from pocketmt.distillation.teachers import Teachers
from pocketmt.distillation.texts import Text, distill
from pocketmt.errors import ConfigurationError
from pocketmt.folder_lock import locked
from pocketmt.model_file import Architecture, open_model
from pocketmt.model_file.writer import check_model_output
from pocketmt.packing.model_path import model_path
from pocketmt.packing.model_source import AnyModel
from pocketmt.packing.run import pack_run
from pocketmt.packing.shortlist import add_shortlist, learn_shortlist
from pocketmt.progress import Progress, no_progress
from pocketmt.text.corpus import check_rereadable, read_lines
from pocketmt.text.languages import check_same_languages
from pocketmt.text.vocabulary import Vocabulary
from pocketmt.training.configuration import LEARNT_SEGMENTATION, LEARNT_SIZE, Configuration, Data
from pocketmt.training.data import check_teacher
from pocketmt.training.given_vocabulary import read_vocabulary, trainable
from pocketmt.training.inputs import read_training_text, read_validation_text
from pocketmt.training.run import train
from pocketmt.training.run_folder import remove_unfinished
from pocketmt.training.steps import check_devices
from pocketmt.training.trained_model import read_trained_model
from pocketmt.trimming.sentencepiece_model import parse_model

MODEL: Final = "model.pocketmt"
COMPRESSED: Final = "compressed.pocketmt"  # until it has its shortlist
FULL_PRECISION: Final = "float32.temporary"  # written to measure its size


@dataclass(frozen=True)
class PipelineArtifact:
    """A model that the pipeline makes or starts from."""

    model: str
    bytes: int  # Size of its model file.
    # BLEU of greedy search on the validation text, against the teachers' translations if it has no target side; None if
    # it was not measured.
    bleu: float | None


def run_pipeline(
    pipeline: Pipeline,
    folder: Path,
    *,
    step: Callable[[str], None] = lambda name: None,
    translated: Progress = no_progress,
    warn: Callable[[str], None] = lambda message: None,
) -> list[PipelineArtifact]:
    """Train the teachers, translate text with them, train the student on it, compress it and add a shortlist.

    Each step writes to its folder or file in `folder`. An interrupted step resumes, and finished steps are skipped. The
    small model is `model.pocketmt`.

    Args:
        pipeline: the pipeline to run.
        folder: folder of all results, created if it is missing.
        step: called with the name of each step when it begins.
        translated: called with the progress of the teachers in a text.
        warn: told how many lines of the text were copied instead of translated.

    Returns:
        The models: the teachers and the student in full precision, and the small one.

    Raises:
        ConfigurationError: the recipe does not suit the student, a teacher has other languages than the student, the
            student's two languages are the same, its objective or its settings need a vocabulary that it cannot have,
            or a file that is read would be replaced.
        DataError: a text or a teacher cannot be read.
        LockedError: another process is running a pipeline in the folder.

    These errors are found before any work starts. It also raises what `train`, `distill`, `compress_run` and
    `learn_shortlist` do.
    """
    _check(pipeline, folder)
    with locked(folder):
        remove_unfinished(folder, (MODEL, COMPRESSED, FULL_PRECISION))
        return _run_steps(pipeline, folder, step, translated, warn)


def _check(pipeline: Pipeline, folder: Path) -> None:
    """Find mistakes before teachers are trained, which may take hours; raises as `run_pipeline` does."""
    student = pipeline.student
    if student.data.source_language == student.data.target_language:
        raise ConfigurationError(
            f"source_language and target_language of the student are both {student.data.source_language!r}: set two "
            "different languages"
        )
    _check_outputs(pipeline, folder)
    check_outcome(pipeline.recipe)
    make_plan(pipeline.recipe, student.model.architecture(student.data.vocabulary_size))
    trained = {
        f"teacher{number}": each for number, each in enumerate(pipeline.teachers, 1) if isinstance(each, Configuration)
    }
    for configuration in (*trained.values(), student):
        check_devices(configuration.training)
        if not configuration.data.plain_validation_text:
            read_validation_text(configuration.data)
        if not configuration.data.plain_training_text:
            read_training_text(configuration.data)
    for text in (*student.data.training_sources, Path(student.data.validation_source), *pipeline.texts):
        check_rereadable(text)
        next(read_lines(text, "source", student.data.languages), None)
    languages = {name: each.data.languages for name, each in trained.items()}
    models: list[AnyModel] = []
    if names := [each for each in pipeline.teachers if isinstance(each, str)]:
        settings = pipeline.settings.distillation
        models = Teachers(names, folder, beam_size=settings.beam_size, n_best=settings.n_best).models
        if pipeline.teachers[0] == names[0]:
            _check_vocabulary(student, models[0])
        languages |= {model.name: (model.languages["source"], model.languages["target"]) for model in models}
    _check_together(trained, models)
    if "teacher1" in trained:
        _check_learnt_vocabulary(student.data, trained["teacher1"].data, folder)
    by = student.training.teacher
    if by is not None and not any(Path(by).resolve() == (folder / made).resolve() for made in trained):
        model = AnyModel(by)
        check_teacher(by, model.vocabularies, model.common.architecture)
        languages[by] = model.languages["source"], model.languages["target"]
    for name, own in languages.items():
        check_same_languages("the student", student.data.languages, f"the teacher {name}", own)


def _check_together(trained: Mapping[str, Configuration], models: Sequence[AnyModel]) -> None:
    """Check that the teachers of an ensemble fit together, as far as it is known before they are trained.

    Raises ConfigurationError if they do not.
    """
    found = {
        name: _common(each.model.architecture(each.data.vocabulary_size), each.data.unit)
        for name, each in trained.items()
    }
    found |= {model.name: _common(model.common.architecture, model.unit) for model in models}
    first, *others = found
    for name, field in product(others, found[first]):
        own, other = found[name][field], found[first][field]
        if own != other:
            values = f"its {field} is {own}, that of {first} {other}"
            raise ConfigurationError(f"the teacher {name}: {values}: teachers of an ensemble need the same")


def _common(architecture: Architecture, unit: str) -> dict[str, object]:
    fields = ("first_decoder_input", "append_source_eos")
    return {"unit": unit, **{field: getattr(architecture, field) for field in fields}}


def _check_vocabulary(student: Configuration, teacher: AnyModel) -> None:
    """Check the vocabulary of a student whose teacher may have none that serves it; see `_student_configuration`.

    Raises ConfigurationError if the student's objective needs another vocabulary, and as `read_vocabulary` and
    `_check_replaced` do.
    """
    if trainable(teacher.vocabularies):
        _check_replaced(student.data, teacher.name, teacher.vocabularies.source)
        return
    if student.data.vocabulary is not None:
        read_vocabulary(Path(student.data.vocabulary))
    elif student.training.teacher is not None:
        raise ConfigurationError(
            f"the vocabulary of {teacher.name} cannot be used to train a network, so the student learns another one, "
            f"but its objective {student.training.objective!r} needs that of {student.training.teacher}: choose the "
            "objective 'references'"
        )


def _check_learnt_vocabulary(student: Data, teacher: Data, folder: Path) -> None:
    """Check the vocabulary of a student whose teachers are trained first; raises as `_check_replaced` does."""
    run = (folder / "teacher1").resolve()
    if student.vocabulary is not None and run in (path := Path(student.vocabulary).resolve(), path.parent):
        return  # the student names the vocabulary that it gets
    given = teacher.vocabulary
    _check_replaced(student, "teacher1", teacher if given is None else read_vocabulary(Path(given)))


def _check_replaced(student: Data, teacher: str, learnt: Vocabulary | Data) -> None:
    """Check that the vocabulary of a teacher, which replaces the student's, is the one that the student asks for.

    Args:
        student: asks for it, where its settings are not the defaults.
        teacher: its name.
        learnt: its vocabulary, or the settings that it will be learnt by.

    Raises ConfigurationError if it is another one, and as `read_vocabulary` does.
    """
    if isinstance(learnt, Data):
        size, segmentation = learnt.vocabulary_size, learnt.segmentation
    else:
        size, segmentation = len(learnt), "bpe" if parse_model(learnt.model).merges else "unigram"
    of_teacher = f"the student has the vocabulary of the teacher {teacher}"
    for name, value, default, own in (
        ("vocabulary_size", student.vocabulary_size, LEARNT_SIZE, size),
        ("segmentation", student.segmentation, LEARNT_SEGMENTATION, segmentation),
    ):
        if value not in (default, own):
            raise ConfigurationError(
                f"{name} of the student is {value!r}, but {of_teacher}, where it is {own!r}: leave it out"
            )
    given = student.vocabulary
    if given is not None and (isinstance(learnt, Data) or read_vocabulary(Path(given)).stored != learnt.stored):
        raise ConfigurationError(f"vocabulary of the student is {given!r}, but {of_teacher}: leave it out")


def _check_outputs(pipeline: Pipeline, folder: Path) -> None:
    """Raise ConfigurationError if a file of the results is one that is read, or a model would replace another file."""
    student = pipeline.student.data
    outputs = [folder / MODEL, folder / COMPRESSED, *_distilled_files(pipeline, folder)]
    if student.plain_validation_text:
        outputs += _validation_files(pipeline, folder)
    read = [*pipeline.texts, *(Path(each) for each in pipeline.teachers if isinstance(each, str))]
    for data in (student, *(each.data for each in pipeline.teachers if isinstance(each, Configuration))):
        read += data.training_sources if data.plain_training_text else chain.from_iterable(data.training_files)
        read += [Path(data.validation_source)] if data.plain_validation_text else data.validation_files
    check_not_read(outputs, read)
    for model in (folder / MODEL, folder / COMPRESSED) if folder.is_dir() else ():
        check_model_output(model)


def _run_steps(
    pipeline: Pipeline,
    folder: Path,
    step: Callable[[str], None],
    translated: Progress,
    warn: Callable[[str], None],
) -> list[PipelineArtifact]:
    teachers = [
        _trained_teacher(each, folder / f"teacher{number}", step) for number, each in enumerate(pipeline.teachers, 1)
    ]
    step("distillation")
    source, target = _distill(pipeline, teachers, folder, translated, warn)
    step("student")
    student = folder / "student"
    train(_student_configuration(pipeline, teachers[0], folder, source, target), student, AnyModel)
    step(f"recipe {pipeline.recipe.name}")
    model, small = folder / MODEL, folder / COMPRESSED
    work = folder / "student.compression"
    task = CompressionTask(run=student, folder=work, entropy_coding=pipeline.settings.entropy_coding)
    compress_run(task, pipeline.recipe, small)
    if pipeline.settings.shortlist is None:
        small.replace(model)
    else:
        step("shortlist")
        settings = pipeline.settings.shortlist
        found = learn_shortlist(small, source, target, top_k=settings.top_k, frequent=settings.frequent)
        add_shortlist(small, found, model)
        small.unlink()
    described = [_describe_run(teacher, folder) for teacher in teachers]
    if pipeline.student.data.plain_validation_text:
        # The teachers' scores, if they have some, are of other text.
        described = [replace(each, bleu=None) for each in described]
    return [*described, _describe_run(student, folder), _describe_file(model)]


def _trained_teacher(teacher: Configuration | str, run: Path, step: Callable[[str], None]) -> str:
    if isinstance(teacher, str):
        return teacher
    step(run.name)
    train(teacher, run, AnyModel)
    return str(run)


def _distill(
    pipeline: Pipeline, teachers: list[str], folder: Path, translated: Progress, warn: Callable[[str], None]
) -> tuple[Path, Path]:
    """Translate text with the teachers; returns the files of its two sides."""
    settings, data = pipeline.settings.distillation, pipeline.student.data
    outputs = _distilled_files(pipeline, folder)
    # A pipeline names no device: it resumes on any machine.
    loaded = Teachers(
        teachers,
        folder / "distillation",
        beam_size=settings.beam_size,
        n_best=settings.n_best,
        same_device=False,
    )
    if data.plain_training_text:
        texts = [Text(path) for path in data.training_sources]
    else:
        texts = [Text(source, target if settings.n_best > 1 else None) for source, target in data.training_files]
    texts += [Text(path) for path in pipeline.texts]
    distill(loaded, texts, *outputs, folder / "distillation", progress=translated, warn=warn)
    if data.plain_validation_text:
        validation = Text(Path(data.validation_source))
        distill(loaded, [validation], *_validation_files(pipeline, folder), folder / "validation", warn=warn)
    return outputs


def _distilled_files(pipeline: Pipeline, folder: Path) -> tuple[Path, Path]:
    """Return the files of the text that the student learns from, and of its translations by the teachers."""
    source, target = pipeline.student.data.languages
    return folder / f"distilled.{source}", folder / f"distilled.{target}"


def _validation_files(pipeline: Pipeline, folder: Path) -> tuple[Path, Path]:
    """Return the files of validation text without a target side, and of its translations by the teachers."""
    source, target = pipeline.student.data.languages
    return folder / f"validation.{source}", folder / f"validation.{target}"


def _student_configuration(pipeline: Pipeline, teacher: str, folder: Path, source: Path, target: Path) -> Configuration:
    """Return the student's configuration with the teachers' translations as its text, and with their vocabulary.

    Where that is not `trainable`, the student keeps its own, or learns one from the text.
    """
    data = pipeline.student.data
    files = [(source.resolve(), target.resolve())]
    if pipeline.settings.distillation.human_references:
        files += data.training_files
    changed: dict[str, Any] = {
        "training_source": [str(each) for each, _ in files],
        "training_target": [str(each) for _, each in files],
    }
    if trainable(AnyModel(teacher).vocabularies):
        changed["vocabulary"] = str(model_path(teacher).resolve())
    if data.plain_validation_text:
        names = "validation_source", "validation_target"
        changed |= {
            name: str(path.resolve()) for name, path in zip(names, _validation_files(pipeline, folder), strict=True)
        }
    return msgspec.structs.replace(pipeline.student, data=msgspec.structs.replace(data, **changed))


def _describe_run(run: Path | str, folder: Path) -> PipelineArtifact:
    """Describe the model of a run in full precision, or a model file."""
    if not (given := model_path(run)).is_dir():
        return _describe_file(given)
    packed = folder / FULL_PRECISION
    try:
        size = pack_run(given, "float32", packed)
    finally:  # Also after Ctrl-C.
        packed.unlink(missing_ok=True)
    bleu = read_trained_model(given).training.get("validation_bleu")
    return PipelineArtifact(str(run), size, bleu if isinstance(bleu, float) else None)


def _describe_file(path: Path) -> PipelineArtifact:
    with open_model(path) as file:
        training: Any = file.manifest["training"]
    bleu = training["compression"].get("bleu") if "compression" in training else training.get("validation_bleu")
    return PipelineArtifact(str(path), path.stat().st_size, bleu if isinstance(bleu, float) else None)
