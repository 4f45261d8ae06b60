"""Going the whole road, step after step, in a folder in which it can be killed and resumes."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from pocketmt.engine.bundled import resolve_model
from pocketmt.model_file import open_model
from pocketmt.recipes.activations.estimation import check_outcome
from pocketmt.recipes.any_model import open_teacher
from pocketmt.recipes.description.plan import make_plan
from pocketmt.recipes.distillation.teachers import Teachers
from pocketmt.recipes.distillation.texts import Text, distill
from pocketmt.recipes.packing.shortlist import add_shortlist, learn_shortlist
from pocketmt.recipes.run_folder import compress_run, pack_run
from pocketmt.recipes.student.schema import Plan
from pocketmt.recipes.trained_model import read_trained_model
from pocketmt.training.configuration import Configuration
from pocketmt.training.loop import train

Translated = Callable[[int, int], None]  # lines of a text, of how many


@dataclass(frozen=True)
class Milestone:
    """A model on the road."""

    model: str
    bytes: int  # of its model file
    bleu: float | None  # of the validation text, greedy; None where it was not measured on the way


def make_student(
    plan: Plan,
    folder: Path,
    *,
    step: Callable[[str], None] = lambda name: None,
    translated: Translated = lambda done, total: None,
) -> list[Milestone]:
    """Train the teachers, let them write text, train the student on it, make it small and give it a shortlist.

    Each step has a folder or file of its own in `folder`, and goes on where it was stopped; one that is finished is
    passed by. The small model is `model.pocketmt`.

    Args:
        plan: the road.
        folder: made where it is missing.
        step: told the name of each step when it begins.
        translated: told how far the teachers are with a text.

    Returns:
        The models: the first teacher and the student in full precision, and the small one.

    Raises as `train`, `distill`, `compress_run` and `learn_shortlist` do; ConfigurationError, before any work starts,
    where the recipe does not go with the student.
    """
    check_outcome(plan.recipe)
    make_plan(plan.recipe, plan.student.model.architecture(plan.student.data.vocabulary_size))
    folder.mkdir(parents=True, exist_ok=True)
    teachers = [_teacher(each, folder / f"teacher{number}", step) for number, each in enumerate(plan.teachers, 1)]
    step("distillation")
    source, target = _distilled(plan, teachers, folder, translated)
    step("student")
    student = folder / "student"
    train(_configuration(plan, teachers[0], source, target), student, open_teacher)
    step(f"recipe {plan.recipe.name}")
    model, small = folder / "model.pocketmt", folder / "compressed.pocketmt"
    work = folder / "student.compression"
    compress_run(student, plan.recipe, work, small, entropy_coding=plan.road.entropy_coding)
    if plan.road.shortlist is None:
        small.replace(model)
    else:
        step("shortlist")
        settings = plan.road.shortlist
        found = learn_shortlist(small, source, target, likeliest=settings.likeliest, frequent=settings.frequent)
        add_shortlist(small, found, model)
        small.unlink()
    return [_of_run(Path(teachers[0]), folder), _of_run(student, folder), _of_file(model)]


def _teacher(teacher: Configuration | str, run: Path, step: Callable[[str], None]) -> str:
    if isinstance(teacher, str):
        return teacher
    step(run.name)
    train(teacher, run, open_teacher)
    return str(run)


def _distilled(plan: Plan, teachers: list[str], folder: Path, translated: Translated) -> tuple[Path, Path]:
    """Return the two sides of what the teachers write."""
    settings, data = plan.road.distillation, plan.student.data
    outputs = folder / f"distilled.{data.source_language}", folder / f"distilled.{data.target_language}"
    read = Teachers(teachers, folder / "distillation", beam_size=settings.beam_size, n_best=settings.n_best)
    texts = [Text(source, target if settings.n_best > 1 else None) for source, target in data.training_files]
    texts += [Text(path) for path in plan.texts]
    distill(read, texts, *outputs, folder / "distillation", progress=translated)
    return outputs


def _configuration(plan: Plan, teacher: str, source: Path, target: Path) -> Configuration:
    """Return the student's configuration with what the teachers wrote as its text, and their vocabulary."""
    data = plan.student.data
    files = [(source.resolve(), target.resolve())]
    if plan.road.distillation.real_text:
        files += data.training_files
    vocabulary = Path(teacher) if Path(teacher).is_dir() else resolve_model(teacher)
    changed: dict[str, Any] = {
        "training_source": [str(each) for each, _ in files],
        "training_target": [str(each) for _, each in files],
        "vocabulary": str(vocabulary.resolve()),
    }
    return msgspec.structs.replace(plan.student, data=msgspec.structs.replace(data, **changed))


def _of_run(run: Path, folder: Path) -> Milestone:
    """Return what a run's model is before it is made small; of a model file, the file."""
    if not run.is_dir():
        return _of_file(resolve_model(str(run)))
    packed = folder / "float32.temporary"
    size = pack_run(run, "float32", packed)
    packed.unlink()
    bleu = read_trained_model(run).training.get("validation_bleu")
    return Milestone(str(run), size, bleu if isinstance(bleu, float) else None)


def _of_file(path: Path) -> Milestone:
    with open_model(path) as file:
        training: Any = file.manifest["training"]
    bleu = training.get("compression", {}).get("bleu", training.get("validation_bleu"))
    return Milestone(str(path), path.stat().st_size, bleu if isinstance(bleu, float) else None)
