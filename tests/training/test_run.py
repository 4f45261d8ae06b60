"""Training runs from start to end: resuming, mixed precision, several processes and errors."""

import json
import math
import os
import random
import signal
import socket
from pathlib import Path
from unittest import mock

import pytest
import torch
from torch.distributed.launcher.api import LaunchConfig, elastic_launch

import pocketmt.cli.main as command
import pocketmt.training.steps as steps
from pocketmt.cores import available_cores
from pocketmt.errors import ConfigurationError, DataError
from pocketmt.training.checkpoints import Snapshots, load_checkpoint, load_weights, save_weights
from pocketmt.training.configuration import read_configuration
from pocketmt.training.run import train
from tests.forks import forking, start

# A network so small that an update takes milliseconds.
MODEL = "[model]\nencoder_layers = 1\ndecoder_layers = 1\nmodel_dimension = 32\nattention_dimension = 32\n"


def write_corpus(folder: Path, pairs: int = 200) -> None:
    """Write a corpus that is learnt in seconds: the target has the source words in capitals and reverse order."""
    generator = random.Random(1)
    words = ["red", "blue", "green", "cat", "dog", "bird", "house", "tree"]
    for name, count in (("train", pairs), ("dev", 20)):
        lines = [[generator.choice(words) for _ in range(generator.randint(2, 6))] for _ in range(count)]
        (folder / f"{name}.en").write_text("".join(" ".join(line) + "\n" for line in lines))
        (folder / f"{name}.up").write_text("".join(" ".join(line[::-1]).upper() + "\n" for line in lines))


def write_configuration(folder: Path, **training: object) -> Path:
    settings = {
        "threads": 1,
        "batch_tokens": 256,
        "maximum_updates": 30,
        "warmup_updates": 10,
        "validate_every": 10,
        "checkpoint_every": 3,
        "averaged_checkpoints": 2,
        "accelerator": '"cpu"',
        **training,
    }
    path = folder / "configuration.toml"
    path.write_text(
        '[data]\nsource_language = "en"\ntarget_language = "up"\ntraining_source = "train.en"\n'
        'training_target = "train.up"\nvalidation_source = "dev.en"\nvalidation_target = "dev.up"\n'
        "vocabulary_size = 64\n"
        "[training]\n" + "".join(f"{name} = {value}\n" for name, value in settings.items()) + MODEL
    )
    return path


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    write_corpus(tmp_path)
    return tmp_path


