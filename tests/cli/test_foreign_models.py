"""Commands take models of other toolkits where they take model files."""

import json
import shutil
from pathlib import Path

import pytest

from pocketmt.interop.exporting import write_folder
from pocketmt.interop.formats import FORMATS
from tests.interop.hugging_face.folders import write_nllb
from tests.interop.models import marian_architecture, marian_vocabularies, random_model

from .conftest import Run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("foreign") / "marian"
    vocabularies = marian_vocabularies()
    write_folder(random_model(marian_architecture(vocabularies), vocabularies), FORMATS["marian"], folder)
    return folder


def test_a_model_is_imported_and_exported(pocketmt: Run, folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "model.pocketmt"
    answer = pocketmt("import", folder, "--output", path, "--source-language", "en", "--target-language", "de")
    assert answer.returncode == 0, answer.stderr
    assert json.loads(pocketmt("inspect", path, "--json").stdout)["source_language"] == "en"
    written = tmp_path / "written"
    answer = pocketmt("export", path, "--to", "marian", "--output", written)
    assert answer.returncode == 0, answer.stderr
    assert (written / "vocab.spm").read_bytes() == (folder / "vocab.spm").read_bytes()
    again = pocketmt("export", path, "--to", "marian", "--output", written)
    assert again.returncode == 1
    assert b"exists already" in again.stderr


def test_import_warns_of_languages_that_the_model_does_not_say(pocketmt: Run, folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "model.pocketmt"
    warning = "warning: the model does not say its source and target language: give --source-language CODE and"
    assert warning in pocketmt("import", folder, "-o", path).stderr.decode()
    answer = pocketmt("import", folder, "-o", path, "--target-language", "de")
    assert "does not say its source language: give --source-language CODE\n" in answer.stderr.decode()
    answer = pocketmt("translate", "-m", path, "--source-language", "en", "--no-check", stdin=b"the man rides a bike\n")
    assert answer.returncode == 0, answer.stderr
    answer = pocketmt("import", folder, "-o", path, "--source-language", "en", "--target-language", "de")
    assert b"warning" not in answer.stderr
    write_nllb(tmp_path / "several")
    answer = pocketmt("import", tmp_path / "several", "-o", path)
    assert answer.returncode == 0 and b"warning" not in answer.stderr


def test_what_a_format_lacks_is_an_error_and_nothing_is_written(pocketmt: Run, folder: Path, tmp_path: Path) -> None:
    answer = pocketmt("export", folder, "--to", "hugging-face", "--output", tmp_path / "written")
    assert answer.returncode == 1
    assert f"error: {folder} cannot be exported to hugging-face: positions is 'conc".encode() in answer.stderr
    assert b"Try another format (marian, bergamot, ctranslate2); docs/guides/other-models.md" in answer.stderr
    assert not list(tmp_path.iterdir())


def test_a_model_without_languages_is_shown_and_not_served(pocketmt: Run, folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "model.pocketmt"
    pocketmt("import", folder, "-o", path)
    assert b"unknown to unknown" in pocketmt("inspect", path).stdout
    answer = pocketmt("serve", "--port", "0", path)
    assert answer.returncode == 1
    assert b"--output FILE --source-language CODE --target-language CODE`" in answer.stderr
    assert f"no model that can be served in {path}: the lines above say why".encode() in answer.stderr
    pocketmt("import", folder, "-o", path, "--source-language", "en", "--target-language", "de")
    assert b"en to de" in pocketmt("inspect", path).stdout
    again = pocketmt("import", path, "-o", tmp_path / "again.pocketmt")
    assert again.returncode == 1
    assert f"error: {path}: already a model file".encode() in again.stderr
    write_nllb(tmp_path / "several")
    assert b"several to several" in pocketmt("inspect", tmp_path / "several").stdout


def test_a_damaged_model_is_an_error_and_nothing_is_written(pocketmt: Run, tmp_path: Path) -> None:
    (tmp_path / "model.npz").write_bytes(b"PK damaged")
    (tmp_path / "vocab.spm").write_bytes(b"damaged")
    answer = pocketmt("import", tmp_path, "--output", tmp_path / "model.pocketmt")
    assert answer.returncode == 1
    assert answer.stderr.startswith(b"error: ")
    assert not (tmp_path / "model.pocketmt").exists()


def test_a_folder_is_translated_with(pocketmt: Run, folder: Path, tmp_path: Path) -> None:
    named = tmp_path / "a model"
    named.symlink_to(folder)
    answer = pocketmt("translate", "--model", named, "--no-check", stdin=b"the man rides a bike\n")
    assert answer.returncode == 0, answer.stderr
    hint = f"imported into a temporary file; keep it with `pocketmt import '{named}' --output MODEL.pocketmt`"
    assert hint in answer.stderr.decode()
    assert b"warning: " not in answer.stderr
    assert answer.stdout.count(b"\n") == 1


def test_notes_on_a_folder_are_shown(pocketmt: Run, folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    path = copy / "decoder.yml"
    path.write_text(path.read_text().replace("beam-size: 4", "beam-size: 6"))
    answer = pocketmt("translate", "--model", copy, "--no-check", stdin=b"the man\n")
    assert answer.returncode == 0, answer.stderr
    assert answer.stderr.count(b"warning: beam-size is 6: give --beam-size 6 to `pocketmt translate`") == 1


def test_temporary_imports_are_removed(pocketmt: Run, folder: Path, tmp_path: Path) -> None:
    environment = {"TMPDIR": str(tmp_path)}
    answer = pocketmt("translate", "-m", folder, "--no-check", stdin=b"the man\n", environment=environment)
    assert answer.returncode == 0, answer.stderr
    assert b"imported into a temporary file" in answer.stderr
    assert not list(tmp_path.iterdir())


def test_a_folder_is_compared_under_its_own_name(pocketmt: Run, folder: Path, tmp_path: Path) -> None:
    imported, record = tmp_path / "model.pocketmt", tmp_path / "record.json"
    assert pocketmt("import", folder, "--output", imported).returncode == 0
    (tmp_path / "text.en").write_text("the man sees a bike\n")
    for models in ((folder, imported), (imported, folder)):
        answer = pocketmt("compare", *models, "--text", tmp_path / "text.en", "--json", record, "--no-speed")
        assert answer.returncode == 0, answer.stderr
        found = json.loads(record.read_text(encoding="utf-8"))
        assert [found[side]["name"] for side in ("original", "small")] == [str(model) for model in models]
        assert found["outputs"]["identical"] == found["lines"] == 1


@pytest.mark.parametrize("command", ["shortlist", "names"])
def test_messages_name_a_folder_as_it_was_given(pocketmt: Run, folder: Path, tmp_path: Path, command: str) -> None:
    answer = pocketmt(command, folder, "--like", folder, "-o", tmp_path / "model.pocketmt")
    assert answer.returncode == 1
    assert f"error: {folder}: h".encode() in answer.stderr  # It holds no shortlist, and has no known words.


def test_a_folder_is_inspected_and_scored(pocketmt: Run, folder: Path, tmp_path: Path) -> None:
    report = json.loads(pocketmt("inspect", folder, "--json").stdout)
    assert report["path"] == str(folder)
    assert f"{folder}\n" in pocketmt("inspect", folder).stdout.decode()
    assert report["architecture"]["positions"] == "concatenated_inclusive"
    (tmp_path / "text.en").write_text("the man sees a bike\n")
    (tmp_path / "text.de").write_text("der Mann sieht ein Rad\n")
    arguments = ("--source", tmp_path / "text.en", "--references", tmp_path / "text.de", "--json")
    answer = pocketmt("evaluate", "--model", folder, "--baseline", folder, *arguments)
    assert answer.returncode == 0, answer.stderr
    record = json.loads(answer.stdout)
    assert (record["model"], record["baseline"]) == (str(folder), str(folder))
    assert answer.stderr.count(b"imported into a temporary file") == 1
