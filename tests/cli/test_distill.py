"""pocketmt distill: resuming, ensembles and errors."""

import json
import os
import random
import shutil
import time
from pathlib import Path

import pytest

from pocketmt.cli.main import run as run_here
from tests.compression.tiny_run import WORDS, write_tiny_run
from tests.forks import start_command

from .conftest import Run, write_random_model


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_run(tmp_path_factory.mktemp("tiny"))


def test_a_killed_distillation_resumes_to_the_same_text(pocketmt: Run, run: Path, tmp_path: Path) -> None:
    draw = random.Random(1)
    text = tmp_path / "text.en"
    text.write_text("".join(" ".join(draw.choices(WORDS, k=3)) + "\n" for _ in range(3500)))
    killed = ("distill", run, "--text", text, "--beam-size", "1", "-o", tmp_path / "killed.en", tmp_path / "killed.up")
    process = start_command(*killed)
    first = tmp_path / "killed.en.distillation" / "000" / "000000.jsonl"
    while not first.exists():
        assert process.is_alive()
        time.sleep(0.01)
    process.kill()
    process.join()
    assert not (tmp_path / "killed.en").exists() and not (tmp_path / "killed.up").exists()
    written = first.stat().st_mtime_ns
    answer = pocketmt(*killed)
    assert answer.returncode == 0, answer.stderr
    assert b"3,500 lines" in answer.stderr and answer.stdout == b""
    assert first.stat().st_mtime_ns == written
    assert (tmp_path / "killed.en").read_text() == text.read_text()
    packed = tmp_path / "killed.en.distillation" / "teacher.pocketmt"
    whole = pocketmt("translate", "-m", packed, "--beam-size", "1", stdin=text.read_bytes()).stdout
    assert (tmp_path / "killed.up").read_bytes() == whole


def test_an_ensemble_chooses_by_references(pocketmt: Run, run: Path, tmp_path: Path) -> None:
    (tmp_path / "text.en").write_text("red cat\nblue dog\n")
    second = shutil.copytree(run, tmp_path / "second")
    (tmp_path / "text.up").write_text("RED CAT\nBLUE DOG\n")
    (tmp_path / "more.en").write_text("green house\n")
    answer = pocketmt(
        *(
            "distill",
            run,
            second,
            "--parallel",
            tmp_path / "text.en",
            tmp_path / "text.up",
            "--text",
            tmp_path / "more.en",
        ),
        *("-n", "3", "-b", "3", "--folder", tmp_path / "work", "-o", tmp_path / "out.en", tmp_path / "out.up"),
    )
    assert answer.returncode == 0, answer.stderr
    assert (tmp_path / "out.en").read_text() == "red cat\nblue dog\ngreen house\n"
    assert (tmp_path / "out.up").read_text().count("\n") == 3
    record = json.loads((tmp_path / "out.en.distillation.json").read_text())
    assert len(record["teachers"]) == 2 and record["n_best"] == 3
    assert record["references"][0]["lines"] == 2 and record["references"][1] is None


@pytest.mark.parametrize(
    ("target", "named"),
    [("deu_Latn", " --languages en de\n"), ("uzn_Cyrl", " --languages en uz-Cyrl\n"), ("mul", "\n"), ("nb", "\n")],
)
def test_the_command_that_follows_names_languages_that_it_knows(
    pocketmt: Run, tmp_path: Path, target: str, named: str
) -> None:
    model, text = tmp_path / "model.pocketmt", tmp_path / "text.en"
    write_random_model(model, "float32", seed=1, source_language="eng_Latn", target_language=target)
    text.write_text("a red house\n")
    answer = pocketmt("distill", model, "--text", text, "-o", tmp_path / "out.en", tmp_path / "out.de")
    assert answer.returncode == 0, answer.stderr
    assert f"clean.out.de{named}" in answer.stderr.decode()


@pytest.mark.parametrize("count", [1, 2])
def test_lines_that_are_copied_are_counted_again_by_a_run_that_resumes(
    capsys: pytest.CaptureFixture[str], run: Path, tmp_path: Path, count: int
) -> None:
    long = "red cat " * 6300
    (tmp_path / "text.en").write_text("red cat\n\n17\n" + f"{long}\n" * count)
    outputs = tmp_path / "out.en", tmp_path / "out.up"
    command = ["distill", str(run), "--text", str(tmp_path / "text.en"), "-b", "1", "-o", *map(str, outputs)]
    copied = {1: "1 line has text that was copied", 2: "2 lines have text that was copied"}[count]
    reason = "line 4: a sentence has 50,399 characters; the limit is 50,000"
    for _ in range(2):
        assert run_here(command) == 0
        error = capsys.readouterr().err
        assert f"warning: {outputs[0]}: {copied}, not translated ({'first ' if count > 1 else ''}{reason}): " in error
    assert outputs[1].read_text().splitlines()[3].rstrip() == long.rstrip()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "Give --text, or --parallel"),
        (["--text", "text.en", "-n", "2"], "needs --parallel"),
        (["--parallel", "text.en", "text.en"], "needs --n-best"),
        (["--parallel", "text.en", "text.en", "-n", "9"], "--beam-size 9"),
    ],
)
def test_contradictory_options_are_usage_errors(
    capsys: pytest.CaptureFixture[str], run: Path, options: list[str], message: str
) -> None:
    assert run_here(["distill", str(run), *options, "-o", "out.en", "out.up"]) == 2
    assert message in capsys.readouterr().err


def test_an_error_leaves_no_files(
    capsys: pytest.CaptureFixture[str], run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("text.en").write_text("red cat\n")
    os.mkfifo("pipe")
    other = write_tiny_run(tmp_path / "other", seed=5)
    outputs = ["-o", "out.en", "out.up"]
    for arguments, message in (
        ([str(run), str(other), "--text", "text.en", *outputs], "its vocabulary is not that of"),
        ([str(run), "--text", "missing", *outputs], "missing: cannot be read"),
        ([".", "--text", "text.en", *outputs], "model.safetensors: no such file"),
        ([str(run), "--text", "text.en", "-o", "no/out.en", "out.up"], "does not exist: create it first"),
        ([str(run), "--text", "text.en", "-o", "out.en", "."], ". is a folder"),
        ([str(run), "--text", "text.en", "-o", "text.en", "out.up"], "text.en is read, and would be replaced"),
        ([str(run), "--text", "pipe", *outputs], "pipe is not a regular file, but its text is read more than once"),
    ):
        assert run_here(["distill", *arguments]) == 1
        error = capsys.readouterr().err
        assert error.startswith("error: ") and message in error
    assert sorted(os.listdir()) == ["other", "pipe", "text.en"]