def train_until(name: str, moment: str, configuration: Path, folder: Path) -> None:
    """Train, and kill this process before or after a finished file of a name first takes its place."""
    replace = Path.replace

    def replacing(file: Path, final: Path) -> Path:
        if final.name == name and moment == "before":
            os.truncate(file, file.stat().st_size // 2)
            os.kill(os.getpid(), signal.SIGKILL)
        result = replace(file, final)
        if final.name == name:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    with mock.patch.object(Path, "replace", replacing):
        train(read_configuration(configuration), folder)


def test_a_run_killed_around_each_of_its_files_resumes_to_the_same_result(corpus: Path) -> None:
    configuration = write_configuration(corpus)
    train(read_configuration(configuration), corpus / "whole")
    files = (
        "configuration.json",
        "inputs.json",
        "vocabulary.model",
        "log.jsonl",
        "checkpoint.pt",
        "00000010.safetensors",
    )
    for name in (*files, "model.safetensors", "00000030.safetensors"):
        for moment in ("before", "after"):
            process = start(train_until, name, moment, configuration, corpus / "killed", output=corpus / "output")
            process.join()
            assert process.exitcode == -signal.SIGKILL, (corpus / "output").read_text()
            if (corpus / "killed" / "checkpoint.pt").exists():
                load_checkpoint(corpus / "killed" / "checkpoint.pt")
    train(read_configuration(configuration), corpus / "killed")
    checkpoints = [load_checkpoint(corpus / name / "checkpoint.pt") for name in ("whole", "killed")]
    assert checkpoints[0]["position"] == checkpoints[1]["position"]
    for name, tensor in checkpoints[0]["weights"].items():
        assert torch.equal(tensor, checkpoints[1]["weights"][name]), name
    whole, killed = (load_weights(corpus / name / "model.safetensors") for name in ("whole", "killed"))
    assert whole[1] == killed[1]
    for name, tensor in whole[0].items():
        assert torch.equal(tensor, killed[0][name]), name
    logs = [
        [
            {key: value for key, value in json.loads(line).items() if key != "seconds"}
            for line in (corpus / name / "log.jsonl").read_text().splitlines()
        ]
        for name in ("whole", "killed")
    ]
    assert logs[0] == logs[1]


def test_a_run_killed_before_its_first_checkpoint_starts_its_log_again(corpus: Path) -> None:
    configuration = read_configuration(write_configuration(corpus, maximum_updates=3))
    train(configuration, corpus / "run")
    (corpus / "run" / "checkpoint.pt").unlink()
    train(configuration, corpus / "run")
    events = [json.loads(line)["event"] for line in (corpus / "run" / "log.jsonl").read_text().splitlines()]
    assert events.count("start") == 1


def test_a_finished_run_is_not_changed(corpus: Path) -> None:
    configuration = read_configuration(write_configuration(corpus, maximum_updates=3))
    train(configuration, corpus / "run")
    before = (corpus / "run" / "model.safetensors").read_bytes()
    assert train(configuration, corpus / "run").update == 3
    assert (corpus / "run" / "model.safetensors").read_bytes() == before


def test_mixed_precision_reaches_the_loss_of_float32(corpus: Path) -> None:
    runs = {name: corpus / name for name in ("float32", "bfloat16-mixed")}
    for name, folder in runs.items():
        configuration = write_configuration(corpus, precision=f'"{name}"')
        train(read_configuration(configuration), folder)
    full, mixed = (load_weights(folder / "model.safetensors") for folder in runs.values())
    assert all(tensor.dtype == torch.float32 for tensor in mixed[0].values())
    assert not torch.equal(full[0]["embedding.weight"], mixed[0]["embedding.weight"])
    losses = [weights[1]["training"]["validation_loss"] for weights in (full, mixed)]
    assert losses[1] == pytest.approx(losses[0], rel=0.02)


@pytest.mark.skipif(available_cores() == 1, reason="this process has one core, so two devices are refused")
def test_two_processes_train_one_model(corpus: Path) -> None:
    configuration = read_configuration(write_configuration(corpus, devices=2, maximum_updates=10))
    train(configuration, corpus / "run")
    events = [json.loads(line) for line in (corpus / "run" / "log.jsonl").read_text().splitlines()]
    assert [event["event"] for event in events] == ["start", "validation"]
    weights, _ = load_weights(corpus / "run" / "model.safetensors")
    assert all(bool(tensor.isfinite().all()) for tensor in weights.values())


def launch_by_torchrun(processes: int, *arguments: str, nodes: int = 1, port: int = 0) -> None:
    """Run a command in several processes of this node as `torchrun` does, in forks instead of new processes."""
    config = LaunchConfig(
        min_nodes=nodes,
        max_nodes=nodes,
        nproc_per_node=processes,
        run_id="test",
        rdzv_backend="c10d",
        rdzv_endpoint=f"localhost:{port}",
        local_addr="localhost",
        start_method=forking().get_start_method(),
    )
    elastic_launch(config, run_command)(*arguments)


def launch_one_of_two_nodes(port: int, *arguments: str) -> None:
    launch_by_torchrun(1, *arguments, nodes=2, port=port)


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("localhost", 0))
        return int(listening.getsockname()[1])


def run_command(*arguments: str) -> None:
    assert command.run([*arguments]) == 0


def test_torchrun_trains_on_the_batches_of_one_process_and_one_process_resumes_it(corpus: Path) -> None:
    def settings(updates: int) -> Path:
        return write_configuration(corpus, batches_per_update=2, maximum_updates=updates, validate_every=4)

    train(read_configuration(settings(8)), corpus / "alone")
    arguments = ("train", str(settings(4)), "-o", str(corpus / "moved"))
    launched = start(launch_by_torchrun, 2, *arguments, output=corpus / "output")
    launched.join()
    output = (corpus / "output").read_text()
    assert launched.exitcode == 0, output
    assert output.count("validation BLEU") == 1  # One process writes.
    train(read_configuration(settings(8)), corpus / "moved")
    assert_equal_runs(corpus, "alone", "moved")


def assert_equal_runs(folder: Path, *names: str) -> None:
    one, other = (load_checkpoint(folder / name / "checkpoint.pt") for name in names)
    assert other["position"]["batch"] == one["position"]["batch"] > 0
    assert other["position"]["update"] == one["position"]["update"] == 8
    for name, weight in one["weights"].items():
        torch.testing.assert_close(other["weights"][name], weight, rtol=1e-3, atol=1e-5)


