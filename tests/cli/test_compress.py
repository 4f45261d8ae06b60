"""pocketmt compress: from a run and a recipe to a model file, with resuming, target sizes and errors."""

import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from benchmarks.recipe_files import RECIPES
from pocketmt.model_file import open_model
from pocketmt.training.configuration import read_configuration
from pocketmt.training.run import train
from tests.compression.tiny_run import write_tiny_run
from tests.forks import start_command

from .conftest import Run

RECIPE = """
name = "trial"
[[stages]]
[[stages.quantize]]
matrices = ["*"]
scheme = "logarithmic"
bits = 4
[stages.retraining]
method = "error_feedback"
updates = {updates}
validate_every = 40
checkpoint_every = 10
learning_rate = {{ rate = 1e-3 }}
"""
TRAINING = """
[data]
source_language = "en"
target_language = "up"
training_source = "train.en"
training_target = "train.up"
validation_source = "dev.en"
validation_target = "dev.up"
vocabulary_size = 48
[model]
encoder_layers = 1
decoder_layers = 1
model_dimension = 32
attention_dimension = 32
feed_forward_dimension = 32
dropout = 0.0
[training]
threads = 1
accelerator = "cpu"
batch_tokens = 256
learning_rate = 0.01
warmup_updates = 50
maximum_updates = 300
validate_every = 300
"""


@pytest.fixture(scope="module")
def tiny_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_run(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def trained_run(tiny_run: Path) -> Path:
    """A run that has learnt the same text, so that low bit widths raise its loss."""
    configuration = tiny_run.parent / "training.toml"
    configuration.write_text(TRAINING)
    train(read_configuration(configuration), tiny_run.parent / "trained")
    return tiny_run.parent / "trained"


def write_recipe(folder: Path, updates: int) -> Path:
    path = folder / "recipe.toml"
    path.write_text(RECIPE.format(updates=updates))
    return path


def test_a_run_is_compressed_inspected_and_translated(pocketmt: Run, tiny_run: Path, tmp_path: Path) -> None:
    file = tmp_path / "small.pocketmt"
    answer = pocketmt("compress", tiny_run, write_recipe(tmp_path, 4), "-o", file, "--licence", "none")
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout == b""
    report = json.loads(pocketmt("inspect", file, "--json").stdout)
    assert report["licence"] == "none"
    assert report["file_bytes"] == file.stat().st_size
    assert pocketmt("translate", "-m", file, stdin=b"red cat\n").stdout.count(b"\n") == 1
    assert sorted(os.listdir(tmp_path)) == ["recipe.toml", "small.compression", "small.pocketmt"]


def test_names_that_differ_after_a_dot_have_separate_folders(pocketmt: Run, tiny_run: Path, tmp_path: Path) -> None:
    for name in ("small.v1", "small.v2.pocketmt"):
        answer = pocketmt("compress", tiny_run, write_recipe(tmp_path, 4), "-o", tmp_path / name)
        assert answer.returncode == 0, answer.stderr
    folders = {name for name in os.listdir(tmp_path) if name.endswith(".compression")}
    assert folders == {"small.v1.compression", "small.v2.compression"}


def test_a_recipe_may_quantize_biases_and_norms(pocketmt: Run, tiny_run: Path, tmp_path: Path) -> None:
    recipe = write_recipe(tmp_path, 4)
    reports = []
    vectors = """[[stages.quantize]]
vectors = ["biases", "norms"]
scheme = "logarithmic"
bits = 4
"""
    for name, more in (("plain", ""), ("small", vectors)):
        recipe.write_text(recipe.read_text().replace("[stages.retraining]", f"{more}[stages.retraining]"))
        answer = pocketmt("compress", tiny_run, recipe, "-o", tmp_path / f"{name}.pocketmt")
        assert answer.returncode == 0, answer.stderr
        reports.append(json.loads(pocketmt("inspect", tmp_path / f"{name}.pocketmt", "--json").stdout))
    plain, small = reports
    assert small["vector_bytes"] < plain["vector_bytes"] / 6
    assert small["file_bytes"] < plain["file_bytes"] - plain["vector_bytes"] / 2
    assert [group["shape"] for group in small["vector_groups"]] == [[12, 16], [2, 24]]
    assert pocketmt("translate", "-m", tmp_path / "small.pocketmt", stdin=b"red cat\n").stdout.count(b"\n") == 1


def test_a_killed_compression_resumes_to_the_same_file(pocketmt: Run, tiny_run: Path, tmp_path: Path) -> None:
    recipe = write_recipe(tmp_path, 120)
    process = start_command("compress", tiny_run, recipe, "-o", tmp_path / "killed.pocketmt")
    while not (tmp_path / "killed.compression" / "checkpoint.pt").exists():
        assert process.is_alive()
        time.sleep(0.02)
    process.kill()
    process.join()
    assert not (tmp_path / "killed.pocketmt").exists()
    for name in ("killed", "whole"):
        answer = pocketmt("compress", tiny_run, recipe, "--output", tmp_path / f"{name}.pocketmt")
        assert answer.returncode == 0, answer.stderr
    assert (tmp_path / "killed.pocketmt").read_bytes() == (tmp_path / "whole.pocketmt").read_bytes()


def test_the_list_shows_the_built_in_recipes(pocketmt: Run) -> None:
    answer = pocketmt("compress", "--list")
    assert answer.returncode == 0
    assert b"\n8bit-static\n    8-bit weights, and 8-bit activations at scales" in answer.stdout
    assert b"[Behnke et al. 2021, section 3.2]" in answer.stdout


def test_another_configuration_replaces_the_text(pocketmt: Run, tiny_run: Path, tmp_path: Path) -> None:
    configuration = tmp_path / "other.toml"
    names = ("training_source", "training_target", "validation_source", "validation_target")
    configuration.write_text(
        '[data]\nsource_language = "en"\ntarget_language = "up"\n'
        + "".join(f'{name} = "{name}.txt"\n' for name in names)
        + '[training]\nbatch_tokens = 64\naccelerator = "cpu"\n'
    )
    arguments = ("compress", tiny_run, write_recipe(tmp_path, 2), "-o", tmp_path / "out.pocketmt")
    answer = pocketmt(*arguments, "--configuration", configuration)
    assert answer.returncode == 1
    assert b"validation_source.txt" in answer.stderr
    for name in names:
        (tmp_path / f"{name}.txt").write_text("red cat\nblue dog\n" * 3)
    assert pocketmt(*arguments, "--configuration", configuration).returncode == 0


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('["*"]', '["decoder.cross"]', "'decoder.cross' matches no matrix"),
        ("bits = 4", "bits = 5", "bits is 5, expected one of 1, 2, 3, 4"),
        ("updates = 2", "updtes = 2", "`updtes`"),
        ('"error_feedback"', '"trained_parameters"', "no parameters to train"),
    ],
)
def test_an_invalid_recipe_is_refused_before_any_work(
    pocketmt: Run, tiny_run: Path, tmp_path: Path, old: str, new: str, message: str
) -> None:
    recipe = write_recipe(tmp_path, 2)
    recipe.write_text(recipe.read_text().replace(old, new))
    answer = pocketmt("compress", tiny_run, recipe, "-o", tmp_path / "out.pocketmt")
    assert answer.returncode == 1
    assert answer.stderr.decode().startswith("error: ")
    assert message in answer.stderr.decode()
    assert os.listdir(tmp_path) == ["recipe.toml"]


