"""`--source-language` and `--target-language`, and what `pocketmt inspect` says of languages."""

import json
from pathlib import Path

import pytest

from pocketmt.model_file.language_pieces import LanguagePieces
from pocketmt.model_file.metadata import ModelMetadata
from pocketmt.packing.contents import ModelContents
from pocketmt.packing.model_file import pack
from pocketmt.text.stored_vocabulary import StoredVocabularies, StoredVocabulary
from tests.cli.conftest import Run
from tests.engine.reference import architecture, random_network
from tests.foreign_vocabularies import pieces_of, sentencepiece_model
from tests.parallel_text import parallel_text


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "model.pocketmt"
    spm = sentencepiece_model(parallel_text()[0])
    table = ("<pad>", "<s>", "</s>", "<unk>", *pieces_of(spm), ">>deu<<", ">>fra<<")
    network = random_network(architecture(vocabulary_size=len(table)))
    pieces = LanguagePieces({"deu": ">>deu<<", "fra": ">>fra<<"}, "source")
    stored = StoredVocabularies(StoredVocabulary(spm, table, "none", language_codes=True))
    metadata = ModelMetadata(source_language="en", target_language="mul", language_pieces=pieces)
    pack(path, ModelContents(network.state_dict(), network.architecture, stored, "float32", metadata))
    return path


TEXT = "\n".join(parallel_text()[0][:5])


def translate(pocketmt: Run, model: Path, *options: str, text: str = TEXT) -> list[str]:
    result = pocketmt("translate", "--model", model, "--no-check", "--no-split", *options, stdin=text.encode())
    assert result.returncode == 0, result.stderr
    return result.stdout.decode().splitlines()


def test_the_target_language_is_chosen(pocketmt: Run, model: Path) -> None:
    german = translate(pocketmt, model, "--target-language", "deu")
    assert len(german) == 5
    assert translate(pocketmt, model, "--target-language", "fra") != german
    named = "\n".join(f">>deu<< {line}" for line in TEXT.splitlines())
    assert translate(pocketmt, model, text=named) == german
    assert translate(pocketmt, model, "--source-language", "en", "--target-language", "deu") == german


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ((), "give the target language, one of deu, fra"),
        (("--target-language", "xx"), "the target language is 'xx', which the model does not have; it has deu, fra"),
        (("--source-language", "cs", "--target-language", "deu"), "the source language is 'cs'"),
    ],
)
def test_languages_that_the_model_lacks_are_refused(
    pocketmt: Run, model: Path, options: tuple[str, ...], reason: str
) -> None:
    result = pocketmt("translate", "--model", model, *options, stdin=TEXT.encode())
    assert result.returncode == 1 and result.stdout == b""
    assert reason in result.stderr.decode()


def test_inspect_lists_the_languages(pocketmt: Run, model: Path) -> None:
    assert "targets:      2: deu, fra" in pocketmt("inspect", model).stdout.decode()
    report = json.loads(pocketmt("inspect", model, "--json").stdout)
    assert report["target_languages"] == ["deu", "fra"] and report["source_languages"] == []