def test_two_nodes_of_one_process_train_on_the_batches_of_one_process(corpus: Path) -> None:
    settings = write_configuration(corpus, batches_per_update=2, maximum_updates=8, validate_every=4)
    train(read_configuration(settings), corpus / "alone")
    arguments = (free_port(), "train", str(settings), "-o", str(corpus / "nodes"))
    outputs = [corpus / f"output{number}" for number in range(2)]
    nodes = [start(launch_one_of_two_nodes, *arguments, output=output) for output in outputs]
    for node in nodes:
        node.join()
    shown = "".join(output.read_text() for output in outputs)
    assert [node.exitcode for node in nodes] == [0, 0], shown
    assert all(f"MEMBER: {member}/2" in shown for member in (1, 2))
    assert shown.count("validation BLEU") == 1  # The first process of all writes.
    assert_equal_runs(corpus, "alone", "nodes")


def test_two_processes_resume_the_run_of_one(corpus: Path) -> None:
    def settings(updates: int) -> Path:
        return write_configuration(corpus, batches_per_update=2, maximum_updates=updates, validate_every=4)

    train(read_configuration(settings(8)), corpus / "alone")
    train(read_configuration(settings(4)), corpus / "moved")
    launched = start(
        launch_by_torchrun, 2, "train", str(settings(8)), "-o", str(corpus / "moved"), output=corpus / "output"
    )
    launched.join()
    assert launched.exitcode == 0, (corpus / "output").read_text()
    assert_equal_runs(corpus, "alone", "moved")


def test_devices_that_cannot_share_the_batches_are_refused(corpus: Path) -> None:
    configuration = read_configuration(write_configuration(corpus, devices=2, batches_per_update=3))
    with pytest.raises(ConfigurationError, match="batches_per_update is 3 for 2 devices"):
        train(configuration, corpus / "run")


def test_more_devices_than_there_are_cores_are_refused(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "available_cores", lambda: 3)
    with pytest.raises(ConfigurationError, match="devices is 4, but this process may use 3 cores: give at most 3"):
        train(read_configuration(write_configuration(corpus, devices=4)), corpus / "run")
    assert not (corpus / "run").exists()


def test_another_configuration_in_the_folder_is_refused(corpus: Path) -> None:
    train(read_configuration(write_configuration(corpus, maximum_updates=3)), corpus / "run")
    other = read_configuration(write_configuration(corpus, maximum_updates=3, seed=2))
    with pytest.raises(ConfigurationError, match=r"another configuration \(seed is 1 there and 2 here; see"):
        train(other, corpus / "run")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("[training]\nlerning_rate = 1.0\n", "lerning_rate"),
        ("[training]\nbatch_tokens = 0\n", "batch_tokens"),
        ('[model]\npreset = "huge"\n', "huge"),
        ("[training\n", "configuration.toml"),
        ('[model]\ndropout = "high"\n', "dropout"),
    ],
)
def test_errors_of_a_configuration_name_the_key(corpus: Path, change: str, message: str) -> None:
    path = write_configuration(corpus)
    path.write_text(path.read_text().split("[training]")[0] + change)
    with pytest.raises(ConfigurationError, match=message):
        read_configuration(path)


def test_text_that_is_listed_twice_and_has_its_copies_removed_is_refused(corpus: Path) -> None:
    path = write_configuration(corpus)
    listed = path.read_text()
    for name in ("train.en", "train.up"):
        listed = listed.replace(f'"{name}"', f'["{name}", "{name}"]')
    path.write_text(listed)
    read_configuration(path)
    path.write_text(listed.replace("[data]", "[data]\nremove_duplicates = true"))
    with pytest.raises(ConfigurationError, match=r"data: train\.en is listed more than once, but remove_duplicates"):
        read_configuration(path)


def test_unusable_text_is_refused(corpus: Path) -> None:
    configuration = read_configuration(write_configuration(corpus))
    (corpus / "train.up").write_text("ONE\n")
    with pytest.raises(DataError, match=r"train\.en has 200 lines but .*train\.up has 1"):
        train(configuration, corpus / "unequal")
    for name in ("train.en", "train.up"):
        (corpus / name).write_text("")
    with pytest.raises(DataError, match="empty"):
        train(configuration, corpus / "empty")
    (corpus / "train.en").unlink()
    with pytest.raises(DataError, match=r"train\.en"):
        train(configuration, corpus / "missing")