def test_a_model_without_parallel_text_is_compressed_with_plain_text(
    pocketmt: Run, tiny_run: Path, tmp_path: Path
) -> None:
    bare = tmp_path / "run"
    shutil.copytree(tiny_run, bare)
    (bare / "configuration.json").unlink()
    (tmp_path / "plain.en").write_text("red cat and blue dog in a green house by a tree\n" * 20)
    text = ("--source-text", tmp_path / "plain.en")
    answer = pocketmt("compress", bare, write_recipe(tmp_path, 2), *text, "-o", tmp_path / "small.pocketmt")
    assert answer.returncode == 0, answer.stderr
    assert (tmp_path / "small.pocketmt").exists()


def test_an_output_that_cannot_be_written_is_refused_before_any_work(
    pocketmt: Run, tiny_run: Path, tmp_path: Path
) -> None:
    answer = pocketmt("compress", tiny_run, write_recipe(tmp_path, 2), "-o", tmp_path / "missing" / "out.pocketmt")
    assert answer.returncode == 1
    assert b"missing" in answer.stderr
    assert os.listdir(tmp_path) == ["recipe.toml"]


def test_bits_are_chosen_for_a_target_size(pocketmt: Run, tiny_run: Path, tmp_path: Path) -> None:
    file = tmp_path / "small.pocketmt"
    assert pocketmt("compress", tiny_run, "8bit", "-o", tmp_path / "larger.pocketmt").returncode == 0
    size = (tmp_path / "larger.pocketmt").stat().st_size - 500
    arguments = ("compress", tiny_run, "--target-size", size, "--updates", "4", "-o", file)
    answer = pocketmt(*arguments)
    assert answer.returncode == 0, answer.stderr
    assert file.stat().st_size <= size
    assert b"chosen: embedding" in answer.stderr
    again = pocketmt(*arguments)
    assert again.returncode == 0


def test_the_target_size_counts_the_description(pocketmt: Run, tiny_run: Path, tmp_path: Path) -> None:
    file = tmp_path / "small.pocketmt"
    about = ("--description", "words " * 500, "--licence", "CC0")
    assert pocketmt("compress", tiny_run, "8bit", "-o", tmp_path / "larger.pocketmt", *about).returncode == 0
    size = (tmp_path / "larger.pocketmt").stat().st_size - 500
    answer = pocketmt("compress", tiny_run, "--target-size", size, "--updates", "0", "-o", file, *about)
    assert answer.returncode == 0, answer.stderr
    assert file.stat().st_size <= size
    assert answer.stderr.count(b"chosen: ") == 1  # The first recipe is small enough.


