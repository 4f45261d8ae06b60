"""Configuration of a pipeline from teachers to a small student, read from TOML; its defaults are defined only here.

Example:

name = "captions"
teachers = ["teacher.toml"]
student = "student.toml"
recipe = "log4-distilled"

[shortlist]
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from pocketmt.engine.bundled import bundled_model
from pocketmt.errors import ConfigurationError
from pocketmt.model_file.shortlist import MOST_TARGETS
from pocketmt.recipes.catalogue import find_recipe
from pocketmt.recipes.schema import Recipe, read_recipe
from pocketmt.toml_file import absolute_path, read_toml
from pocketmt.training.configuration import Configuration, read_configuration

Positive = Annotated[int, Meta(ge=1)]
BeamSize = Annotated[int, Meta(ge=1, le=256)]  # The engine's limit.
Name = Annotated[str, Meta(min_length=1)]


class Distillation(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Text that the teachers translate for the student, in addition to the source side of its training text.

    Sequence-level distillation: Kim and Rush 2016, section 3.2; Behnke et al. 2021, section 2.
    """

    texts: list[Name] = []  # Files of plain text in the source language.
    beam_size: BeamSize = 4  # Hypotheses kept at each step of the teachers' search.
    n_best: Positive = 1  # Translations; the one most similar to the reference is taken.
    human_references: bool = False  # Whether the student also learns from the human references.

    def __post_init__(self) -> None:
        if self.n_best > self.beam_size:
            raise ValueError(f"n_best {self.n_best} needs a beam_size of at least {self.n_best}, not {self.beam_size}")


class Shortlist(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Sizes of the lexical shortlist (Behnke et al. 2021, section 3)."""

    top_k: Annotated[int, Meta(ge=1, le=MOST_TARGETS)] = 50  # Most probable target pieces of each source piece.
    frequent: Positive = 50  # Most frequent target pieces, for every sentence.


class PipelineSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Settings in the file of a pipeline; relative paths start at its folder."""

    name: Name  # Name of the pipeline.
    # Training configurations (*.toml) to train first, folders of runs, model files, or names of bundled models.
    teachers: Annotated[list[Name], Meta(min_length=1)]
    # A training configuration; the teachers translate its training text. It may leave out training_target and
    # validation_target: then the teachers' translations stand for them.
    student: Name
    recipe: Name  # A recipe of `pocketmt compress`: a built-in name or a TOML file.
    distillation: Distillation = Distillation()  # Text that the teachers translate.
    entropy_coding: bool = True  # Whether the file is made smaller without loss.
    shortlist: Shortlist | None = None  # None: the model has no shortlist.


@dataclass(frozen=True)
class Pipeline:
    """Settings of a pipeline with the contents of the files that they name."""

    settings: PipelineSettings
    teachers: list[Configuration | str]  # Configurations to train, or names of trained models.
    texts: list[Path]
    student: Configuration
    recipe: Recipe


def read_pipeline(path: Path) -> Pipeline:
    """Read a pipeline and the files that it names; ConfigurationError names the file, the key and what is allowed."""
    settings: PipelineSettings = read_toml(path, PipelineSettings)
    folder = path.parent.resolve()
    student = read_configuration(Path(absolute_path(settings.student, folder)), plain_text=True)
    if student.data.plain_training_text:
        _check_without_references(path, settings)
    recipe = absolute_path(settings.recipe, folder)
    return Pipeline(
        settings,
        [_teacher(name, folder) for name in settings.teachers],
        [Path(absolute_path(name, folder)) for name in settings.distillation.texts],
        student,
        read_recipe(Path(recipe)) if recipe.endswith(".toml") else find_recipe(settings.recipe),
    )


def _check_without_references(path: Path, settings: PipelineSettings) -> None:
    """Raise ConfigurationError if a setting needs the target side of the student's text, which it lacks."""
    distillation = settings.distillation
    for name, given, value in (
        ("human_references", distillation.human_references, "true"),
        ("n_best", distillation.n_best > 1, distillation.n_best),
    ):
        if given:
            raise ConfigurationError(
                f"{path}: {name} is {value}, but the training text of {settings.student} has no target side: name its "
                f"file as training_target, or leave {name} out"
            )


def _teacher(name: str, folder: Path) -> Configuration | str:
    if bundled_model(name) is not None:
        return name
    path = absolute_path(name, folder)
    if path.endswith(".toml"):
        return read_configuration(Path(path))
    return path if Path(path).exists() else name
