"""A road from teachers to a small student, as typed structs read from TOML. The only place of its defaults.

name = "captions in a pocket"
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

from pocketmt.errors import ConfigurationError
from pocketmt.model_file.shortlist import MOST_TARGETS
from pocketmt.recipes.description.catalogue import find_recipe
from pocketmt.recipes.description.schema import Recipe, read_recipe
from pocketmt.training.configuration import Configuration, read_configuration

Positive = Annotated[int, Meta(ge=1)]
Name = Annotated[str, Meta(min_length=1)]


class Distillation(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What the teachers translate for the student, beside the source side of its own training text [E1]."""

    texts: list[Name] = []  # plain text in the source language
    beam_size: Positive = 4
    n_best: Positive = 1  # translations of which the likest to the reference is taken (sentence chrF)
    real_text: bool = False  # whether the student learns from people's translations, too

    def __post_init__(self) -> None:
        if self.n_best > self.beam_size:
            raise ValueError(f"n_best {self.n_best} needs a beam_size of at least that")


class Shortlist(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which pieces a sentence is translated with [E4]."""

    likeliest: Annotated[int, Meta(ge=1, le=MOST_TARGETS)] = 50  # of each piece of the source
    frequent: Positive = 50  # of every sentence


class Road(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The road; a relative path starts at its file's folder."""

    name: Name
    # Training configurations (*.toml), which are trained first; folders of training runs, model files, bundled names.
    teachers: Annotated[list[Name], Meta(min_length=1)]
    student: Name  # a training configuration: its training text is what the teachers translate
    recipe: Name  # of `pocketmt compress`: a name, or a TOML file
    distillation: Distillation = Distillation()
    entropy_coding: bool = True
    shortlist: Shortlist | None = None


@dataclass(frozen=True)
class Plan:
    """A road whose files were all read."""

    road: Road
    teachers: list[Configuration | str]  # to be trained, or trained already
    texts: list[Path]
    student: Configuration
    recipe: Recipe


def read_road(path: Path) -> Plan:
    """Read a road and the files that it names; ConfigurationError names file, key and what is allowed there."""
    try:
        road = msgspec.toml.decode(path.read_bytes(), type=Road)
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read ({error.strerror or error})") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: {error}") from error
    folder = path.parent.resolve()
    return Plan(
        road,
        [_teacher(name, folder) for name in road.teachers],
        [folder / name for name in road.distillation.texts],
        read_configuration(folder / road.student),
        read_recipe(folder / road.recipe) if road.recipe.endswith(".toml") else find_recipe(road.recipe),
    )


def _teacher(name: str, folder: Path) -> Configuration | str:
    if name.endswith(".toml"):
        return read_configuration(folder / name)
    return str(folder / name) if (folder / name).exists() else name
