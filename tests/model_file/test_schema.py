"""The published schema describes what is written, and refuses what the reader refuses."""

from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from pocketmt.errors import ConfigurationError, ModelFileError
from pocketmt.model_file.architecture import Architecture, architecture_from_json
from pocketmt.model_file.manifest import check_manifest
from tests.model_file import sample
from tests.model_file.architecture.test_description import LSTM, TRANSFORMER
from tests.model_file.schemas import ARCHITECTURE_SCHEMA, MANIFEST_SCHEMA, SCHEMA, check_schema


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_a_written_file_satisfies_it(tmp_path: Path) -> None:
    check_schema(sample.write_sample(tmp_path / "model.pocketmt"))


@pytest.mark.parametrize("name", sample.MANIFEST)
def test_it_asks_for_the_members_that_the_reader_asks_for(name: str) -> None:
    about = sample.manifest()
    del about[name]
    with pytest.raises(ModelFileError, match=name):
        check_manifest(about)
    assert not MANIFEST_SCHEMA.is_valid(about)


@pytest.mark.parametrize("described", [TRANSFORMER, LSTM], ids=["transformer", "lstm"])
def test_it_asks_for_the_fields_of_the_architecture_that_the_reader_asks_for(described: Architecture) -> None:
    stated = described.to_json()
    assert ARCHITECTURE_SCHEMA.is_valid(stated)
    for name in stated:
        without = {other: value for other, value in stated.items() if other != name}
        with pytest.raises(ConfigurationError, match=f"architecture: missing field '{name}'"):
            architecture_from_json(without)
        assert not ARCHITECTURE_SCHEMA.is_valid(without), name


@pytest.mark.parametrize("unit", ["sentence", "line", "document"])
def test_units(unit: str) -> None:
    about = sample.manifest() | {"unit": unit}
    assert check_manifest(about).unit == unit
    MANIFEST_SCHEMA.validate(about)


def test_a_file_that_names_no_unit_is_for_sentences() -> None:
    assert check_manifest(sample.manifest()).unit == "sentence"


@pytest.mark.parametrize("unit", ["paragraph", "", 1, None])
def test_unknown_units_are_refused(unit: object) -> None:
    about = sample.manifest() | {"unit": unit}
    with pytest.raises(ModelFileError, match="manifest: unit"):
        check_manifest(about)
    assert not MANIFEST_SCHEMA.is_valid(about)


@pytest.mark.parametrize("name", ["", "architecture", "languages", "vocabulary"])
def test_neither_takes_members_that_it_does_not_know(name: str) -> None:
    about = sample.manifest()
    place: Any = about[name] if name else about
    place["surprise"] = 1
    with pytest.raises(ModelFileError, match="surprise"):
        check_manifest(about)
    assert not MANIFEST_SCHEMA.is_valid(about)
