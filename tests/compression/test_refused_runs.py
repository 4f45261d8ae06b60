"""Compressions are refused whose text, languages or folder do not fit, and scores are compared on one text."""

import dataclasses
import json
import math
import os
from pathlib import Path

import msgspec
import pytest

import pocketmt.compression.stage as stage_module
from pocketmt.cli.endings import show_model_file
from pocketmt.cli.main import run as run_command
from pocketmt.compression.choosing.allocation import Target
from pocketmt.compression.choosing.target import compress_run_to
from pocketmt.compression.run import CompressionTask, compress_run, score_run
from pocketmt.errors import ConfigurationError, DataError
from pocketmt.recipes.catalogue import find_recipe
from pocketmt.training.steps import DivergedError
from pocketmt.training.trained_model import read_trained_model
from pocketmt.training.validation import Validation
from tests.compression.tiny_run import assert_equal, compress, one_stage, write_tiny_run


@pytest.fixture(scope="module")
def tiny_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_run(tmp_path_factory.mktemp("tiny"))


def test_a_compression_on_text_that_has_changed_is_refused(tmp_path: Path) -> None:
    model = read_trained_model(write_tiny_run(tmp_path))
    plan = one_stage("uniform", 8, method="straight_through", updates=2)
    first, _ = compress(model, plan, tmp_path / "work")
    text = tmp_path / "train.up"
    before = text.read_text()
    text.write_text(before.replace("CAT", "DOG"))
    with pytest.raises(ConfigurationError, match=r"the text of .*train\.up changed after the work in .*work began"):
        compress(model, plan, tmp_path / "work")
    # A folder of an earlier version has no records.
    fingerprint = tmp_path / "work" / "compression.json"
    written = json.loads(fingerprint.read_text())
    fingerprint.write_text(json.dumps({name: value for name, value in written.items() if name != "texts"}))
    text.write_text(before)
    assert_equal(first, compress(model, plan, tmp_path / "work")[0])
    assert json.loads(fingerprint.read_text()) == written


def test_a_compression_resumes_where_its_files_have_been_moved_to(tmp_path: Path) -> None:
    here, moved = tmp_path / "here", tmp_path / "moved"
    here.mkdir()
    run, plan = write_tiny_run(here), one_stage("uniform", 8, method="straight_through", updates=2)
    first, _ = compress(read_trained_model(run), plan, here / "work")
    here.rename(moved)
    run = moved / run.relative_to(here)
    recorded = run / "configuration.json"
    recorded.write_text(recorded.read_text().replace(str(here), str(moved)))
    assert_equal(first, compress(read_trained_model(run), plan, moved / "work")[0])
    assert str(here) not in (moved / "work" / "compression.json").read_text()
    text = moved / "train.up"
    other = text.rename(moved / "other.up")
    other.write_text(other.read_text().replace("CAT", "DOG"))
    recorded.write_text(recorded.read_text().replace(str(text), str(other)))
    with pytest.raises(ConfigurationError, match=r"began with .*train\.up, and .*other\.up has other text: give"):
        compress(read_trained_model(run), plan, moved / "work")


def test_text_that_is_not_needed_may_be_missing_and_must_have_no_error(tmp_path: Path) -> None:
    run, warnings = write_tiny_run(tmp_path), list[str]()
    plain = tmp_path / "plain.en"
    plain.write_text("red cat\nblue dog\n" * 10)
    plan = one_stage("uniform", 8, method="straight_through", updates=2, objective="sequence_distillation")
    task = CompressionTask(run=run, folder=tmp_path / "work", source_text=plain, warn=warnings.append)
    (tmp_path / "train.up").write_text("ONE\n")
    with pytest.raises(DataError, match=r"train\.en has 60 lines but .*train\.up has 1"):
        compress_run(task, plan, tmp_path / "out.pocketmt")
    (tmp_path / "train.up").unlink()
    compress_run(dataclasses.replace(task, folder=tmp_path / "other"), plan, tmp_path / "out.pocketmt")
    assert [warning.partition(": ")[0] for warning in warnings] == [str(tmp_path / "train.up")]


@pytest.mark.parametrize("missing_first", [False, True])
def test_parallel_text_is_used_beside_plain_text_from_the_beginning_or_never(
    tmp_path: Path, missing_first: bool
) -> None:
    run, plain = write_tiny_run(tmp_path), tmp_path / "plain.en"
    plain.write_text("red cat\nblue dog\n" * 10)
    plan = one_stage("uniform", 8, method="straight_through", updates=2, objective="sequence_distillation")
    task = CompressionTask(run=run, folder=tmp_path / "work", source_text=plain)
    text, away = tmp_path / "train.up", tmp_path / "away.up"
    if missing_first:
        text.rename(away)
    compress_run(task, plan, tmp_path / "out.pocketmt")
    recorded = (tmp_path / "work" / "compression.json").read_text()
    away.rename(text) if missing_first else text.rename(away)
    counts = "no files of parallel text, and now there are 4" if missing_first else "4 files .* now there are none"
    with pytest.raises(ConfigurationError, match=f"work began with {counts}: give the same text"):
        compress_run(task, plan, tmp_path / "out.pocketmt")
    assert (tmp_path / "work" / "compression.json").read_text() == recorded
    text.rename(away) if missing_first else away.rename(text)
    compress_run(task, plan, tmp_path / "out.pocketmt")


def test_text_that_is_not_needed_may_be_missing_when_a_compression_resumes(tmp_path: Path) -> None:
    task = CompressionTask(run=write_tiny_run(tmp_path), folder=tmp_path / "work")
    compress_run(task, find_recipe("8bit"), tmp_path / "out.pocketmt")
    recorded = (tmp_path / "work" / "compression.json").read_text()
    (tmp_path / "train.up").unlink()
    compress_run(task, find_recipe("8bit"), tmp_path / "out.pocketmt")
    assert (tmp_path / "work" / "compression.json").read_text() == recorded


