"""Pipelines whose teachers were imported from another toolkit: the student has a vocabulary that suits it."""

import re
from pathlib import Path

import pytest

from pocketmt.cli.main import run as run_here
from pocketmt.engine import Translator
from pocketmt.errors import DataError
from pocketmt.interop.foreign_model import ForeignModel
from pocketmt.interop.foreign_tensor import of_array
from pocketmt.interop.importing import write_foreign
from pocketmt.model_file import open_model
from pocketmt.model_file.metadata import ModelMetadata
from pocketmt.packing.model_source import AnyModel
from pocketmt.training.configuration import read_configuration
from pocketmt.training.given_vocabulary import read_vocabulary
from pocketmt.training.run import train
from tests.distillation.test_pipeline import DATA, PIPELINE, STUDENT, folder
from tests.engine.reference import architecture, random_network
from tests.foreign_vocabularies import separate
from tests.short_translations import short_translations

__all__ = ["folder", "short_translations"]


@pytest.fixture
def teacher(folder: Path) -> Path:
    """A model with two vocabularies and Marian's special ids, and a pipeline of it."""
    shape = architecture(
        **{"vocabulary_size": 500, "source_vocabulary_size": 450, "embeddings": "separate", "vocabularies": "separate"},
        **{"pad_id": None, "bos_id": None, "eos_id": 0, "unk_id": 1, "first_decoder_input": "zero"},
    )
    tensors = {name: of_array(weight.numpy()) for name, weight in random_network(shape, seed=3).state_dict().items()}
    metadata = ModelMetadata(source_language="en", target_language="up")
    path = folder / "imported.pocketmt"
    write_foreign(ForeignModel(architecture=shape, tensors=tensors, vocabularies=separate(), metadata=metadata), path)
    (folder / "pipeline.toml").write_text(PIPELINE.replace('["teacher.toml", "teacher.toml"]', f'["{path.name}"]'))
    return path


def run_pipeline(folder: Path) -> int:
    return run_here(["pipeline", str(folder / "pipeline.toml"), "--output", str(folder / "work")])


def test_the_student_learns_a_vocabulary(folder: Path, teacher: Path) -> None:
    assert run_pipeline(folder) == 0
    small = folder / "work" / "model.pocketmt"
    with open_model(small) as file:
        assert file.architecture.vocabulary_size == 64
        assert file.vocabulary() == (folder / "work" / "student" / "vocabulary.model").read_bytes()
    assert Translator(small).translate(["red cat"])


def test_the_student_keeps_the_vocabulary_that_it_names(folder: Path, teacher: Path) -> None:
    assert run_here(["train", str(folder / "teacher.toml"), "--output", str(folder / "other")]) == 0
    (folder / "student.toml").write_text(DATA.replace("vocabulary_size = 64", 'vocabulary = "other"') + STUDENT)
    assert run_pipeline(folder) == 0
    with open_model(folder / "work" / "model.pocketmt") as file:
        assert file.vocabulary() == (folder / "other" / "vocabulary.model").read_bytes()


@pytest.mark.parametrize(
    ("data", "by", "message"),
    [
        (DATA, "other", "needs that of .*other"),
        (DATA.replace("vocabulary_size = 64", 'vocabulary = "other"'), "imported.pocketmt", "choose the objective"),
        (DATA.replace("vocabulary_size = 64", 'vocabulary = "imported.pocketmt"'), "other", "cannot be used to train"),
    ],
)
def test_an_objective_that_needs_another_vocabulary_is_refused_before_any_work(
    folder: Path, teacher: Path, capsys: pytest.CaptureFixture[str], data: str, by: str, message: str
) -> None:
    assert run_here(["train", str(folder / "teacher.toml"), "--output", str(folder / "other")]) == 0
    learning = f'objective = "word_distillation"\nteacher = "{by}"\n'
    (folder / "student.toml").write_text(data + learning + STUDENT)
    assert run_pipeline(folder) == 1
    error = capsys.readouterr().err
    assert re.search(message, error)
    assert not (folder / "work").exists()


def test_the_vocabulary_of_an_imported_model_is_refused_with_advice(folder: Path, teacher: Path) -> None:
    with pytest.raises(DataError, match=r"imported\.pocketmt: its vocabulary cannot .*: leave `vocabulary` out"):
        read_vocabulary(teacher)
    learning = f'objective = "word_distillation"\nteacher = "{teacher}"\n'
    (folder / "student.toml").write_text(DATA + learning + STUDENT)
    with pytest.raises(DataError, match=r"vocabulary of the teacher .*imported\.pocketmt cannot be used to train"):
        train(read_configuration(folder / "student.toml"), folder / "run", AnyModel)
