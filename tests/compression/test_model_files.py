"""Compression of model files from plain source text: as that of the run that they were packed from."""

import json
from pathlib import Path

import pytest
import torch

from pocketmt.cli.main import run as run_command
from pocketmt.compression.run import CompressionTask, compress_run
from pocketmt.engine import Translator
from pocketmt.errors import DataError
from pocketmt.model_file import open_model
from pocketmt.model_file.shortlist_encoding import Shortlist
from pocketmt.packing.decoded import read_model
from pocketmt.packing.known_words import add_known_words
from pocketmt.packing.run import pack_run
from pocketmt.packing.shortlist import add_shortlist
from pocketmt.quantization.registry import scheme_from_options
from pocketmt.quantization.row_groups import RowGroup, decode, quantize
from pocketmt.recipes.catalogue import find_recipe
from pocketmt.recipes.schema import limit_updates
from pocketmt.text.word_filter import WordFilter
from pocketmt.training.trained_model import read_trained_model
from tests.compression.tiny_run import tensors, write_tiny_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run without its configuration, as nothing is known of the text of a model file."""
    folder = write_tiny_run(tmp_path_factory.mktemp("tiny"))
    (folder / "configuration.json").unlink()
    return folder


@pytest.fixture(scope="module")
def model_file(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("packed") / "model.pocketmt"
    pack_run(run, "float32", path)
    return path


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("text") / "plain.en"
    words = ["red", "blue", "cat", "dog", "house", "tree", "green"]
    path.write_text("".join(" ".join(words[line * (3 + k) % 7] for k in range(8)) + "\n" for line in range(24)))
    return path


def test_the_side_of_a_parallel_file_is_found_by_the_languages_of_the_model(
    model_file: Path, text: Path, tmp_path: Path
) -> None:
    parallel = tmp_path / "reversed.tsv"
    lines = text.read_text().splitlines()
    parallel.write_text("up\ten\n" + "".join(f"{line.upper()}\t{line}\n" for line in lines))
    digests = []
    for each in (text, parallel):
        task = CompressionTask(run=model_file, folder=tmp_path / each.stem, source_text=each)
        compress_run(task, find_recipe("affine4-compensated"), tmp_path / f"{each.name}.pocketmt")
        digests.append(json.loads((task.folder / "compression.json").read_text())["source_text"])
    assert tensors(tmp_path / f"{parallel.name}.pocketmt") == tensors(tmp_path / f"{text.name}.pocketmt")
    assert digests[0] == digests[1]


@pytest.mark.parametrize("name", ["log4-compensated", "8bit-static", "log4-word-and-sequence-distilled"])
def test_a_model_file_is_compressed_as_its_run(
    name: str, run: Path, model_file: Path, text: Path, tmp_path: Path
) -> None:
    recipe = limit_updates(find_recipe(name), 2)
    for model in (run, model_file):
        task = CompressionTask(run=model, folder=tmp_path / model.name, source_text=text)
        compress_run(task, recipe, tmp_path / f"{model.name}.small")
    assert tensors(tmp_path / f"{run.name}.small") == tensors(tmp_path / f"{model_file.name}.small")
    assert Translator(tmp_path / f"{model_file.name}.small").translate(["red cat"])


@pytest.mark.parametrize("options", [[], ["--low-memory"]])
def test_what_a_model_file_says_and_its_shortlist_are_kept(
    options: list[str], run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, output = tmp_path / "model.pocketmt", tmp_path / "small.pocketmt"
    pack_run(run, "float32", model, licence="CC-BY-NC-4.0", description="of a test")
    add_shortlist(model, Shortlist([4, 5, 6], [[7 + k % 9] for k in range(48)]), model)
    add_known_words(model, WordFilter.of(["red", "cat"]), model)
    arguments = ["compress", str(model), "8bit", *options, "--output", str(output)]
    assert run_command(arguments) == 0
    messages = capsys.readouterr().err
    assert "pocketmt translate" in messages and "pocketmt shortlist" not in messages
    with open_model(model) as before, open_model(output) as after:
        for member in ("licence", "description", "shortlist", "known_words"):
            assert after.manifest[member] == before.manifest[member]
    kept, expected = tensors(output), tensors(model)
    assert all(kept[name] == expected[name] for name in ("shortlist", "known_words"))
    assert run_command([*arguments, "--licence", "mine"]) == 0
    with open_model(output) as after:
        assert (after.manifest["licence"], after.manifest["description"]) == ("mine", "of a test")


def test_the_teacher_of_a_file_with_a_shortlist_uses_the_whole_vocabulary(
    run: Path, model_file: Path, text: Path, tmp_path: Path
) -> None:
    listed = tmp_path / "listed.pocketmt"
    add_shortlist(model_file, Shortlist([4, 5, 6], [[]] * 48), listed)
    recipe, outputs = limit_updates(find_recipe("log4-word-and-sequence-distilled"), 2), []
    for model in (model_file, listed):
        outputs.append(tmp_path / f"{model.stem}.small")
        compress_run(CompressionTask(run=model, folder=tmp_path / model.stem, source_text=text), recipe, outputs[-1])
    kept = tensors(outputs[1])
    assert kept.pop("shortlist")
    assert kept == tensors(outputs[0])


def test_scores_on_text_that_is_unknown_are_not_those_before(tmp_path: Path) -> None:
    run = write_tiny_run(tmp_path / "text")
    configuration = read_trained_model(run).configuration
    recipe = limit_updates(find_recipe("affine4-distilled"), 2)
    first, second = tmp_path / "first.pocketmt", tmp_path / "second.pocketmt"
    compress_run(CompressionTask(run=run, folder=tmp_path / "1"), recipe, first)
    compress_run(CompressionTask(run=first, folder=tmp_path / "2", configuration=configuration), recipe, second)
    own, before = read_model(str(first)).training, read_model(str(second)).training
    assert {"validation_bleu", "validation_loss", "compression"} <= own.keys()
    assert not {"validation_bleu", "validation_loss"} & before.keys()
    assert before["compression"].keys() == own["compression"].keys()


def test_a_quantized_file_has_the_values_of_its_codes(run: Path, tmp_path: Path) -> None:
    path = tmp_path / "8bit.pocketmt"
    pack_run(run, "uniform8", path)
    whole, decoded = read_model(str(run)).weights, read_model(str(path)).weights
    scheme = scheme_from_options("uniform", bits=8)
    for name, weight in whole.items():
        groups = (RowGroup(scheme),)
        expected = decode(groups, quantize(groups, weight)) if weight.dim() == 2 else weight
        assert torch.equal(decoded[name], expected), name


def test_without_text_the_command_says_how_to_give_some(model_file: Path, tmp_path: Path) -> None:
    recipe = find_recipe("log4-compensated")
    with pytest.raises(DataError, match=r"model\.pocketmt: the recipe needs text, but none is known.*--source-text"):
        compress_run(CompressionTask(run=model_file, folder=tmp_path / "work"), recipe, tmp_path / "out.pocketmt")
    assert not list(tmp_path.glob("out*"))


def test_a_size_is_reached_from_plain_text(model_file: Path, text: Path, tmp_path: Path) -> None:
    output = tmp_path / "small.pocketmt"
    arguments = ["compress", str(model_file), "--target-size", "30kB", "--updates", "0", "--text", str(text)]
    assert run_command([*arguments, "-o", str(output)]) == 0
    assert output.stat().st_size <= 30_000


def test_text_that_nothing_is_learnt_from_scores_the_result(model_file: Path, text: Path, tmp_path: Path) -> None:
    task = CompressionTask(run=model_file, folder=tmp_path / "work", source_text=text)
    compress_run(task, find_recipe("8bit"), tmp_path / "small.pocketmt")
    assert {"agreement_bleu", "loss"} <= read_model(str(tmp_path / "small.pocketmt")).training["compression"].keys()


def test_sensitivity_is_measured_on_translations_of_plain_text(
    model_file: Path, text: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["sensitivity", str(model_file), "--bits", "2", "--sentences", "4", "--text", str(text)]
    assert run_command(arguments) == 0
    assert "encoder.feed_forward" in capsys.readouterr().out
    assert run_command([*arguments[:4], *arguments[6:]]) == 0
    assert "; 24 sentences," in capsys.readouterr().out  # all lines of the text
    assert run_command(arguments[:-2]) == 1
    assert "--source-text" in capsys.readouterr().err
