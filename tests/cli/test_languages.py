"""`--source-language` and `--target-language`, and what `pocketmt inspect` says of languages."""

import json
from pathlib import Path

import pytest

from pocketmt.engine import Translator
from pocketmt.model_file import open_model
from pocketmt.model_file.language_pieces import LanguagePieces
from pocketmt.model_file.metadata import ModelMetadata
from pocketmt.model_file.shortlist_encoding import Shortlist, listed_sides
from pocketmt.packing.contents import ModelContents
from pocketmt.packing.model_file import pack
from pocketmt.packing.shortlist import add_shortlist
from pocketmt.text.stored_vocabulary import StoredVocabularies, StoredVocabulary
from tests.cli.conftest import Run
from tests.engine.reference import architecture, random_network
from tests.foreign_vocabularies import pieces_of, sentencepiece_model
from tests.parallel_text import parallel_text


def write(path: Path, target: str) -> Path:
    """Write a model into two languages, with a default of the target language."""
    spm = sentencepiece_model(parallel_text()[0])
    table = ("<pad>", "<s>", "</s>", "<unk>", *pieces_of(spm), ">>deu<<", ">>fra<<")
    network = random_network(architecture(vocabulary_size=len(table)))
    pieces = LanguagePieces({"deu": ">>deu<<", "fra": ">>fra<<"}, "source")
    stored = StoredVocabularies(StoredVocabulary(spm, table, "none", language_codes=True))
    metadata = ModelMetadata(source_language="en", target_language=target, language_pieces=pieces)
    pack(path, ModelContents(network.state_dict(), network.architecture, stored, "float32", metadata))
    return path


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("model") / "model.pocketmt", "mul")


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


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.en"
    path.write_text(f"{TEXT}\n", encoding="utf-8")
    return path


def test_a_model_is_measured_in_a_language(pocketmt: Run, model: Path, random_model: Path, text: Path) -> None:
    german = text.with_name("text.de")
    translated = pocketmt("translate", "--model", model, "-i", text, "-o", german, "--target-language", "deu")
    assert translated.returncode == 0, translated.stderr
    arguments = ["-s", text, "-r", german, "--baseline", random_model, "--target-language", "de", "--json"]
    scored = pocketmt("evaluate", "--model", model, *arguments)
    assert scored.returncode == 0, scored.stderr
    assert json.loads(scored.stdout)["quality"]["chrf"]["value"] == pytest.approx(100)
    timed = pocketmt("benchmark", model, text, "--repeats", "1", "--target-language", "deu")
    assert timed.returncode == 0, timed.stderr


def test_models_are_compared_in_a_language_that_they_name_by_other_codes(
    pocketmt: Run, model: Path, random_model: Path, text: Path
) -> None:
    record = text.with_name("report.json")
    arguments = ["--text", text, "--no-speed", "--json", record]
    answer = pocketmt("compare", model, random_model, *arguments, "--target-language", "de")
    assert answer.returncode == 0, answer.stderr
    assert json.loads(record.read_text(encoding="utf-8"))["target_language"] == "de"
    refused = pocketmt("compare", model, random_model, *arguments, "--target-language", "fra")
    assert refused.returncode == 1
    assert "the target language is 'fra', but this model supports only 'de'" in refused.stderr.decode()


@pytest.mark.parametrize(
    "arguments",
    [
        ("shortlist", "{model}", "--source", "{text}", "-o", "{text}.pocketmt"),
        ("distill", "{model}", "--text", "{text}", "-o", "{text}.source", "{text}.target"),
        ("sensitivity", "{model}", "--text", "{text}"),
    ],
)
def test_commands_without_the_options_say_how_to_choose_languages(
    pocketmt: Run, model: Path, text: Path, arguments: tuple[str, ...]
) -> None:
    answer = pocketmt(*(each.format(model=model, text=text) for each in arguments))
    assert answer.returncode == 1
    message = answer.stderr.decode()
    assert "give the target language, one of deu, fra" in message
    assert "`pocketmt import MODEL --source-language CODE --target-language CODE --output FILE`" in message


@pytest.mark.parametrize("default", ["fra", "mul"])
def test_recall_is_that_of_translations_into_the_language(pocketmt: Run, tmp_path: Path, default: str) -> None:
    path, lines = write(tmp_path / "model.pocketmt", default), TEXT.splitlines()
    with open_model(path) as file:
        sides, french = listed_sides(file.architecture), file.vocabularies().source.id(">>fra<<")
    assert french is not None
    translator = Translator(path)
    outputs = translator.translate_ids([[french, *translator.encode(line)] for line in lines], target_language="fra")
    listed = {id for output in outputs for id in output}
    assert 4 < len(listed) < 40
    add_shortlist(path, Shortlist(sorted(listed), [[]] * sides.source_size, sides), path)
    source, reference = tmp_path / "source", tmp_path / "reference"
    reference.write_text(TEXT)
    options = ["--recall-source", source, "--recall-target", reference, "--json"]
    for given in ([f">>fra<< {line}" for line in lines], lines):
        source.write_text("\n".join(given))
        result = pocketmt("shortlist", path, *options)
        if default == "fra" or given is not lines:
            assert json.loads(result.stdout)["recall"]["output"] == 1
        else:
            assert result.returncode == 1
            assert b"one of deu, fra, or begin the line with a code as >>deu<<" in result.stderr
