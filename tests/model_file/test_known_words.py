"""Known words in a model file: they are read as written, every byte is counted, and wrong ones are refused."""

from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from pocketmt.evaluation.comparison.sizes import measure_sizes
from pocketmt.model_file import open_model
from pocketmt.model_file.known_words import stored_known_words
from pocketmt.model_file.report import inspect_model
from pocketmt.model_file.writer import write_model
from pocketmt.text.word_filter import WordFilter
from tests.model_file import sample
from tests.model_file.attack import refused
from tests.model_file.schemas import MANIFEST_SCHEMA, check_schema

WORDS = WordFilter.of(["house", "walk", "naïve"])
MEMBER, TENSOR = stored_known_words(WORDS)
MANIFEST: dict[str, Any] = {**sample.MANIFEST, **MEMBER}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "hostile.pocketmt"
    write_model(path, MANIFEST, {**sample.tensors(), **TENSOR}, sample.VOCABULARY)
    return path


def test_what_was_written_is_read(path: Path) -> None:
    with open_model(path) as file:
        words = file.known_words()
    assert words is not None and (words.bits, words.hashes) == (WORDS.bits, 8)
    assert "naïve" in words
    check_schema(path.read_bytes())


def test_a_file_without_them(tmp_path: Path) -> None:
    sample.write_sample(tmp_path / "plain.pocketmt")
    with open_model(tmp_path / "plain.pocketmt") as file:
        assert file.known_words() is None
    assert "known words" not in inspect_model(tmp_path / "plain.pocketmt").to_text()


def test_the_report_counts_their_bytes(path: Path) -> None:
    report = inspect_model(path)
    parts = (report.parameter_bytes, report.vocabulary_bytes, report.container_bytes, report.known_words_bytes)
    assert report.known_words_bytes == 6
    assert sum(parts) == report.file_bytes == path.stat().st_size
    assert any(line.startswith("known words") and " 6 " in line for line in report.to_text().splitlines())
    compared = measure_sizes(report).parts
    assert compared["known words"] == 6 and sum(compared.values()) == report.file_bytes


@pytest.mark.parametrize(
    "entry", [None, 8, {}, {"hashes": 0}, {"hashes": 33}, {"hashes": 8.0}, {"hashes": True}, {"hashes": 8, "bits": 48}]
)
def test_wrong_entries_are_refused(path: Path, entry: Any) -> None:
    header, data = sample.split(path.read_bytes())
    refused(path, sample.join(sample.with_manifest(header, {**MANIFEST, "known_words": entry}), data), "known_words")
    if entry == {"hashes": 8.0}:  # a whole number in JSON Schema
        return
    with pytest.raises(jsonschema.ValidationError):
        MANIFEST_SCHEMA.validate({**MANIFEST, "known_words": entry})


def test_the_tensor_goes_with_the_entry(path: Path) -> None:
    header, data = sample.split(path.read_bytes())
    refused(path, sample.join(sample.with_manifest(header, sample.MANIFEST), data), "'known_words' is not part")
    plain = path
    sample.write_sample(plain)
    header, data = sample.split(plain.read_bytes())
    refused(plain, sample.join(sample.with_manifest(header, MANIFEST), data), "'known_words' is missing")
