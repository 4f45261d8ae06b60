"""Quantization matrix by matrix: the codes of an ordinary compression, and memory within its bound."""

import dataclasses
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
import torch

import pocketmt.compression.matrix_by_matrix as matrix_by_matrix
import pocketmt.quantization.logarithmic as logarithmic
from benchmarks.peer.piece_list import made_up_vocabulary
from pocketmt.cli.main import run as run_command
from pocketmt.compression.matrix_by_matrix import compress_matrix_by_matrix
from pocketmt.compression.run import CompressionTask, compress_run
from pocketmt.engine import Translator
from pocketmt.errors import ConfigurationError
from pocketmt.model_file.metadata import ModelMetadata
from pocketmt.models.networks import make_network
from pocketmt.models.presets import preset
from pocketmt.packing.contents import ModelContents
from pocketmt.packing.decoded import read_model
from pocketmt.packing.model_file import pack
from pocketmt.packing.run import pack_run
from pocketmt.recipes.catalogue import find_recipe
from pocketmt.recipes.schema import limit_updates
from tests.compression.tiny_run import tensors, write_tiny_run


@pytest.fixture(scope="module")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tiny")
    path = folder / "model.pocketmt"
    pack_run(write_tiny_run(folder), "float32", path)
    return path


@pytest.fixture(scope="module")
def text(model_file: Path) -> Path:
    lines = model_file.with_name("train.en").read_text().splitlines(keepends=True)
    path = model_file.with_name("plain.en")
    path.write_text("".join(lines[:8]))
    return path


@pytest.mark.parametrize("name", ["log4-compensated", "affine4-compensated"])
def test_codes_are_those_of_an_ordinary_compression(
    name: str, model_file: Path, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matrix_by_matrix, "BLOCK_WEIGHTS", 400)  # several blocks of rows in every matrix
    monkeypatch.setattr(matrix_by_matrix, "HESSIAN_BYTES", 5_000)  # several passes over the text
    recipe = find_recipe(name)
    task = CompressionTask(run=model_file, folder=tmp_path / "work", source_text=text)
    compress_matrix_by_matrix(task, recipe, tmp_path / "small.pocketmt")
    compress_run(task, recipe, tmp_path / "ordinary.pocketmt")
    assert tensors(tmp_path / "small.pocketmt") == tensors(tmp_path / "ordinary.pocketmt")
    assert Translator(tmp_path / "small.pocketmt").translate(["red cat"])


def test_a_scale_of_many_weights_is_that_of_few(monkeypatch: pytest.MonkeyPatch) -> None:
    weight = torch.randn(50, 30, generator=torch.Generator().manual_seed(1))
    scheme = logarithmic.Logarithmic("matrix")
    expected = scheme.fit(weight)["scale"]
    monkeypatch.setattr(logarithmic, "MOST_COPIED", 0)
    assert torch.equal(scheme.fit(weight)["scale"], expected)
    assert torch.equal(scheme.fit(torch.zeros(2, 3))["scale"], torch.zeros(1))


@pytest.mark.parametrize("plain", [False, True])
def test_the_scores_of_an_earlier_compression_are_those_before_this_one(
    model_file: Path, text: Path, tmp_path: Path, plain: bool
) -> None:
    run = model_file.with_name("run")
    if plain:  # The earlier compression is only scored on translations.
        shutil.copytree(run, tmp_path / "run")
        run = tmp_path / "run"
        (run / "configuration.json").unlink()
    task = CompressionTask(run=run, folder=tmp_path / "1", source_text=text if plain else None)
    compress_run(task, limit_updates(find_recipe("8bit-static"), 1), tmp_path / "first.pocketmt")
    earlier = read_model(str(tmp_path / "first.pocketmt")).training["compression"]
    task = CompressionTask(run=tmp_path / "first.pocketmt", folder=tmp_path / "2", source_text=text)
    compress_matrix_by_matrix(task, find_recipe("log4-compensated"), tmp_path / "second.pocketmt")
    training = read_model(str(tmp_path / "second.pocketmt")).training
    assert "compression" not in training
    assert training.get("validation_bleu") == earlier.get("bleu")
    assert ("agreement_bleu" in earlier) == plain == ("validation_loss" not in training)


