"""Vocabularies in a model file: one or two SentencePiece models, with or without id tables."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pocketmt.errors import DataError, ModelFileError
from pocketmt.model_file import open_model
from pocketmt.model_file.architecture import TransformerArchitecture
from pocketmt.model_file.container.xz_tensor import compress
from pocketmt.model_file.report import inspect_model
from pocketmt.model_file.vocabularies import vocabulary_members
from pocketmt.model_file.writer import StoredTensor, write_model
from pocketmt.text.stored_vocabulary import StoredVocabularies, StoredVocabulary
from tests.foreign_vocabularies import SIZE, ids_in, joint, separate
from tests.model_file import sample
from tests.model_file.schemas import MANIFEST_SCHEMA
from tests.parallel_text import parallel_text


def joint_architecture(stored: StoredVocabularies) -> TransformerArchitecture:
    table = stored.source.pieces
    assert table is not None
    ids = ids_in(table)
    return dataclasses.replace(
        sample.ARCHITECTURE,
        vocabulary_size=len(table),
        vocabularies="separate",
        first_decoder_input="pad",
        pad_id=ids.pad,
        bos_id=None,
        eos_id=ids.eos,
        unk_id=ids.unk,
    )


def separate_architecture() -> TransformerArchitecture:
    return dataclasses.replace(
        sample.ARCHITECTURE,
        embeddings="separate",
        source_vocabulary_size=450,
        vocabulary_size=500,
        vocabularies="separate",
        first_decoder_input="zero",
        pad_id=None,
        bos_id=None,
        eos_id=0,
        unk_id=1,
    )


def manifest(architecture: TransformerArchitecture, stored: StoredVocabularies) -> dict[str, Any]:
    about = {**sample.manifest(), "architecture": architecture.to_json(), "schemes": [], "matrices": {}}
    return about | vocabulary_members(stored)


def write(path: Path, architecture: TransformerArchitecture, stored: StoredVocabularies, **members: Any) -> Path:
    about = manifest(architecture, stored) | members
    write_model(path, about, sample.tensors(about), stored)
    return path


CASES: dict[str, Callable[[], tuple[TransformerArchitecture, StoredVocabularies]]] = {
    "one table": lambda: (joint_architecture(joint()), joint()),
    "two models": lambda: (separate_architecture(), separate()),
}


@pytest.mark.parametrize("case", CASES)
def test_what_was_written_is_read(tmp_path: Path, case: str) -> None:
    architecture, stored = CASES[case]()
    with open_model(write(tmp_path / "model.pocketmt", architecture, stored)) as file:
        assert file.stored_vocabularies() == stored
        found = file.vocabularies()
        assert found.source.ids == architecture.source_special_ids
        for side, lines in zip((found.source, found.target), parallel_text(), strict=True):
            assert side.decode(side.encode(lines[0])) == lines[0]


def test_a_table_that_both_sides_share_is_stored_once(tmp_path: Path) -> None:
    with open_model(write(tmp_path / "model.pocketmt", joint_architecture(joint()), joint())) as file:
        assert file.vocabulary_tensors == ("vocabulary", "vocabulary.table", "target_vocabulary")


def test_the_report_counts_every_byte(tmp_path: Path) -> None:
    path = write(tmp_path / "model.pocketmt", joint_architecture(joint()), joint())
    report = inspect_model(path)
    with open_model(path) as file:
        assert report.vocabulary_bytes == sum(file.tensors[name].size for name in file.vocabulary_tensors)
    parts = report.parameter_bytes + report.vocabulary_bytes + report.container_bytes
    assert parts == path.stat().st_size


@pytest.mark.parametrize("case", CASES)
def test_the_published_schema_describes_it(case: str) -> None:
    MANIFEST_SCHEMA.validate(manifest(*CASES[case]()))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"a\0" * (SIZE - 1), "does not hold .* pieces that each end in a null character"),
        (b"a\0b", "does not hold .* pieces that each end"),
        (b"\xff\0", "is not UTF-8"),
    ],
)
def test_hostile_tables(tmp_path: Path, content: bytes, reason: str) -> None:
    architecture, stored = joint_architecture(joint()), joint()
    size = architecture.vocabulary_size
    if b"\xff" in content:
        content *= size
    about = manifest(architecture, stored)
    about["vocabulary"]["table"]["bytes"] = len(content)
    path = tmp_path / "model.pocketmt"
    write_with_table(path, about, stored, compress(content))
    with open_model(path) as file, pytest.raises(ModelFileError, match=f"tensor 'vocabulary.table' {reason}"):
        file.stored_vocabularies()


def write_with_table(path: Path, about: dict[str, Any], stored: StoredVocabularies, table: bytes) -> None:
    """Write a file with another content of the table: as one more tensor, while the models are written as usual."""
    models = StoredVocabularies(*(StoredVocabulary(side.model) for side in stored.sides))
    tensors = {**sample.tensors(about), "vocabulary.table": StoredTensor("U8", (len(table),), table)}
    write_model(path, about, tensors, models)


def test_a_piece_twice_is_refused(tmp_path: Path) -> None:
    table = list(joint().source.pieces or ())
    table[30] = table[31]
    sides = (dataclasses.replace(side, pieces=tuple(table)) for side in joint().sides)
    stored = StoredVocabularies(*sides)
    with (
        open_model(write(tmp_path / "model.pocketmt", joint_architecture(joint()), stored)) as file,
        pytest.raises(DataError, match=r"source vocabulary: the id table has the piece .* twice"),
    ):
        file.vocabularies()


def test_a_piece_that_cannot_be_stored_is_refused(tmp_path: Path) -> None:
    table = joint().source.pieces or ()
    for piece, reason in (("a\0b", "null character"), ("\ud800", "no text")):
        changed = dataclasses.replace(joint().source, pieces=(piece, *table[1:]))
        with pytest.raises(ModelFileError, match=reason):
            write(tmp_path / "model.pocketmt", joint_architecture(joint()), StoredVocabularies(changed, joint().target))
    assert not (tmp_path / "model.pocketmt").exists()


def test_vocabularies_must_be_as_many_as_the_architecture_says(tmp_path: Path) -> None:
    one = StoredVocabularies(joint().source)
    with pytest.raises(ModelFileError, match=r"target_vocabulary is missing, but .* 'separate'"):
        write(tmp_path / "model.pocketmt", joint_architecture(joint()), one)


def test_a_table_of_the_source_that_has_none(tmp_path: Path) -> None:
    entry = {**vocabulary_members(separate())["target_vocabulary"], "table": "source"}  # type: ignore[dict-item]
    with pytest.raises(ModelFileError, match="target_vocabulary: table is that of the source, which has none"):
        write(tmp_path / "model.pocketmt", separate_architecture(), separate(), target_vocabulary=entry)


def test_sizes_that_do_not_fit_name_the_side(tmp_path: Path) -> None:
    architecture = dataclasses.replace(separate_architecture(), source_vocabulary_size=451)
    with (
        open_model(write(tmp_path / "model.pocketmt", architecture, separate())) as file,
        pytest.raises(ModelFileError, match="the source vocabulary has 450 pieces, but the model 451"),
    ):
        file.vocabularies()