def test_the_target_size_is_that_of_the_entropy_coded_file(pocketmt: Run, tiny_run: Path, tmp_path: Path) -> None:
    file = tmp_path / "small.pocketmt"
    larger = tmp_path / "larger.pocketmt"
    assert pocketmt("compress", tiny_run, "8bit", "--entropy-coding", "-o", larger).returncode == 0
    size = larger.stat().st_size - 300
    arguments = ("--updates", "2", "--entropy-coding", "--precision", "bfloat16-mixed")
    answer = pocketmt("compress", tiny_run, "--target-size", size, *arguments, "-o", file)
    assert answer.returncode == 0, answer.stderr
    assert file.stat().st_size <= size
    with open_model(file) as model:
        assert "coding" in model.manifest


def test_a_target_size_that_is_too_small_is_refused(pocketmt: Run, tiny_run: Path, tmp_path: Path) -> None:
    answer = pocketmt("compress", tiny_run, "--target-size", "1kB", "-o", tmp_path / "small.pocketmt")
    assert answer.returncode == 1
    assert b"1,000 bytes is too small for this model: it needs at least" in answer.stderr
    assert not (tmp_path / "small.pocketmt").exists()


def test_bits_are_chosen_for_a_tolerated_loss(pocketmt: Run, trained_run: Path, tmp_path: Path) -> None:
    sizes, rises = [], []
    for tolerated in ("0.02", "0.3"):
        file = tmp_path / f"{tolerated}.pocketmt"
        arguments = ("compress", trained_run, "--tolerated-loss", tolerated, "--updates", "0", "--output", file)
        answer = pocketmt(*arguments)
        assert answer.returncode == 0, answer.stderr
        assert b"chosen: embedding" in answer.stderr
        assert f"{file}: {file.stat().st_size:,} bytes" in answer.stderr.decode()
        with open_model(file) as model:
            training: Any = model.manifest["training"]
        sizes.append(file.stat().st_size)
        rises.append(training["compression"]["loss"] - training["validation_loss"])
    assert pocketmt("translate", "-m", file, stdin=b"red cat\n").stdout.count(b"\n") == 1
    assert sizes[1] < sizes[0]
    assert rises[0] <= 0.02 < rises[1] <= 0.3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), b"Give one of RECIPE, --target-size and --tolerated-loss"),
        (("8bit", "--target-size", "1MB"), b"Give one of RECIPE"),
        (("8bit", "--updates", "5"), b"--updates needs"),
        (("--target-size", "1MB", "--folder", "work"), b"Give --output"),
        (("--target-size", "large"), b"'large' is not a size"),
        (("--target-size", "3 parsecs"), b"is not a size"),
    ],
)
def test_contradictory_options_are_usage_errors(
    pocketmt: Run, tiny_run: Path, tmp_path: Path, arguments: tuple[str, ...], message: bytes
) -> None:
    output = () if "--folder" in arguments else ("-o", tmp_path / "small.pocketmt")
    answer = pocketmt("compress", tiny_run, *arguments, *output)
    assert answer.returncode == 2
    assert message in answer.stderr


def test_a_fully_quantized_model_is_written_inspected_and_translated(
    pocketmt: Run, tiny_run: Path, tmp_path: Path
) -> None:
    file = tmp_path / "small.pocketmt"
    answer = pocketmt("compress", tiny_run, RECIPES / "prato" / "8bit.toml", "--limit-updates", "4", "-o", file)
    assert answer.returncode == 0, answer.stderr
    shown = pocketmt("inspect", file).stdout.decode()
    assert "8 bit within trained ranges: position, embedding_sum by element, query_key_value by element" in shown
    report = json.loads(pocketmt("inspect", file, "--json").stdout)
    assert report["range_bytes"] > 0
    sentences = b"red cat\nblue dog house\n\n"
    translated = pocketmt("translate", "-m", file, stdin=sentences).stdout
    assert translated.count(b"\n") == 3
    alone = pocketmt("translate", "-m", file, "--beam-size", "1", stdin=sentences)
    assert alone.returncode == 0, alone.stderr


def test_without_an_output_the_scores_are_in_the_folder(pocketmt: Run, tiny_run: Path, tmp_path: Path) -> None:
    arguments = ("compress", tiny_run, RECIPES / "prato" / "8bit-naive.toml", "--limit-updates", "3")
    refused = pocketmt(*arguments, "-o", tmp_path / "model.pocketmt")
    assert refused.returncode == 1
    assert b"no model file holds the operation 'attention_scores'" in refused.stderr
    assert b"or give --folder and no --output" in refused.stderr
    assert os.listdir(tmp_path) == []
    assert pocketmt(*arguments).returncode == 2
    answer = pocketmt(*arguments, "--folder", tmp_path / "work")
    assert answer.returncode == 0, answer.stderr
    assert b"bleu" in answer.stderr
    log = [json.loads(line) for line in (tmp_path / "work" / "log.jsonl").read_text().splitlines()]
    assert [event["update"] for event in log if event["event"] == "validation"] == [1, 3]
    assert os.listdir(tmp_path) == ["work"]