def test_unusable_validation_text_is_refused_before_the_training_text_is_read(corpus: Path) -> None:
    configuration = read_configuration(write_configuration(corpus))
    (corpus / "train.up").write_text("ONE\n")
    for content, message in ((b"ONE\n", r"dev\.en has 20 lines but"), (b"\xff\n" * 20, r"dev\.up, line 1: not UTF-8")):
        (corpus / "dev.up").write_bytes(content)
        with pytest.raises(DataError, match=message):
            train(configuration, corpus / "run")


def test_validation_text_without_a_whole_pair_is_refused(corpus: Path) -> None:
    (corpus / "dev.up").write_text(" \n" * 20)
    with pytest.raises(DataError, match=r"dev\.en: no pair of the validation text has text on both sides"):
        train(read_configuration(write_configuration(corpus)), corpus / "run")


def test_a_validation_pair_longer_than_a_batch_is_scored_alone(corpus: Path) -> None:
    for name, words in (("dev.en", "red cat "), ("dev.up", "CAT RED ")):
        with (corpus / name).open("a") as stream:
            stream.write(words * 200 + "\n")
    path = write_configuration(corpus, batch_tokens=32, maximum_updates=2, validate_every=2)
    assert train(read_configuration(path), corpus / "run").update == 2
    assert math.isfinite(json.loads((corpus / "run" / "log.jsonl").read_text().splitlines()[-1])["loss"])


def test_a_vocabulary_larger_than_the_text_allows_is_refused(corpus: Path) -> None:
    path = write_configuration(corpus)
    path.write_text(path.read_text().replace("vocabulary_size = 64", "vocabulary_size = 5000"))
    with pytest.raises(DataError, match="larger than the text allows: ask for at most"):
        train(read_configuration(path), corpus / "run")


def test_snapshots_are_averaged_and_removed(tmp_path: Path) -> None:
    snapshots = Snapshots(tmp_path / "snapshots", keep=2)
    for update, value in ((10, 1.0), (20, 2.0), (30, 6.0)):
        average = snapshots.add(update, {"weight": torch.full((2,), value)})
    assert average["weight"].tolist() == [4.0, 4.0]
    snapshots.remove_unneeded(20)
    assert sorted(path.stem for path in (tmp_path / "snapshots").iterdir()) == ["00000010", "00000020"]


def test_weights_have_the_permissions_of_other_files(tmp_path: Path) -> None:
    (tmp_path / "other").touch()
    save_weights(tmp_path / "weights.safetensors", {"x": torch.ones(2)}, {})
    assert (tmp_path / "weights.safetensors").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_equal_weights_are_equal_files(tmp_path: Path) -> None:
    path, metadata = (
        tmp_path / "weights.safetensors",
        {"architecture": {"layers": 4}, "languages": "ü", "training": 1.5},
    )
    weights = {"b": torch.arange(5.0), "a": torch.ones(3, 2)}
    contents = set()
    for _ in range(12):  # The library draws another order of three names in most of them.
        save_weights(path, weights, metadata)
        contents.add(path.read_bytes())
    assert len(contents) == 1
    found, about = load_weights(path)
    assert about == metadata
    assert {name: tensor.tolist() for name, tensor in found.items()} == {"a": [[1, 1]] * 3, "b": [0, 1, 2, 3, 4]}


def test_a_missing_text_is_refused_before_the_folder_is_created(corpus: Path) -> None:
    settings = write_configuration(corpus)
    settings.write_text(settings.read_text().replace("train.en", "trian.en"))
    with pytest.raises(DataError, match=r"trian\.en: cannot be read"):
        train(read_configuration(settings), corpus / "run")
    assert not (corpus / "run").exists()


def test_the_final_decay_lowers_the_rate_and_fits_into_the_run(corpus: Path) -> None:
    rates = {}
    for decay in (0, 1):
        settings = write_configuration(
            corpus, maximum_updates=50, decay_updates=decay, validate_every=50, checkpoint_every=50
        )
        train(read_configuration(settings), corpus / f"run{decay}")
        events = [json.loads(line) for line in (corpus / f"run{decay}" / "log.jsonl").read_text().splitlines()]
        rates[decay] = [event["learning_rate"] for event in events if event["event"] == "train"][-1]
    # A decay of one update halves the rate of the update before it.
    assert rates[1] == pytest.approx(rates[0] * (50 / 49) ** 0.5 / 2)
    with pytest.raises(ConfigurationError, match="lower one of them"):
        read_configuration(write_configuration(corpus, decay_updates=25))
