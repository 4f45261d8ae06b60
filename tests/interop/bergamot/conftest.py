"""Fixtures of all tests of bergamot's files: a student with calibrated activations, written and read again."""

from dataclasses import replace
from pathlib import Path

import pytest
import sentencepiece

from pocketmt.interop.bergamot.reading import read_model
from pocketmt.interop.bergamot.writing import write_model
from pocketmt.interop.foreign_model import ForeignModel
from tests.interop.bergamot.saturating import Student
from tests.interop.bergamot.students import LINES, random_student


def loaded(vocabulary: bytes) -> sentencepiece.SentencePieceProcessor:
    """The SentencePiece model."""
    processor = sentencepiece.SentencePieceProcessor()
    processor.LoadFromSerializedProto(vocabulary)
    return processor


@pytest.fixture(scope="session")
def processor(student: ForeignModel) -> sentencepiece.SentencePieceProcessor:
    return loaded(student.vocabularies.source.model)


@pytest.fixture(scope="session")
def student() -> ForeignModel:
    """A student in full precision, with scales of activations."""
    model = random_student()
    network, encoder = Student(model, quantized=False), loaded(model.vocabularies.source.model)
    for line in LINES:
        network.greedy(encoder.encode(line), 12)
    return replace(model, activation_scales=network.alphas())


@pytest.fixture(scope="session")
def folder(student: ForeignModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The student as bergamot has it."""
    folder = tmp_path_factory.mktemp("bergamot")
    write_model(student, folder)
    return folder


@pytest.fixture(scope="session")
def read(folder: Path) -> ForeignModel:
    return read_model(folder)
