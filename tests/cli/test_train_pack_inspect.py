"""pocketmt train, pack and inspect: from text to a model file, and the errors on the way."""

import json
import os
import shlex
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.forks import start_command

from .conftest import Run

CONFIGURATION = """
[data]
source_language = "en"
target_language = "up"
training_source = "train.en"
training_target = "train.up"
validation_source = "train.en"
validation_target = "train.up"
vocabulary_size = 48

[training]
threads = 1
batch_tokens = 128
maximum_updates = {updates}
validate_every = {updates}
checkpoint_every = 1
accelerator = "cpu"
"""


def write_run(folder: Path, updates: int = 2) -> Path:
    lines = ["a red house", "the green tree and a bird", "two dogs see the house", "a bird sees the tree"] * 5
    (folder / "train.en").write_text("".join(line + "\n" for line in lines))
    (folder / "train.up").write_text("".join(line.upper() + "\n" for line in lines))
    path = folder / "configuration.toml"
    path.write_text(CONFIGURATION.format(updates=updates))
    return path


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a short run."""
    folder = tmp_path_factory.mktemp("training")
    run = folder / "a run"
    training = start_command("train", write_run(folder), "--output", run, output=folder / "output")
    training.join()
    assert training.exitcode == 0, (folder / "output").read_text()
    return run


def test_train_ends_with_the_next_command(trained: Path, commands: Path, tmp_path: Path) -> None:
    *_, score, first, second = (trained.parent / "output").read_text().splitlines()
    assert score.startswith(f"{trained}: validation BLEU ")
    assert first == f"next: pocketmt compress '{trained}' affine4-distilled --output '{trained.name}.pocketmt'"
    assert second.startswith("  or: pocketmt pack ")
    subprocess.run([commands / "pocketmt", *shlex.split(second)[2:]], cwd=tmp_path, check=True, capture_output=True)
    assert [path.name for path in tmp_path.iterdir()] == [f"{trained.name}.pocketmt"]


def test_the_unit_of_a_configuration_is_in_the_model_file(pocketmt: Run, tmp_path: Path) -> None:
    configuration, run, file = write_run(tmp_path), tmp_path / "run", tmp_path / "lines.pocketmt"
    configuration.write_text(configuration.read_text().replace("[training]", 'unit = "line"\n[training]'))
    answer = pocketmt("train", configuration, "--output", run)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout == b""
    assert pocketmt("pack", run, "--output", file).returncode == 0
    assert json.loads(pocketmt("inspect", file, "--json").stdout)["unit"] == "line"
    whole, split = (
        pocketmt("translate", "-m", file, *options, stdin=b"a red house. two dogs.\n") for options in ([], ["--split"])
    )
    assert whole.returncode == split.returncode == 0, split.stderr
    alone = pocketmt("translate", "-m", file, stdin=b"a red house.\ntwo dogs.\n").stdout.split(b"\n")
    assert split.stdout == b" ".join(alone[:2]) + b"\n"


@pytest.mark.parametrize(
    ("decay_updates", "when"), [(0, ""), (3, ", before the last 3 updates, in which the learning rate falls")]
)
def test_a_run_that_stops_early_says_so(pocketmt: Run, tmp_path: Path, decay_updates: int, when: str) -> None:
    configuration = write_run(tmp_path, updates=9)
    settings = configuration.read_text().replace("validate_every = 9", "validate_every = 1\npatience = 2")
    # BLEU stays that of the first validation.
    configuration.write_text(f"{settings}learning_rate = 1e-12\nwarmup_updates = 1\ndecay_updates = {decay_updates}\n")
    answer = pocketmt("train", configuration, "--output", tmp_path / "run")
    assert answer.returncode == 0, answer.stderr
    assert f"stopped early{when}: no better BLEU for 2 validations; raise patience to go on\n" in answer.stderr.decode()


def test_an_unknown_unit_is_refused(pocketmt: Run, tmp_path: Path) -> None:
    configuration = write_run(tmp_path)
    configuration.write_text(configuration.read_text().replace("[training]", 'unit = "page"\n[training]'))
    answer = pocketmt("train", configuration, "--output", tmp_path / "run")
    assert answer.returncode == 1
    assert b"unit" in answer.stderr and b"'page'" in answer.stderr


def test_an_entropy_coded_file_is_smaller_and_translates_the_same(pocketmt: Run, trained: Path, tmp_path: Path) -> None:
    plain, coded = tmp_path / "plain.pocketmt", tmp_path / "coded.pocketmt"
    assert pocketmt("pack", trained, "-s", "uniform8", "-o", plain).returncode == 0
    assert pocketmt("pack", trained, "-s", "uniform8", "-o", coded, "--entropy-coding").returncode == 0
    assert coded.stat().st_size < plain.stat().st_size
    answers = [pocketmt("translate", "-m", file, stdin=b"a red house\n") for file in (plain, coded)]
    assert answers[0].returncode == 0
    assert answers[0].stdout == answers[1].stdout


def test_a_trained_model_is_packed_inspected_and_run(pocketmt: Run, trained: Path, tmp_path: Path) -> None:
    sizes = {}
    for scheme in ("float32", "uniform8", "logarithmic4"):
        file = tmp_path / f"{scheme}.pocketmt"
        answer = pocketmt("pack", trained, "-s", scheme, "-o", file, "--licence", "none", "--description", "a test")
        assert answer.returncode == 0, answer.stderr
        assert answer.stdout == b""
        sizes[scheme] = file.stat().st_size
        report = json.loads(pocketmt("inspect", file, "--json").stdout)
        assert report["file_bytes"] == sizes[scheme]
        assert (report["licence"], report["description"]) == ("none", "a test")
        assert report["unit"] == "sentence"
        assert (report["source_language"], report["target_language"]) == ("en", "up")
        assert report["architecture"]["model_dimension"] == 128
        table = pocketmt("inspect", file).stdout.decode()
        assert "embedding.weight" in table
        assert f"{sizes[scheme]:,}" in table
        assert pocketmt("translate", "-m", file, stdin=b"a red house\n").stdout.count(b"\n") == 1
    assert sizes["float32"] > 3 * sizes["uniform8"] > 4 * sizes["logarithmic4"]
    assert sorted(os.listdir(tmp_path)) == ["float32.pocketmt", "logarithmic4.pocketmt", "uniform8.pocketmt"]


def test_a_finished_run_is_not_trained_again(pocketmt: Run, trained: Path) -> None:
    weights = (trained / "model.safetensors").stat().st_mtime_ns
    assert pocketmt("train", trained.parent / "configuration.toml", "-o", trained).returncode == 0
    assert (trained / "model.safetensors").stat().st_mtime_ns == weights


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("threads = 1", "treads = 1", "treads"),
        ("threads = 1", 'threads = "one"', "threads"),
        ("[training]", "[trainig]", "trainig"),
        ("batch_tokens = 128", "batch_tokens = 0", "batch_tokens"),
        ("vocabulary_size = 48", "vocabulary_size = 4800", "at most"),
        ("[data]", "[data", "configuration.toml"),
        ('"train.up"', '"missing.up"', "missing.up"),
        ('"train.up"', '"short.up"', "short.up"),
        ('"train.', '"empty.', "empty"),
    ],
)
def test_an_invalid_configuration_or_text_is_named(
    pocketmt: Run, tmp_path: Path, old: str, new: str, message: str
) -> None:
    configuration = write_run(tmp_path)
    configuration.write_text(configuration.read_text().replace(old, new))
    (tmp_path / "short.up").write_text("A RED HOUSE\n")
    for name in ("empty.en", "empty.up"):
        (tmp_path / name).touch()
    answer = pocketmt("train", configuration, "-o", tmp_path / "run")
    assert answer.returncode == 1
    assert message in answer.stderr.decode()
    assert "error: " in answer.stderr.decode() and b"Traceback" not in answer.stderr
    assert b"Traceback" not in answer.stderr


def test_training_resumes_after_ctrl_c(pocketmt: Run, tmp_path: Path) -> None:
    configuration, run = write_run(tmp_path, updates=40), tmp_path / "run"
    process = start_command("train", configuration, "-o", run, output=tmp_path / "output")
    while not (run / "checkpoint.pt").exists():
        assert process.is_alive()
        time.sleep(0.02)
    assert process.pid is not None
    os.kill(process.pid, signal.SIGINT)
    process.join(30)
    assert process.exitcode == 130
    assert "Traceback" not in (tmp_path / "output").read_text()
    assert not list(run.rglob("*.temporary"))
    assert pocketmt("train", configuration, "-o", run).returncode == 0
    events = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
    assert [event["event"] for event in events].count("start") == 1
    assert events[-1]["update"] == 40


@pytest.mark.parametrize(
    ("run", "output", "message"),
    [
        ("missing", "out.pocketmt", "missing: no such folder"),
        ("trained", "missing/out.pocketmt", "missing"),
        ("trained", "/dev/full/out.pocketmt", "/dev/full"),
    ],
)
def test_missing_runs_and_folders_are_named(
    pocketmt: Run, trained: Path, tmp_path: Path, run: str, output: str, message: str
) -> None:
    folder = trained if run == "trained" else tmp_path / run
    answer = pocketmt("pack", folder, "-o", tmp_path / output)
    assert answer.returncode == 1
    assert answer.stderr.decode().startswith("error: ")
    assert message in answer.stderr.decode()
    assert os.listdir(tmp_path) == []


def test_a_damaged_file_is_not_shown(pocketmt: Run, random_model: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.pocketmt"
    broken.write_bytes(random_model.read_bytes()[:-1])
    answer = pocketmt("inspect", broken)
    assert answer.returncode == 1
    assert answer.stdout == b""
    assert answer.stderr.decode().startswith(f"error: {broken}: ")
