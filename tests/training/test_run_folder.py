"""Folders of training runs: refused runs, extended runs, other settings of the machine, locks and full disks."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest
import torch

import pocketmt.training.run as run_module
from pocketmt.cores import available_cores
from pocketmt.errors import ConfigurationError, DataError, PocketMTError
from pocketmt.folder_lock import LockedError, locked
from pocketmt.packing.model_source import AnyModel
from pocketmt.training.checkpoints import load_checkpoint, load_weights, save_checkpoint, save_weights
from pocketmt.training.configuration import Configuration, read_configuration
from pocketmt.training.run import train
from pocketmt.training.steps import DivergedError
from tests.compression.tiny_run import stop_at_update

from .test_run import write_configuration, write_corpus

HOLDER = """
import sys, time
from pathlib import Path
from pocketmt.folder_lock import locked
with locked(Path(sys.argv[1])):
    print("locked", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    write_corpus(tmp_path, pairs=80)
    return tmp_path


def settings(folder: Path, **training: object) -> Configuration:
    return read_configuration(write_configuration(folder, **training))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("vocabulary_size = 64", "vocabulary_size = 5000"),
        ("vocabulary_size = 64", "vocabulary_size = 64\nmaximum_length = 1"),
        ("train.up", "short.up"),
        ("dev.en", "empty.en"),
        ("seed = 1", "seed = 1\nlearning_rate = 1e30\nwarmup_updates = 1"),
    ],
)
def test_a_refused_run_leaves_nothing_and_the_corrected_one_is_accepted(corpus: Path, old: str, new: str) -> None:
    (corpus / "short.up").write_text("ONE\n")
    (corpus / "empty.en").touch()
    path = write_configuration(corpus, seed=1, maximum_updates=3)
    good = path.read_text().replace("warmup_updates = 10\n", "")
    path.write_text(good.replace(old, new))
    before = sorted(os.listdir(corpus))
    with pytest.raises(PocketMTError):
        train(read_configuration(path), corpus / "new" / "run")
    assert sorted(os.listdir(corpus)) == before
    path.write_text(good)
    assert train(read_configuration(path), corpus / "new" / "run").update == 3


def test_what_a_run_killed_before_its_first_checkpoint_has_left_does_not_block(corpus: Path) -> None:
    run = corpus / "run"
    train(settings(corpus, maximum_updates=3), run)
    vocabulary = (run / "vocabulary.model").read_bytes()
    for name in ("checkpoint.pt", "model.safetensors"):
        (run / name).unlink()
    path = write_configuration(corpus, maximum_updates=3)
    path.write_text(path.read_text().replace("vocabulary_size = 64", "vocabulary_size = 60"))
    train(read_configuration(path), run)
    assert (run / "vocabulary.model").read_bytes() != vocabulary


