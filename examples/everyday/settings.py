"""Settings of the family, read from TOML."""

from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from pocketmt.errors import ConfigurationError
from pocketmt.toml_file import absolute_path, read_toml

Positive = Annotated[int, Meta(ge=1)]
Table = dict[str, Any]  # Keys of a table of a training configuration.


class Texts(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Files of text, two languages side by side; names without the language's ending.

    Held-out text of the second language has several versions, with the endings 0, 1, ...
    """

    training: str
    validation: str
    test: str
    plain: str  # Plain text of the first language; what the pairs already hold is left out.


class Ensemble(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The teachers, and their search."""

    models: list[Table]  # Keys of [model] and [training], one table a teacher.
    model: Table  # Keys of [model] that all share.
    training: Table  # Keys of [training] that all share.
    beam_size: Positive
    n_best: Positive
    parts: Positive  # The training text is translated in this number of parts, side by side.


class Student(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A student: its network, and the text it learns from."""

    model: Table
    training: Table = {}
    texts: list[str]  # Any of "authentic", "distilled", "plain".
    word_teacher: Positive | None = None  # Number of a teacher whose probabilities of all pieces it learns, too.


class Compression(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A compressed student: a recipe of `pocketmt compress`."""

    student: str  # Its name, or that of a compression before this one, whose file is compressed further.
    recipe: str  # The name of a built-in recipe, or a file.
    options: list[str] = []  # More options of the command.


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Settings of the family."""

    languages: tuple[str, str]
    texts: Texts
    vocabulary_size: Positive
    segmentation: str
    teachers: Ensemble
    student_model: Table
    student_training: Table
    students: dict[str, Student]
    compressions: dict[str, Compression] = {}

    @property
    def directions(self) -> list[tuple[str, str]]:
        """Both directions: pairs of source and target language."""
        first, second = self.languages
        return [(first, second), (second, first)]


def read_settings(path: Path) -> Settings:
    """Read a file of settings and make its paths absolute; ConfigurationError says what is wrong in it."""
    settings: Settings = read_toml(path, Settings)
    folder = path.parent.resolve()
    texts = {name: absolute_path(getattr(settings.texts, name), folder) for name in Texts.__struct_fields__}
    teachers = len(settings.teachers.models)
    for name, student in settings.students.items():
        if student.word_teacher is not None and student.word_teacher > teachers:
            raise ConfigurationError(
                f"{path}: the student '{name}' has word_teacher {student.word_teacher}, of {teachers} teachers"
            )
    compressions: dict[str, Compression] = {}
    for name, compression in settings.compressions.items():
        known = [*settings.students, *compressions]
        if compression.student not in known:
            raise ConfigurationError(
                f"{path}: the compression '{name}' is of the student '{compression.student}', which is not one of "
                f"{', '.join(known)}"
            )
        if compression.recipe.endswith(".toml"):
            compression = msgspec.structs.replace(compression, recipe=absolute_path(compression.recipe, folder))
        compressions[name] = compression
    return msgspec.structs.replace(settings, texts=Texts(**texts), compressions=compressions)
