"""The pipeline on a corpus of a few words: complete runs, resuming, and errors before any work."""

import os
import shutil
import time
from pathlib import Path
from unittest import mock

import pytest

import pocketmt.decoding.requests as requests
from pocketmt.cli.main import run as run_here
from pocketmt.distillation.configuration import read_pipeline
from pocketmt.engine import Translator
from pocketmt.errors import ConfigurationError
from pocketmt.folder_lock import locked
from pocketmt.model_file import open_model
from pocketmt.model_file.activations.activation_quantization import StoredStaticActivations
from pocketmt.model_file.architecture import TransformerArchitecture
from pocketmt.recipes.catalogue import LIBRARY
from tests.forks import start
from tests.short_translations import LIMIT, short_translations
from tests.training.test_run import write_corpus

__all__ = ["short_translations"]
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
validate_every = 3
checkpoint_every = 2
averaged_checkpoints = 2
maximum_updates = 6
"""
STUDENT = '[model]\npreset = "6-1.nano"\nencoder_layers = 1\nmodel_dimension = 16\nattention_dimension = 32\n'
PIPELINE = """name = "capitals"
teachers = ["teacher.toml", "teacher.toml"]
student = "student.toml"
recipe = "8bit"
[distillation]
texts = ["more.en"]
beam_size = 2
human_references = true
[shortlist]
top_k = 8
frequent = 8
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with text, training configurations and a pipeline."""
    write_corpus(tmp_path, pairs=80)
    (tmp_path / "more.en").write_text("red cat\n\nblue dog house\n")
    (tmp_path / "teacher.toml").write_text(DATA + "[model]\nmodel_dimension = 16\nattention_dimension = 16\n")
    (tmp_path / "student.toml").write_text(DATA + STUDENT)
    (tmp_path / "pipeline.toml").write_text(PIPELINE)
    return tmp_path


def write_pruning_pipeline(folder: Path) -> Path:
    """Write a pipeline with a trained teacher and a recipe that prunes the student."""
    # Two updates of 8bit-pruned-heads bring few weights near zero, so the threshold for dead nodes is raised.
    recipe = (LIBRARY / "8bit-pruned-heads.toml").read_text().replace("updates = 2000", "updates = 2")
    recipe = recipe.replace("warmup_updates = 100", "warmup_updates = 1")
    (folder / "pruned.toml").write_text(recipe.replace("strength = 0.05", "strength = 0.05\ndead_below = 0.065"))
    path = folder / "pruning-pipeline.toml"
    trained = PIPELINE.replace('["teacher.toml", "teacher.toml"]', '["work/teacher1"]')
    path.write_text(trained.replace('"8bit"', '"pruned.toml"'))
    return path


def test_the_pipeline_makes_a_small_student(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_here(["pipeline", str(folder / "pipeline.toml"), "--output", str(folder / "work")]) == 0
    out, steps = capsys.readouterr()
    model = folder / "work" / "model.pocketmt"
    assert [line for line in steps.splitlines() if line.startswith("== ")] == [
        "== teacher1", "== teacher2", "== distillation", "== student", "== recipe 8bit", "== shortlist"
    ]  # fmt: skip
    assert f"{model.stat().st_size:,}" in out and "teacher1" in out and "teacher2" in out
    translated = (folder / "train.en").read_text() + (folder / "more.en").read_text()
    assert (folder / "work" / "distilled.en").read_text() == translated
    assert (folder / "work" / "distilled.up").read_text().count("\n") == 83
    with open_model(model) as file:
        assert isinstance(file.architecture, TransformerArchitecture)
        assert file.architecture.decoder_autoregression == "ssru"
        assert file.matrices["embedding.weight"][0].form.name == "uniform"
        assert any(name.startswith("shortlist") for name in file.tensors)
        vocabulary = file.vocabulary()
    assert vocabulary == (folder / "work" / "teacher1" / "vocabulary.model").read_bytes()
    assert len(Translator(model).translate(["red cat"], beam_size=2)) == 1

    pruned = folder / "pruned" / "model.pocketmt"
    assert run_here(["pipeline", str(write_pruning_pipeline(folder)), "--output", str(pruned.parent)]) == 0
    with open_model(pruned) as file:
        assert isinstance(file.architecture, TransformerArchitecture)
        (nodes,) = file.architecture.encoder_feed_forward
        assert 1 < nodes < file.architecture.feed_forward_dimension
        assert isinstance(file.activation_quantization, StoredStaticActivations)
        assert any(name.startswith("shortlist") for name in file.tensors)
    assert len(Translator(pruned).translate(["red cat"], beam_size=2)) == 1


def test_a_model_file_and_plain_text_are_enough(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_here(["train", str(folder / "teacher.toml"), "--output", str(tmp_path / "run")]) == 0
    teacher = folder / "teacher.pocketmt"
    assert run_here(["pack", str(tmp_path / "run"), "--scheme", "float32", "--output", str(teacher)]) == 0
    plain = DATA.replace('training_target = "train.up"\n', "").replace('validation_target = "dev.up"\n', "")
    (folder / "student.toml").write_text(plain + STUDENT)
    settings = PIPELINE.replace('"teacher.toml", "teacher.toml"', '"teacher.pocketmt"')
    (folder / "pipeline.toml").write_text(settings)
    for name in ("train.up", "dev.up"):
        (folder / name).unlink()
    command = ["pipeline", str(folder / "pipeline.toml"), "--output", str(folder / "work")]
    assert run_here(command) == 1
    assert "human_references is true, but the training text of student.toml has no target" in capsys.readouterr().err
    (folder / "pipeline.toml").write_text(settings.replace("human_references = true", ""))
    (folder / "more.en").write_text("red cat\n\n" + "a" * 2000 + "\n")
    assert run_here(command) == 0
    messages = capsys.readouterr().err
    assert "BLEU is against the teachers' translations" in messages
    assert "distilled.en: 1 line has text that was copied, not translated (line 83: " in messages
    validation = (folder / "work" / "validation.up").read_text(encoding="utf-8").splitlines()
    sources = (folder / "dev.en").read_text(encoding="utf-8").splitlines()
    assert validation == Translator(teacher).translate(sources, beam_size=2, split=False, check=False)
    assert Translator(folder / "work" / "model.pocketmt").translate(["red cat"])


@pytest.mark.parametrize("setting", ["human_references = true", "n_best = 2"])
def test_settings_that_need_references_are_refused_without_them(folder: Path, setting: str) -> None:
    plain = DATA.replace('training_target = "train.up"\n', "")
    (folder / "student.toml").write_text(plain + STUDENT)
    (folder / "pipeline.toml").write_text(PIPELINE.replace("human_references = true", setting))
    message = f"{setting.replace('=', 'is')}, but the training text of student.toml has no target side"
    with pytest.raises(ConfigurationError, match=message):
        read_pipeline(folder / "pipeline.toml")


def test_paths_may_name_variables(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(LIBRARY / "8bit.toml", folder / "mine.toml")
    settings = PIPELINE.replace('"teacher.toml", "teacher.toml"', '"teacher.toml", "run"').replace("8bit", "mine.toml")
    for name in ("teacher.toml", "run", "student.toml", "mine.toml", "more.en"):
        settings = settings.replace(f'"{name}"', f'"${{TEXTS}}/{name}"')
    for name in ("run", "elsewhere"):
        (folder / name).mkdir()
    path = folder / "elsewhere" / "pipeline.toml"
    path.write_text(settings)
    monkeypatch.setenv("TEXTS", str(folder))
    pipeline = read_pipeline(path)
    assert pipeline.texts == [folder / "more.en"]
    assert pipeline.teachers[1] == str(folder / "run")
    monkeypatch.delenv("TEXTS")
    with pytest.raises(ConfigurationError, match="needs the environment variable TEXTS"):
        read_pipeline(path)


def write_short_translations(*command: str) -> None:
    """Run a command with networks that end their translations early."""
    with mock.patch.object(requests, "default_maximum_length", lambda source_length: LIMIT):
        assert run_here([*command]) == 0


def test_a_killed_pipeline_resumes_to_the_same_model(folder: Path) -> None:
    path = folder / "pipeline.toml"
    path.write_text(path.read_text().replace('"teacher.toml", "teacher.toml"', '"teacher.toml"'))
    command = ["pipeline", str(path), "--output", str(folder / "killed")]
    for seen in ("teacher1/checkpoint.pt", "student/checkpoint.pt"):
        process = start(write_short_translations, *command)
        while not (folder / "killed" / seen).exists():
            assert process.is_alive()
            time.sleep(0.01)
        process.kill()
        process.join()
        assert not (folder / "killed" / "model.pocketmt").exists()
    for name in ("distilled.en", "distilled.up", "compressed.pocketmt", "model.pocketmt", "float32.temporary"):
        (folder / "killed" / f".{name}.0a1b2c3d.unfinished").touch()
    write_short_translations(*command)
    assert not list((folder / "killed").glob(".*.unfinished"))
    write_short_translations(*command[:-1], str(folder / "whole"))
    whole, killed = ((folder / name / "model.pocketmt").read_bytes() for name in ("whole", "killed"))
    assert whole == killed


def test_a_locked_folder_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with locked(folder / "work"):
        assert run_here(["pipeline", str(folder / "pipeline.toml"), "--output", str(folder / "work")]) == 1
    assert f"error: {folder / 'work'}: in use by process {os.getpid()} on " in capsys.readouterr().err
    assert not (folder / "work").exists()


def test_the_student_can_learn_by_word_level_distillation(folder: Path) -> None:
    assert run_here(["train", str(folder / "teacher.toml"), "--output", str(folder / "taught")]) == 0
    learning = 'objective = "word_distillation"\nteacher = "taught"\n'
    (folder / "student.toml").write_text(DATA + learning + STUDENT)
    (folder / "pipeline.toml").write_text(PIPELINE.replace('["teacher.toml", "teacher.toml"]', '["taught"]'))
    assert run_here(["pipeline", str(folder / "pipeline.toml"), "--output", str(folder / "work")]) == 0
    assert (folder / "work" / "model.pocketmt").exists()


def test_a_recipe_that_does_not_suit_the_student_is_refused_before_any_work(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "pipeline.toml").write_text(PIPELINE.replace("8bit", "8bit-pruned-nodes"))
    assert run_here(["pipeline", str(folder / "pipeline.toml"), "--output", str(folder / "work")]) == 1
    assert "Transformers with self-attention" in capsys.readouterr().err
    assert not (folder / "work").exists()


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("pipeline.toml", "more.en", "missing.en", "missing.en: cannot be read"),
        ("pipeline.toml", '"teacher.toml", "teacher.toml"', '"teacher.toml", "nobody"', "nobody"),
        ("pipeline.toml", "beam_size = 2", "beam_size = 300", "beam_size"),
        ("student.toml", "dev.up", "missing.up", "missing.up: cannot be read"),
        ("student.toml", "train.up", "short.up", "short.up has 1"),
        (
            "student.toml",
            '"up"',
            '"fr"',
            "the target language of the student is fr, that of the teacher teacher1 is up",
        ),
        ("student.toml", '"up"', '"en"', "source_language and target_language of the student are both 'en'"),
        (
            "student.toml",
            "[training]",
            '[training]\nobjective = "word_distillation"\nteacher = "missing"',
            "missing: no such",
        ),
        (
            "student.toml",
            "vocabulary_size = 64",
            "vocabulary_size = 65",
            "vocabulary_size of the student is 65, but the student has the vocabulary of the teacher teacher1, where "
            "it is 64: leave it out",
        ),
        (
            "student.toml",
            "vocabulary_size = 64",
            'segmentation = "unigram"',
            "segmentation of the student is 'unigram', but the student has the vocabulary of the teacher teacher1",
        ),
        (
            "student.toml",
            "vocabulary_size = 64",
            'vocabulary = "elsewhere"',
            "elsewhere', but the student has the vocabulary of the teacher teacher1: leave it out",
        ),
    ],
)
def test_a_mistake_is_found_before_the_teachers_are_trained(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, old: str, new: str, message: str
) -> None:
    (folder / "short.up").write_text("ONE\n")
    text = (folder / name).read_text()
    assert old in text
    (folder / name).write_text(text.replace(old, new, 1))
    assert run_here(["pipeline", str(folder / "pipeline.toml"), "--output", str(folder / "work")]) == 1
    assert message in capsys.readouterr().err
    assert not (folder / "work").exists()


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("vocabulary_size = 65", "where it is 64: leave it out"),
        ('segmentation = "unigram"', "where it is 'bpe': leave it out"),
        ('vocabulary = "other"', "other', but the student has the vocabulary of the teacher "),
        ('vocabulary = "taught"', None),
        ("", None),
    ],
)
def test_the_student_cannot_ask_for_another_vocabulary_than_that_of_a_trained_teacher(
    folder: Path, capsys: pytest.CaptureFixture[str], setting: str, message: str | None
) -> None:
    assert run_here(["train", str(folder / "teacher.toml"), "--output", str(folder / "taught")]) == 0
    (folder / "smaller.toml").write_text((folder / "teacher.toml").read_text().replace("size = 64", "size = 60"))
    assert run_here(["train", str(folder / "smaller.toml"), "--output", str(folder / "other")]) == 0
    (folder / "student.toml").write_text(DATA.replace("vocabulary_size = 64", setting) + STUDENT)
    (folder / "pipeline.toml").write_text(PIPELINE.replace('["teacher.toml", "teacher.toml"]', '["taught"]'))
    capsys.readouterr()
    status = run_here(["pipeline", str(folder / "pipeline.toml"), "--output", str(folder / "work")])
    assert status == (0 if message is None else 1)
    assert message is None or message in capsys.readouterr().err
    assert (folder / "work").exists() == (message is None)


@pytest.mark.parametrize("first", ["teacher.toml", "taught"])
def test_the_students_vocabulary_is_that_of_the_first_teacher(
    folder: Path, capsys: pytest.CaptureFixture[str], first: str
) -> None:
    assert run_here(["train", str(folder / "teacher.toml"), "--output", str(folder / "taught")]) == 0
    of_first = "work/teacher1" if first == "teacher.toml" else "taught"
    (folder / "student.toml").write_text(DATA.replace("vocabulary_size = 64", f'vocabulary = "{of_first}"') + STUDENT)
    teachers = [first, "taught" if first == "teacher.toml" else "teacher.toml"]
    (folder / "pipeline.toml").write_text(PIPELINE.replace('["teacher.toml", "teacher.toml"]', str(teachers)))
    assert run_here(["pipeline", str(folder / "pipeline.toml"), "--output", str(folder / "work")]) == 0
    assert "== student" in capsys.readouterr().err


def test_validation_text_is_checked_where_the_training_text_has_no_target_side(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = DATA.replace('training_target = "train.up"\n', "").replace("dev.en", "more.en")
    (folder / "student.toml").write_text(plain + STUDENT)
    (folder / "pipeline.toml").write_text(PIPELINE.replace("human_references = true\n", ""))
    assert run_here(["pipeline", str(folder / "pipeline.toml"), "--output", str(folder / "work")]) == 1
    assert "more.en has 3 lines but" in capsys.readouterr().err
    assert not (folder / "work").exists()


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("pipeline.toml", '"more.en"', '"work/distilled.en"'),
        ("pipeline.toml", '"teacher.toml", "teacher.toml"', '"work/model.pocketmt"'),
        ("student.toml", '"train.up"', '"work/distilled.up"'),
        ("teacher.toml", '"dev.en"', '"work/compressed.pocketmt"'),
    ],
)
def test_a_file_that_is_read_is_not_replaced(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, old: str, new: str
) -> None:
    read = folder / new.strip('"')
    read.parent.mkdir()
    read.write_text("red cat\n")
    text = (folder / name).read_text()
    assert old in text
    (folder / name).write_text(text.replace(old, new, 1))
    assert run_here(["pipeline", str(folder / "pipeline.toml"), "--output", str(folder / "work")]) == 1
    assert "is read, and would be replaced" in capsys.readouterr().err
    assert list(read.parent.iterdir()) == [read] and read.read_text() == "red cat\n"


def test_a_model_replaces_no_other_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    notes = folder / "work" / "model.pocketmt"
    notes.parent.mkdir()
    notes.write_text("red cat\n")
    assert run_here(["pipeline", str(folder / "pipeline.toml"), "--output", str(notes.parent)]) == 1
    assert "model.pocketmt exists and is not a model file: name another file" in capsys.readouterr().err
    assert list(notes.parent.iterdir()) == [notes] and notes.read_text() == "red cat\n"


def test_a_finished_pipeline_does_nothing_again_where_its_files_have_been_moved_to(folder: Path) -> None:
    (folder / "pipeline.toml").write_text(PIPELINE.replace('["teacher.toml", "teacher.toml"]', '["teacher.toml"]'))
    assert run_here(["pipeline", str(folder / "pipeline.toml"), "--output", str(folder / "work")]) == 0
    logs = {path.relative_to(folder): path.read_bytes() for path in folder.glob("work/*/log.jsonl")}
    model = (folder / "work" / "model.pocketmt").read_bytes()
    moved = folder.with_name("moved")
    folder.rename(moved)
    assert run_here(["pipeline", str(moved / "pipeline.toml"), "--output", str(moved / "work")]) == 0
    assert len(logs) == 3 and all((moved / name).read_bytes() == log for name, log in logs.items())
    assert (moved / "work" / "model.pocketmt").read_bytes() == model


def test_a_pipeline_whose_text_has_changed_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["pipeline", str(folder / "pipeline.toml"), "--output", str(folder / "work")]
    assert run_here(["train", str(folder / "teacher.toml"), "--output", str(folder / "taught")]) == 0
    settings = PIPELINE.replace('["teacher.toml", "teacher.toml"]', '["taught"]')
    (folder / "pipeline.toml").write_text(settings)
    assert run_here(command) == 0
    (folder / "even-more.en").write_text("red dog\n")
    (folder / "pipeline.toml").write_text(settings.replace('["more.en"]', '["more.en", "even-more.en"]'))
    capsys.readouterr()
    assert run_here(command) == 1
    assert "distilled.en changed after the work in" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('recipe = "8bit"', 'recipe = "9bit"', "9bit"),
        ('recipe = "8bit"', 'recipe = "mine.toml"', "mine.toml: cannot be read"),
        ('student = "student.toml"', 'student = "nobody.toml"', "nobody.toml: cannot be read"),
        ('"teacher.toml", ', '"nobody.toml", ', "nobody.toml: cannot be read"),
        ('["teacher.toml", "teacher.toml"]', "[]", "teachers"),
        ("beam_size = 2", "n_best = 9", "n_best 9 needs a beam_size"),
        ("top_k = 8", "top_k = 0", "top_k"),
        ("[shortlist]", "[short]", "short"),
    ],
)
def test_an_invalid_pipeline_is_refused_before_any_work(folder: Path, old: str, new: str, message: str) -> None:
    path = folder / "pipeline.toml"
    path.write_text(PIPELINE.replace(old, new))
    with pytest.raises(ConfigurationError, match=message):
        read_pipeline(path)
    assert run_here(["pipeline", str(path), "--output", str(folder / "work")]) == 1
    assert not (folder / "work").exists()