@pytest.mark.parametrize("name", ["vocabulary.model", "model.safetensors", "log.jsonl", "checkpoint.pt", "snapshots"])
def test_a_folder_with_files_of_no_run_is_refused_and_they_stay(corpus: Path, name: str) -> None:
    run = corpus / "run"
    run.mkdir()
    (run / name).write_text("mine")
    (run / "notes.txt").write_text("mine")
    with pytest.raises(ConfigurationError, match=rf"run holds {name} but no configuration\.json"):
        train(settings(corpus), run)
    assert sorted(os.listdir(run)) == sorted(["notes.txt", name])
    (run / name).unlink()
    assert train(settings(corpus, maximum_updates=3), run).update == 3
    assert (run / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("content", [b"{}", b'{"theme": "dark"}', b"\xff\xfe", b'"\xff"'])
def test_a_folder_with_settings_of_another_program_is_refused_and_its_files_stay(corpus: Path, content: bytes) -> None:
    run = corpus / "run"
    (run / "snapshots").mkdir(parents=True)
    files = ["configuration.json", "log.jsonl", "snapshots/photo.jpg", "vocabulary.model", ".note.unfinished"]
    for name in files:
        (run / name).write_bytes(content)
    with pytest.raises(ConfigurationError, match=r"configuration\.json does not hold the settings of a run"):
        train(settings(corpus), run)
    assert [(run / name).read_bytes() for name in files] == [content] * len(files)


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"mine", "not a checkpoint of PocketMT, or damaged: remove it to start the run again"), (None, "cannot be read")],
)
def test_a_broken_checkpoint_is_named(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "checkpoint.pt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DataError, match=message) as raised:
        load_checkpoint(path)
    assert "weights_only" not in str(raised.value)


@pytest.mark.parametrize("name", ["train.en", "train.up", "dev.en", "dev.up"])
def test_a_run_on_text_that_has_changed_is_refused(corpus: Path, name: str) -> None:
    run = corpus / "run"
    train(settings(corpus, maximum_updates=3), run)
    before = (corpus / name).read_text()
    (corpus / name).write_text(before.replace("cat", "dog").replace("CAT", "DOG"))
    with pytest.raises(ConfigurationError, match=rf"the text of .*{name} changed after the work in .*run began"):
        train(settings(corpus, maximum_updates=6), run)
    (corpus / name).write_text(before)
    assert train(settings(corpus, maximum_updates=6), run).update == 6


def test_a_run_of_an_earlier_version_without_records_of_its_text_resumes(corpus: Path) -> None:
    run = corpus / "run"
    train(settings(corpus, maximum_updates=3), run)
    (run / "inputs.json").unlink()
    assert train(settings(corpus, maximum_updates=6), run).update == 6
    assert (run / "inputs.json").exists()


def taught_settings(folder: Path, **training: object) -> Configuration:
    """Return a run that learns from the run "taught" of the same folder."""
    path = write_configuration(folder, objective='"mixed"', teacher='"taught"', **training)
    path.write_text(path.read_text().replace("vocabulary_size = 64", 'vocabulary = "taught"'))
    return read_configuration(path)


def test_a_run_resumes_where_its_files_have_been_moved_to(corpus: Path) -> None:
    train(settings(corpus, maximum_updates=3), corpus / "taught")
    train(taught_settings(corpus, maximum_updates=3), corpus / "run", AnyModel)
    moved = corpus.with_name(f"{corpus.name}-moved")
    corpus.rename(moved)
    assert train(taught_settings(moved, maximum_updates=6), moved / "run", AnyModel).update == 6
    recorded = json.loads((moved / "run" / "configuration.json").read_text())
    assert recorded["data"]["training_source"] == str(moved / "train.en")
    assert json.loads((moved / "run" / "inputs.json").read_text())["texts"][0]["path"] == str(moved / "dev.en")


def test_a_run_of_an_earlier_version_is_refused_where_its_files_have_been_moved_to(corpus: Path) -> None:
    train(settings(corpus, maximum_updates=3), corpus / "run")
    (corpus / "run" / "inputs.json").unlink()
    moved = corpus.with_name(f"{corpus.name}-moved")
    corpus.rename(moved)
    with pytest.raises(ConfigurationError, match=r"another configuration \(training_source is "):
        train(settings(moved, maximum_updates=6), moved / "run")


@pytest.mark.parametrize("name", ["train.up", "dev.en"])
def test_a_run_on_other_text_in_another_file_is_refused_and_its_record_stays(corpus: Path, name: str) -> None:
    run = corpus / "run"
    train(settings(corpus, maximum_updates=3), run)
    text = (corpus / name).read_text()
    (corpus / "other.txt").write_text(text.replace("cat", "dog").replace("CAT", "DOG"))
    records = [(run / record).read_bytes() for record in ("configuration.json", "inputs.json")]
    path = write_configuration(corpus, maximum_updates=6)
    path.write_text(path.read_text().replace(name, "other.txt"))
    with pytest.raises(ConfigurationError, match=rf"began with .*{name}, and .*other\.txt has other text: give"):
        train(read_configuration(path), run)
    assert [(run / record).read_bytes() for record in ("configuration.json", "inputs.json")] == records
    (corpus / "other.txt").write_text(text)
    assert train(read_configuration(path), run).update == 6


def test_a_run_with_another_vocabulary_is_refused_and_with_a_copy_it_resumes(corpus: Path) -> None:
    train(settings(corpus, maximum_updates=3, seed=1), corpus / "first")
    sizes = write_configuration(corpus, maximum_updates=3)
    sizes.write_text(sizes.read_text().replace("vocabulary_size = 64", "vocabulary_size = 60"))
    train(read_configuration(sizes), corpus / "second")

    def resume(vocabulary: Path, updates: int) -> int:
        path = write_configuration(corpus, maximum_updates=updates)
        path.write_text(path.read_text().replace("vocabulary_size = 64", f'vocabulary = "{vocabulary}"'))
        return train(read_configuration(path), corpus / "run").update

    resume(corpus / "first", 3)
    with pytest.raises(
        ConfigurationError, match=r"second is another vocabulary than .*vocabulary\.model, which the run"
    ):
        resume(corpus / "second", 6)
    copy = corpus / "copy.model"
    copy.write_bytes((corpus / "first" / "vocabulary.model").read_bytes())
    assert resume(copy, 6) == 6


def test_a_run_by_a_teacher_that_has_changed_is_refused(corpus: Path) -> None:
    train(settings(corpus, maximum_updates=3), corpus / "taught")
    configuration = taught_settings(corpus, maximum_updates=3)
    train(configuration, corpus / "run", AnyModel)
    weights, metadata = load_weights(corpus / "taught" / "model.safetensors")
    weights["embedding.weight"] += 1
    save_weights(corpus / "taught" / "model.safetensors", weights, metadata)
    with pytest.raises(ConfigurationError, match=r"the weights of the teacher .*taught changed after"):
        train(configuration, corpus / "run", AnyModel)


def test_a_teacher_of_other_languages_is_refused(corpus: Path) -> None:
    train(settings(corpus, maximum_updates=3), corpus / "taught")
    path = write_configuration(corpus, maximum_updates=3, objective='"mixed"', teacher='"taught"')
    text = path.read_text().replace("vocabulary_size = 64", 'vocabulary = "taught"')
    path.write_text(text.replace('target_language = "up"', 'target_language = "fr"'))
    with pytest.raises(ConfigurationError, match=r"target language of this run is fr, that of the teacher .* is up"):
        train(read_configuration(path), corpus / "run", AnyModel)


def test_a_run_that_was_stopped_before_its_first_validation_ends_with_a_model_if_its_updates_are_lowered(
    corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = corpus / "run"
    stop_at_update(8, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        train(settings(corpus), run)
    with pytest.raises(ConfigurationError, match="ask for at least 6"):
        train(settings(corpus, maximum_updates=3), run)
    assert train(settings(corpus, maximum_updates=6), run).best_update == 6
    assert load_weights(run / "model.safetensors")[1]["training"]["update"] == 6
    log = (run / "log.jsonl").read_text()
    assert train(settings(corpus, maximum_updates=6), run).update == 6
    assert (run / "log.jsonl").read_text() == log


@pytest.mark.parametrize("error", [KeyboardInterrupt, DivergedError])
def test_a_last_validation_that_was_interrupted_is_done_again(
    corpus: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    run, lowered = corpus / "run", settings(corpus, validate_every=4, maximum_updates=6)
    with monkeypatch.context() as stopping, pytest.raises(KeyboardInterrupt):
        stop_at_update(8, stopping)
        train(settings(corpus, validate_every=4), run)
    with monkeypatch.context() as failing, pytest.raises(error):
        failing.setattr(run_module, "validate", mock.Mock(side_effect=error))
        train(lowered, run)
    train(lowered, run)
    events = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
    assert [event["update"] for event in events if event["event"] == "validation"] == [4, 6]


def test_a_checkpoint_that_does_not_say_what_was_validated_is_validated_once(corpus: Path) -> None:
    run, configuration = corpus / "run", settings(corpus, maximum_updates=6)
    train(configuration, run)
    state = load_checkpoint(run / "checkpoint.pt")
    del state["position"]["validated_update"]
    save_checkpoint(run / "checkpoint.pt", state)
    model = (run / "model.safetensors").read_bytes()
    for _ in range(2):
        assert train(configuration, run).validated_update == 6
        events = [json.loads(line)["event"] for line in (run / "log.jsonl").read_text().splitlines()]
        assert events.count("validation") == 2
    assert (run / "model.safetensors").read_bytes() == model


def test_what_a_killed_process_has_left_unfinished_is_removed_and_files_of_others_stay(corpus: Path) -> None:
    train(settings(corpus, maximum_updates=3), corpus / "run")
    left = [".checkpoint.pt.0a1b2c3d.unfinished", ".model.safetensors.0a1b2c3d.unfinished"]
    left += ["snapshots/.00000003.safetensors.0a1b2c3d.unfinished"]
    for name in (*left, ".m.pocketmt.0a1b2c3d.unfinished", ".checkpoint.pt.mine.unfinished"):
        (corpus / "run" / name).touch()
    train(settings(corpus, maximum_updates=3), corpus / "run")
    found = {path.name for path in (corpus / "run").rglob("*.unfinished")}
    assert found == {".m.pocketmt.0a1b2c3d.unfinished", ".checkpoint.pt.mine.unfinished"}


def test_a_run_that_diverges_names_update_and_remedy_and_keeps_its_best_model(corpus: Path) -> None:
    # The rate is 0 at update 5 of 5, where the decay ends, and so large after it that the network overflows.
    with pytest.raises(DivergedError, match=r"diverged at update \d+, .* lower learning_rate \(now 1e\+30\) or raise"):
        train(settings(corpus, learning_rate=1e30, warmup_updates=1), corpus / "run")
    assert not (corpus / "run").exists()
    with pytest.raises(
        DivergedError, match=r"model\.safetensors is the best model before that.* choose another folder"
    ):
        train(settings(corpus, learning_rate=1e5, warmup_updates=1, validate_every=1), corpus / "run")
    assert (corpus / "run" / "model.safetensors").exists()


def test_a_model_whose_loss_is_not_finite_is_never_the_best(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(DivergedError, match=r"diverged at update 1, a gradient or the validation loss is not finite"):
        train(settings(corpus, learning_rate=1e30, warmup_updates=1, validate_every=1), corpus / "run")
    assert not (corpus / "run").exists()
    assert "validation update=1 epoch=0 loss=None" in capsys.readouterr().err


@pytest.mark.skipif(available_cores() == 1, reason="this process has one core, so two devices are refused")
@pytest.mark.usefixtures("quick_processes")
def test_an_error_in_several_processes_is_that_of_one(corpus: Path) -> None:
    with pytest.raises(DivergedError, match=r"^training diverged at update \d+, .* raise warmup_updates \(now 1\)$"):
        train(settings(corpus, devices=2, learning_rate=1e30, warmup_updates=1), corpus / "run")
    assert not (corpus / "run").exists()


def test_a_finished_run_is_extended_to_the_same_weights(corpus: Path) -> None:
    train(settings(corpus, maximum_updates=40), corpus / "whole")
    train(settings(corpus, maximum_updates=20), corpus / "extended")
    train(settings(corpus, maximum_updates=40, patience=20), corpus / "extended")
    whole, extended = (load_weights(corpus / name / "model.safetensors") for name in ("whole", "extended"))
    assert whole[1] == extended[1]
    for name, tensor in whole[0].items():
        assert torch.equal(tensor, extended[0][name]), name
    checkpoints = [load_checkpoint(corpus / name / "checkpoint.pt")["weights"] for name in ("whole", "extended")]
    assert all(torch.equal(tensor, checkpoints[1][name]) for name, tensor in checkpoints[0].items())
    recorded = json.loads((corpus / "extended" / "configuration.json").read_text())
    assert recorded["training"]["maximum_updates"] == 40


def test_patience_can_be_extended(corpus: Path) -> None:
    run = corpus / "run"
    # Without learning, BLEU never improves after the first validation.
    frozen = {"learning_rate": 1e-12, "validate_every": 2, "maximum_updates": 30}
    stopped = train(settings(corpus, patience=2, **frozen), run).update
    assert stopped < 30
    assert train(settings(corpus, patience=4, **frozen), run).update == stopped + 4


def test_other_settings_of_the_machine_resume_a_run(corpus: Path) -> None:
    run = corpus / "run"
    train(settings(corpus, maximum_updates=6), run)
    assert (
        train(settings(corpus, maximum_updates=9, threads=2, accelerator='"auto"', checkpoint_every=2), run).update == 9
    )


def test_fewer_updates_than_are_done_are_refused(corpus: Path) -> None:
    run = corpus / "run"
    train(settings(corpus, maximum_updates=6), run)
    with pytest.raises(ConfigurationError, match=r"run holds a run of 6 updates, more than maximum_updates \(5\)"):
        train(settings(corpus, maximum_updates=5), run)
    assert json.loads((run / "configuration.json").read_text())["training"]["maximum_updates"] == 6


def test_a_locked_folder_is_refused_and_names_the_process(corpus: Path) -> None:
    run = corpus / "run"
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(run)], stdout=subprocess.PIPE)
    try:
        assert holder.stdout is not None and holder.stdout.readline() == b"locked\n"
        with pytest.raises(
            LockedError, match=rf"run: in use by process {holder.pid} on .+, since \d{{4}}-.*: wait until"
        ):
            train(settings(corpus, maximum_updates=3), run)
        assert os.listdir(run) == [".lock"]
    finally:
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    # The lock of a killed process does not block.
    assert train(settings(corpus, maximum_updates=3), run).update == 3
    assert not (run / ".lock").exists()


def test_a_lock_removes_only_empty_folders_that_it_has_created(tmp_path: Path) -> None:
    with locked(tmp_path / "a" / "b"), pytest.raises(LockedError), locked(tmp_path / "a" / "b"):
        pass
    assert os.listdir(tmp_path) == []
    with locked(tmp_path / "a" / "b"):
        (tmp_path / "a" / "file").touch()
    assert sorted(tmp_path.rglob("*")) == [tmp_path / "a", tmp_path / "a" / "file"]
    with locked(tmp_path / "a"):
        pass
    assert (tmp_path / "a" / "file").exists()


def test_a_full_disk_is_named_when_a_checkpoint_is_saved(tmp_path: Path, small_disk: Path) -> None:
    checkpoint = small_disk / "checkpoint.pt"
    with pytest.raises(OSError, match=r"No space left on device: '.*checkpoint\.pt'"):
        save_checkpoint(checkpoint, {"weights": {"a": torch.zeros(1 << 20)}})
    assert os.listdir(small_disk) == []


@pytest.mark.usefixtures("quick_processes")
@pytest.mark.parametrize("devices", range(1, min(available_cores(), 2) + 1))
def test_a_full_disk_during_training_leaves_a_run_that_resumes(corpus: Path, small_disk: Path, devices: int) -> None:
    configuration = settings(corpus, maximum_updates=6, devices=devices)
    with pytest.raises(OSError, match=r"No space left on device: '.*/run/"):
        train(configuration, small_disk / "run")
    assert not list(small_disk.rglob("*.unfinished"))
    subprocess.run(["mount", "-o", "remount,size=64m", small_disk], check=True)
    assert train(configuration, small_disk / "run").update == 6
