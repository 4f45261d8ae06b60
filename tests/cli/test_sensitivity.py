"""pocketmt sensitivity: its table, record and picture, and the input that it refuses."""

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pocketmt.cli.main import run
from pocketmt.engine import Translator
from tests.compression.tiny_run import write_tiny_run

from .conftest import Run

TEXT = {
    "training_source": "train.en",
    "training_target": "train.up",
    "validation_source": "dev.en",
    "validation_target": "dev.up",
}


@pytest.fixture(scope="module")
def tiny_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_run(tmp_path_factory.mktemp("tiny"))


def test_the_scores_are_written_as_record_and_picture(pocketmt: Run, tiny_run: Path, tmp_path: Path) -> None:
    arguments = ("--bits", "2,1", "--option", "method=greedy", "--sentences", "4")
    answer = pocketmt("sensitivity", tiny_run, *arguments, "--picture", tmp_path / "picture.svg", "--json")
    assert answer.returncode == 0, answer.stderr
    record = json.loads(answer.stdout)
    assert (record["scheme"], record["sentences"], len(record["scores"])) == ("binary", 4, 16)
    assert os.listdir(tmp_path) == ["picture.svg"]
    warning = rb"warning: nearly all differences in BLEU from full precision \(0\.\d\) are within noise"
    assert re.search(warning, answer.stderr)


def test_the_scores_are_shown_as_a_table(pocketmt: Run, tiny_run: Path) -> None:
    answer = pocketmt("sensitivity", tiny_run, "--bits", "4", "--scheme", "logarithmic")
    assert answer.returncode == 0, answer.stderr
    assert b"\ndecoder.cross_attention " in answer.stdout


def test_only_as_many_lines_are_translated_as_are_scored(
    random_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    translated: list[str] = []
    translate = Translator.translate

    def noting(translator: Translator, lines: Sequence[str], **options: Any) -> list[str]:
        translated.extend(lines)
        return translate(translator, lines, **options)

    monkeypatch.setattr(Translator, "translate", noting)
    text = tmp_path / "text.en"
    # Long lines, because a short one has a translation that is too long for it.
    lines = ["", *(f"two dogs see the red house and {end} and a bird" for end in ("the tree", "two dogs", "a house"))]
    text.write_text("".join(f"{line}\n" for line in lines * 50))
    arguments = [str(random_model), "--text", str(text), "--sentences", "3", "--bits", "4", "--json"]
    assert run(["sensitivity", *arguments]) == 0
    assert json.loads(capsys.readouterr().out)["sentences"] == 3
    assert translated == lines  # One of the first three is empty.


def test_a_model_file_is_scored_on_the_text_of_a_configuration(pocketmt: Run, tiny_run: Path, tmp_path: Path) -> None:
    file, configuration = tmp_path / "model.pocketmt", tiny_run.parent / "training.toml"
    assert pocketmt("pack", tiny_run, "--scheme", "float32", "-o", file).returncode == 0
    sides = [f'{name} = "{path}"' for name, path in TEXT.items()]
    configuration.write_text("\n".join(["[data]", 'source_language = "en"', 'target_language = "up"', *sides]))
    records = []
    for model, more in ((tiny_run, ()), (file, ("--configuration", configuration))):
        answer = pocketmt("sensitivity", model, "--bits", "4", "--json", *more)
        assert answer.returncode == 0, answer.stderr
        records.append(json.loads(answer.stdout))
    assert records[0]["sentences"] == records[1]["sentences"] == 8
    assert records[0]["loss"] == pytest.approx(records[1]["loss"])
    assert pocketmt("sensitivity", file, "--bits", "4").returncode == 1  # It names no text.
    other = pocketmt("sensitivity", file, "--configuration", configuration, "--text", tiny_run.parent / "dev.en")
    assert (other.returncode, b"--configuration" in other.stderr) == (2, True)


def test_a_number_is_an_option_and_the_rate_is_shown(pocketmt: Run, tiny_run: Path) -> None:
    arguments = ("--bits", "4", "--scheme", "entropy_constrained", "--option", "rate=1.5", "--sentences", "4")
    answer = pocketmt("sensitivity", tiny_run, *arguments)
    assert answer.returncode == 0, answer.stderr
    assert b"BLEU, rate 1.5 of 4 bit" in answer.stdout


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("--bits", "4,x"), 2, "--bits"),
        (("--bits", "4,4"), 2, "--bits"),
        (("--option", "greedy"), 2, "NAME=VALUE"),
        (("--picture", "picture.txt"), 2, ".svg"),
        (("--picture", "missing/picture.svg"), 1, "folder missing does not exist"),
        (("--scheme", "binery"), 1, "binery"),
        (("--option", "method=best"), 1, "method is 'best'"),
        (("--bits", "8"), 1, "bits is 8"),
        (("--scheme", "affine"), 1, "give --bits 8,6,4\n"),
    ],
)
def test_invalid_arguments_are_refused(
    pocketmt: Run, tiny_run: Path, arguments: tuple[str, ...], status: int, message: str
) -> None:
    answer = pocketmt("sensitivity", tiny_run, *arguments)
    assert answer.returncode == status
    assert message in answer.stderr.decode()
    assert answer.stdout == b""


@pytest.mark.parametrize(
    "arguments", [("--scheme", "affine"), ("--scheme", "binery"), ("--option", "method=best"), ("--bits", "8")]
)
def test_mistakes_are_reported_before_text_is_translated(
    random_model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
) -> None:
    monkeypatch.setattr(Translator, "translate", None)
    (tmp_path / "text.en").write_text("two dogs see the red house\n")
    assert run(["sensitivity", str(random_model), "--text", str(tmp_path / "text.en"), *arguments]) == 1
    assert capsys.readouterr().err.startswith("error: ")