def test_the_text_of_a_configuration_is_used(model_file: Path, tmp_path: Path) -> None:
    recipe = find_recipe("affine4-compensated")  # needs text, and none is known of a model file
    configuration = read_model(str(model_file.with_name("run"))).configuration
    assert configuration is not None
    task = CompressionTask(run=model_file, folder=tmp_path / "work", configuration=configuration)
    compress_matrix_by_matrix(task, recipe, tmp_path / "small.pocketmt")
    compress_run(task, recipe, tmp_path / "ordinary.pocketmt")
    assert tensors(tmp_path / "small.pocketmt") == tensors(tmp_path / "ordinary.pocketmt")
    assert "validation_bleu" not in read_model(str(tmp_path / "small.pocketmt")).training
    data = msgspec.structs.replace(configuration.data, source_language="up", target_language="en")
    reversed_task = dataclasses.replace(task, configuration=msgspec.structs.replace(configuration, data=data))
    with pytest.raises(ConfigurationError, match="is en, that of the configuration is up"):
        compress_matrix_by_matrix(reversed_task, recipe, tmp_path / "small.pocketmt")


FREQUENCIES = """
name = "x"
[[stages]]
[[stages.quantize]]
matrices = ["embedding"]
scheme = "binary"
bits = 3
frequency_ratio = 2
[stages.retraining]
method = "error_compensation"
"""


def test_row_groups_by_frequency(model_file: Path, text: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "x.toml"
    recipe.write_text(FREQUENCIES)
    arguments = ["compress", str(model_file), str(recipe), "--text", str(text), "--folder", str(tmp_path / "work")]
    assert run_command([*arguments, "--output", str(tmp_path / "ordinary.pocketmt")]) == 0
    assert run_command([*arguments, "--output", str(tmp_path / "small.pocketmt"), "--low-memory"]) == 0
    assert tensors(tmp_path / "small.pocketmt") == tensors(tmp_path / "ordinary.pocketmt")


@pytest.mark.parametrize("name", ["log4-distilled", "8bit-static", "entropy-3-bits-compensated"])
def test_recipes_that_do_more_are_refused(name: str, model_file: Path, text: Path, tmp_path: Path) -> None:
    task = CompressionTask(run=model_file, folder=tmp_path / "work", source_text=text)
    with pytest.raises(ConfigurationError, match=rf"the recipe {name}.* leave out --low-memory"):
        compress_matrix_by_matrix(task, find_recipe(name), tmp_path / "small.pocketmt")
    assert not list(tmp_path.glob("small*"))


def test_the_folder_of_a_run_and_entropy_coding_are_refused(model_file: Path, tmp_path: Path) -> None:
    recipe = find_recipe("8bit")
    task = CompressionTask(run=model_file.with_name("run"), folder=tmp_path / "work")
    with pytest.raises(ConfigurationError, match=r"pocketmt pack .* --scheme float32"):
        compress_matrix_by_matrix(task, recipe, tmp_path / "small.pocketmt")
    task = CompressionTask(run=model_file, folder=tmp_path / "work", entropy_coding=True)
    with pytest.raises(ConfigurationError, match="leave out --entropy-coding"):
        compress_matrix_by_matrix(task, recipe, tmp_path / "small.pocketmt")
    assert run_command(["compress", str(model_file), "--target-size", "30kB", "--low-memory", "-o", "x"]) == 2


def test_text_that_would_not_be_used_is_refused(model_file: Path, text: Path, tmp_path: Path) -> None:
    task = CompressionTask(run=model_file, folder=tmp_path / "work", source_text=text)
    with pytest.raises(ConfigurationError, match=r"plain\.en would not be used: the recipe 8bit needs no text"):
        compress_matrix_by_matrix(task, find_recipe("8bit"), tmp_path / "small.pocketmt")


RECIPE = Path(__file__).resolve().parents[2] / "benchmarks" / "recipes" / "aji" / "log4-after-training.toml"
MEASURED = """
import sys
import pocketmt.compression.matrix_by_matrix as matrix_by_matrix
from pocketmt.cli.main import run
from pocketmt.evaluation.records import peak_memory_bytes
matrix_by_matrix.BLOCK_WEIGHTS = 1 << 18
status = run(sys.argv[1:])
print(peak_memory_bytes())
sys.exit(status)
"""


def test_memory_holds_the_weights_once(model_file: Path, tmp_path: Path) -> None:
    shape = preset("tiny", 60_000)
    contents = ModelContents(
        make_network(shape).state_dict(), shape, made_up_vocabulary(60_000), "float32", ModelMetadata()
    )
    large = tmp_path / "large.pocketmt"
    pack(large, contents)

    def peak(model: Path) -> int:
        output = tmp_path / f"{model.stem}-small.pocketmt"
        arguments = ["compress", str(model), str(RECIPE), "--low-memory", "--output", str(output)]
        command = [sys.executable, "-c", MEASURED, *arguments]
        return int(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)

    # The small model's peak is that of Python, PyTorch and a block of rows. The large one's weights are mapped once,
    # and its embedding, nearly all of them, is sorted in a copy. An ordinary compression takes ten times the weights.
    assert peak(large) - peak(model_file) <= 3 * large.stat().st_size
