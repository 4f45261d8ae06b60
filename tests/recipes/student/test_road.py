"""The whole road on a language of a few words: in one go, killed and gone on with, and refused before it starts."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from pocketmt.cli.main import run as run_here
from pocketmt.engine import Translator
from pocketmt.errors import ConfigurationError
from pocketmt.model_file import open_model
from pocketmt.model_file.architecture import TransformerArchitecture
from pocketmt.model_file.products import StaticProducts
from pocketmt.recipes.description.catalogue import LIBRARY
from pocketmt.recipes.student.schema import read_road
from tests.cli.conftest import command_line
from tests.training.test_loop import write_corpus

DATA = """[data]
source_language = "en"
target_language = "up"
training_source = "train.en"
training_target = "train.up"
validation_source = "dev.en"
validation_target = "dev.up"
vocabulary_size = 64
maximum_ratio = 100.0
[training]
threads = 1
accelerator = "cpu"
batch_tokens = 256
warmup_updates = 4
validate_every = 6
checkpoint_every = 3
averaged_checkpoints = 2
maximum_updates = 12
"""
STUDENT = '[model]\npreset = "6-1.nano"\nencoder_layers = 1\nmodel_dimension = 16\nattention_dimension = 32\n'
ROAD = """name = "capitals"
teachers = ["teacher.toml", "teacher.toml"]
student = "student.toml"
recipe = "uniform8"
[distillation]
texts = ["more.en"]
beam_size = 2
real_text = true
[shortlist]
likeliest = 8
frequent = 8
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Text, configurations and a road."""
    write_corpus(tmp_path, pairs=80)
    (tmp_path / "more.en").write_text("red cat\n\nblue dog house\n")
    (tmp_path / "teacher.toml").write_text(DATA + "[model]\nmodel_dimension = 16\nattention_dimension = 16\n")
    (tmp_path / "student.toml").write_text(DATA + STUDENT)
    (tmp_path / "road.toml").write_text(ROAD)
    return tmp_path


def write_pruning_road(folder: Path) -> Path:
    """A road from a teacher that is trained already, by a recipe that prunes the student."""
    # e5-head-lasso cut short: few weights come near zero, so that nodes count as dead that have hardly moved.
    recipe = (LIBRARY / "e5-head-lasso.toml").read_text().replace("updates = 2000", "updates = 2")
    (folder / "pruned.toml").write_text(recipe.replace("strength = 0.05", "strength = 0.05\ndead_below = 0.065"))
    road = folder / "pruning-road.toml"
    trained = ROAD.replace('["teacher.toml", "teacher.toml"]', '["work/teacher1"]')
    road.write_text(trained.replace('"uniform8"', '"pruned.toml"'))
    return road


def test_from_teachers_to_a_small_student(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_here(["student", str(folder / "road.toml"), "--output", str(folder / "work")]) == 0
    out, steps = capsys.readouterr()
    model = folder / "work" / "model.pocketmt"
    assert [line for line in steps.splitlines() if line.startswith("== ")] == [
        "== teacher1", "== teacher2", "== distillation", "== student", "== recipe uniform8", "== shortlist"
    ]  # fmt: skip
    assert f"{model.stat().st_size:,}" in out and "teacher1" in out
    translated = (folder / "train.en").read_text() + (folder / "more.en").read_text()
    assert (folder / "work" / "distilled.en").read_text() == translated
    assert (folder / "work" / "distilled.up").read_text().count("\n") == 83
    with open_model(model) as file:
        assert isinstance(file.architecture, TransformerArchitecture)
        assert file.architecture.decoder_autoregression == "ssru"
        assert file.matrices["embedding.weight"][0].scheme == "uniform"
        assert any(name.startswith("shortlist") for name in file.tensors)
        vocabulary = file.vocabulary()
    assert vocabulary == (folder / "work" / "teacher1" / "vocabulary.model").read_bytes()
    assert len(Translator(model).translate(["red cat"], beam_size=2)) == 1

    pruned = folder / "pruned" / "model.pocketmt"
    assert run_here(["student", str(write_pruning_road(folder)), "--output", str(pruned.parent)]) == 0
    with open_model(pruned) as file:
        assert isinstance(file.architecture, TransformerArchitecture)
        (nodes,) = file.architecture.encoder_feed_forward
        assert 1 < nodes < file.architecture.feed_forward_dimension
        assert isinstance(file.products, StaticProducts)
        assert any(name.startswith("shortlist") for name in file.tensors)
    assert len(Translator(pruned).translate(["red cat"], beam_size=2)) == 1


def test_killed_it_goes_on_to_the_same_model(folder: Path) -> None:
    command = command_line("student", folder / "road.toml", "--output", folder / "killed")
    for seen in ("teacher1/checkpoint.pt", "student/checkpoint.pt"):
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        while not (folder / "killed" / seen).exists():
            assert process.poll() is None
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert not (folder / "killed" / "model.pocketmt").exists()
    subprocess.run(command, check=True, capture_output=True)
    assert run_here(["student", str(folder / "road.toml"), "--output", str(folder / "whole")]) == 0
    whole, killed = ((folder / name / "model.pocketmt").read_bytes() for name in ("whole", "killed"))
    assert whole == killed


def test_the_student_may_learn_word_by_word_from_the_teacher(folder: Path) -> None:
    assert run_here(["train", str(folder / "teacher.toml"), "--output", str(folder / "taught")]) == 0
    learning = 'objective = "word_distillation"\nteacher = "taught"\n'
    (folder / "student.toml").write_text(DATA + learning + STUDENT)
    (folder / "road.toml").write_text(ROAD.replace('["teacher.toml", "teacher.toml"]', '["taught"]'))
    assert run_here(["student", str(folder / "road.toml"), "--output", str(folder / "work")]) == 0
    assert (folder / "work" / "model.pocketmt").exists()


def test_a_recipe_that_does_not_go_with_the_student_is_refused_before_any_work(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "road.toml").write_text(ROAD.replace("uniform8", "q-8bit"))
    assert run_here(["student", str(folder / "road.toml"), "--output", str(folder / "work")]) == 1
    assert "decoders of self-attention" in capsys.readouterr().err
    assert not (folder / "work").exists()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('recipe = "uniform8"', 'recipe = "uniform9"', "uniform9"),
        ('recipe = "uniform8"', 'recipe = "mine.toml"', "mine.toml: cannot be read"),
        ('student = "student.toml"', 'student = "nobody.toml"', "nobody.toml: cannot be read"),
        ('"teacher.toml", ', '"nobody.toml", ', "nobody.toml: cannot be read"),
        ('["teacher.toml", "teacher.toml"]', "[]", "teachers"),
        ("beam_size = 2", "n_best = 9", "n_best 9 needs a beam_size"),
        ("likeliest = 8", "likeliest = 0", "likeliest"),
        ("[shortlist]", "[short]", "short"),
    ],
)
def test_what_cannot_be_is_refused_before_any_work(folder: Path, old: str, new: str, message: str) -> None:
    path = folder / "road.toml"
    path.write_text(ROAD.replace(old, new))
    with pytest.raises(ConfigurationError, match=message):
        read_road(path)
    assert run_here(["student", str(path), "--output", str(folder / "work")]) == 1
    assert not (folder / "work").exists()
