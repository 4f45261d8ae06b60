"""The name of a bundled model means this model in every command, even if a file or folder has the name, too."""

import json
import os
import shutil
from pathlib import Path

import pytest

from pocketmt.cli.endings import quoted
from pocketmt.cli.main import run
from pocketmt.cli.options import check_model, check_replaces_nothing
from pocketmt.distillation.configuration import _teacher
from pocketmt.distillation.teachers_on_cluster import name_on_every_node
from pocketmt.engine.bundled import bundled_models
from pocketmt.errors import ConfigurationError, ModelFileError
from pocketmt.packing.decoded import read_model
from pocketmt.packing.model_source import AnyModel
from pocketmt.training.trained_model import file_digest

from .conftest import Run

NAME = "everyday-en-de"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, in which a folder of text has the name of the bundled model."""
    (tmp_path / NAME).mkdir()
    (tmp_path / NAME / "text.en").write_text("Two dogs.\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_commands_translate_with_the_bundled_model(pocketmt: Run, folder: Path) -> None:
    for options in ((), ("--model", NAME)):
        answer = pocketmt("translate", *options, stdin=b"Two dogs.\n")
        assert answer.stdout == b"Zwei Hunde.\n", answer.stderr
    text, other = folder / NAME / "text.en", folder / NAME / "text.de"
    other.write_text("Zwei Hunde.\n")
    for arguments in (
        ("inspect", NAME),
        ("benchmark", NAME, text, "--repeats", "1"),
        ("evaluate", "--model", NAME, "--baseline", NAME, "--source", text, "--references", other),
    ):
        answer = pocketmt(*arguments, "--json")
        assert answer.returncode == 0, answer.stderr
        json.loads(answer.stdout)
    answer = pocketmt("translate", "--model", f"./{NAME}", stdin=b"Two dogs.\n")
    assert answer.returncode == 1


def test_a_file_of_the_name_is_scored_by_its_path(
    pocketmt: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copyfile(bundled_models()["captions-en-de"], NAME)
    Path("text.en").write_text("Where is the train station?\n")
    Path("text.de").write_text("Wo ist der Bahnhof?\n")

    def scores(model: str, baseline: str) -> tuple[float, float]:
        options = ("--baseline", baseline, "--source", "text.en", "--references", "text.de", "--json")
        answer = pocketmt("evaluate", "--model", model, *options)
        assert answer.returncode == 0, answer.stderr
        record = json.loads(answer.stdout)
        assert (record["model"], record["baseline"]) == (model, baseline)
        return record["quality"]["chrf"]["value"], record["differences"][1]["baseline"]

    bundled, file = scores(NAME, f"./{NAME}")
    assert bundled == pytest.approx(100) and file < 90
    assert scores(f"./{NAME}", NAME) == pytest.approx((file, bundled))
    assert quoted(Path(NAME)) == f"./{NAME}"


def test_readers_of_weights_take_the_bundled_model(folder: Path) -> None:
    digest = file_digest(bundled_models()[NAME])
    assert AnyModel(NAME).digest == read_model(NAME).digest == digest
    shutil.rmtree(NAME)
    shutil.copy(bundled_models()["everyday-de-en"], NAME)
    assert AnyModel(NAME).digest == digest != AnyModel(f"./{NAME}").digest == read_model(Path(NAME)).digest


def test_checks_agree(folder: Path) -> None:
    assert name_on_every_node(NAME) == _teacher(NAME, folder) == NAME
    assert name_on_every_node(f"./{NAME}") == _teacher(f"./{NAME}", folder) == os.path.join(folder, NAME)
    shutil.rmtree(NAME)
    Path(NAME).write_text("text")
    check_model(NAME)
    with pytest.raises(ModelFileError):
        check_model(f"./{NAME}")
    check_replaces_nothing([Path(NAME)], [NAME])
    with pytest.raises(ConfigurationError, match="is read, and would be replaced"):
        check_replaces_nothing([Path(NAME)], [f"./{NAME}"])


def test_options_take_bundled_names(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["shortlist", NAME, "--like", "captions-en-de", "-o", "out.pocketmt"]) == 1
    assert "captions-en-de.pocketmt: its shortlist is for another vocabulary" in capsys.readouterr().err
    Path("text.en").write_text("Where is the dog?\n")
    Path("text.de").write_text("Wo ist der Hund?\n")
    arguments = ["text.en", "text.de", "-o", "clean.en", "clean.de", "--improbable", "0", "--vocabulary", NAME]
    assert run(["clean", *arguments]) == 0
    assert Path("clean.de").read_text() == "Wo ist der Hund?\n"