def test_text_with_an_error_is_not_used_where_no_stage_needs_any(tmp_path: Path) -> None:
    run, warnings = write_tiny_run(tmp_path), list[str]()
    (tmp_path / "dev.up").write_text("ONE\n")
    task = CompressionTask(run=run, folder=tmp_path / "work", warn=warnings.append)
    compress_run(task, find_recipe("8bit"), tmp_path / "out.pocketmt")
    assert len(warnings) == 1
    assert "text of" in warnings[0] and "is not used" in warnings[0] and "dev.up has 1" in warnings[0]
    with pytest.raises(DataError, match=r"dev\.up has 1"):
        compress_run(
            dataclasses.replace(task, folder=tmp_path / "other"),
            find_recipe("affine4-compensated"),
            tmp_path / "out.pocketmt",
        )


def test_a_stage_whose_batches_are_too_small_is_named(tiny_run: Path, tmp_path: Path) -> None:
    small = one_stage("uniform", 8, method="straight_through", batch_tokens=1)
    with pytest.raises(DataError, match=r"^stages\[0\]\.retraining: the longest .* \(1\): raise batch_tokens to \d+$"):
        compress(read_trained_model(tiny_run), small, tmp_path)


def test_a_configuration_of_other_languages_is_refused(tiny_run: Path, tmp_path: Path) -> None:
    model = read_trained_model(tiny_run)
    assert model.configuration is not None
    data = msgspec.structs.replace(model.configuration.data, source_language="up", target_language="en")
    configuration = msgspec.structs.replace(model.configuration, data=data)
    task = CompressionTask(run=tiny_run, folder=tmp_path / "work", configuration=configuration)
    with pytest.raises(ConfigurationError, match="is en, that of the configuration is up"):
        compress_run(task, one_stage("uniform", 8, method="straight_through"), tmp_path / "out.pocketmt")


@pytest.mark.parametrize("other", [False, True])
def test_scores_before_and_after_are_on_the_same_text(
    tiny_run: Path, tmp_path: Path, other: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    model = read_trained_model(tiny_run)
    assert model.configuration is not None
    configuration = model.configuration
    if other:
        data = msgspec.structs.replace(configuration.data, validation_source=str(tiny_run.parent / "train.en"))
        data = msgspec.structs.replace(data, validation_target=str(tiny_run.parent / "train.up"))
        configuration = msgspec.structs.replace(configuration, data=data)
    task = CompressionTask(run=tiny_run, folder=tmp_path / "work", configuration=configuration)
    plan = one_stage("uniform", 8, method="straight_through", updates=2)
    compress_run(task, plan, tmp_path / "out.pocketmt")
    show_model_file(tmp_path / "out.pocketmt")
    shown = capsys.readouterr().err
    assert "validation BLEU" in shown and ("(before compression" in shown) == (not other)
    assert run_command(["inspect", str(tmp_path / "out.pocketmt")]) == 0
    assert ("before compression" in capsys.readouterr().out) == (not other)


def test_a_result_whose_loss_is_not_finite_is_not_packed(
    tiny_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stage_module, "validate", lambda *arguments: Validation(math.nan, 0.0))
    task = CompressionTask(run=tiny_run, folder=tmp_path / "work")
    plan = one_stage("uniform", 8, method="straight_through")
    with pytest.raises(DivergedError, match="validation loss is not finite after the recipe a test"):
        compress_run(task, plan, tmp_path / "out.pocketmt")
    with pytest.raises(DivergedError, match="validation loss is not finite after the recipe a test"):
        score_run(task, plan)
    assert os.listdir(tmp_path) == []


def test_a_folder_with_settings_of_another_program_is_refused_and_stays(tiny_run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    for name in ("compression.json", "log.jsonl", "best.photo.pt"):
        (folder / name).write_text('{"level": 9}')
    plan = one_stage("uniform", 8, method="straight_through")
    with pytest.raises(ConfigurationError, match=r"compression\.json does not hold the settings of a run"):
        compress_run(CompressionTask(run=tiny_run, folder=folder), plan, tmp_path / "out.pocketmt")
    assert {each.read_text() for each in folder.iterdir()} == {'{"level": 9}'} and len(os.listdir(folder)) == 3


@pytest.mark.parametrize("name", ["log.jsonl", "checkpoint.pt", "best.photo.pt"])
def test_a_folder_with_files_of_no_compression_is_refused_and_they_stay(
    tiny_run: Path, tmp_path: Path, name: str
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / name).write_text('{"update": 3, "loss": 1}\n')
    plan = one_stage("uniform", 8, method="straight_through")
    with pytest.raises(ConfigurationError, match=rf"mine holds {name} but no compression\.json"):
        compress_run(CompressionTask(run=tiny_run, folder=folder), plan, tmp_path / "out.pocketmt")
    assert os.listdir(folder) == [name] and (folder / name).read_text() == '{"update": 3, "loss": 1}\n'


@pytest.mark.parametrize("name", ["configuration.json", "model.safetensors"])
def test_the_folder_of_a_training_run_is_refused(tiny_run: Path, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / name).touch()
    task = CompressionTask(run=tiny_run, folder=folder)
    plan = one_stage("uniform", 8, method="straight_through")
    with pytest.raises(ConfigurationError, match=r"run is the folder of a training run"):
        compress_run(task, plan, tmp_path / "out.pocketmt")
    with pytest.raises(ConfigurationError, match=r"run is the folder of a training run"):
        compress_run_to(Target(loss_increase=0.1), task, tmp_path / "out.pocketmt")
    assert os.listdir(folder) == [name]
