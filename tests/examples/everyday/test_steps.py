"""The steps of the everyday models: what each needs, and configurations that `pocketmt train` accepts."""

from pathlib import Path

import msgspec
import pytest

from examples.everyday.settings import Settings, Texts, read_settings
from examples.everyday.steps import steps_of
from examples.everyday.texts import prepare
from pocketmt.errors import ConfigurationError
from pocketmt.recipes.catalogue import find_recipe
from pocketmt.text.vocabulary import Vocabulary
from pocketmt.training.configuration import read_configuration

CONFIGURATION = Path("examples/everyday/everyday.toml")
TWO_CORES = Path("examples/everyday/two-cores.toml")


@pytest.fixture
def settings() -> Settings:
    return read_settings(CONFIGURATION)


def test_every_step_needs_steps_that_exist(settings: Settings, tmp_path: Path) -> None:
    steps = steps_of(settings, tmp_path)
    names = [step.name for step in steps]
    assert len(set(names)) == len(names)
    assert {need for step in steps for need in step.needs} <= {*names}


def test_students_need_the_translations_that_they_learn_from(settings: Settings, tmp_path: Path) -> None:
    needs = {step.name: step.needs for step in steps_of(settings, tmp_path)}
    assert needs["de-en.tiny"] == ("texts", "de-en.distilled", "de-en.plain")
    assert needs["de-en.plain"] == ("en-de.plain",)
    assert needs["en-de.tiny-authentic"] == ("texts",)


def test_compressed_students_need_the_student(settings: Settings, tmp_path: Path) -> None:
    needs = {step.name: step.needs for step in steps_of(settings, tmp_path)}
    assert needs["en-de.tiny.packed"] == needs["en-de.tiny-4-bits"] == ("en-de.tiny",)
    assert all(find_recipe(each.recipe).stages for each in settings.compressions.values())


def test_a_compression_of_no_student_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "everyday.toml"
    path.write_text(CONFIGURATION.read_text().replace('student = "tiny"', 'student = "tinny"', 1))
    with pytest.raises(ConfigurationError, match=r"'tiny-8-bits' is of the student 'tinny'.* tiny, tiny-authentic"):
        read_settings(path)


def test_a_compressed_file_may_be_compressed_further(tmp_path: Path) -> None:
    settings = read_settings(TWO_CORES)
    steps = {step.name: step for step in steps_of(settings, tmp_path)}
    again = steps["de-en.pocket-head-lasso-8-bits"]
    assert again.needs == ("de-en.pocket-head-lasso",)
    made = tmp_path / "de-en"
    assert isinstance(again.run, list)
    start = again.run.index("compress")
    assert again.run[start + 1 : start + 5] == [
        *(str(made / "pocket-head-lasso.pocketmt"), "8bit"),
        *("--configuration", str(made / "pocket.toml")),
    ]
    # The file is not there before the step that makes it.
    path = tmp_path / "family.toml"
    path.write_text(
        TWO_CORES.read_text().replace('student = "pocket-lasso-control"', 'student = "pocket-longer-2.6-bits"')
    )
    with pytest.raises(ConfigurationError, match=r"of the student 'pocket-longer-2.6-bits', which is not one of"):
        read_settings(path)


def test_configurations_of_all_runs_are_valid(settings: Settings, tmp_path: Path) -> None:
    steps_of(settings, tmp_path)
    paths = sorted(tmp_path.glob("*/*.toml"))
    runs = len(settings.teachers.models) + len(settings.students)
    assert len(paths) == 2 * runs
    assert all(read_configuration(path).data.vocabulary for path in paths)


def test_a_student_learns_from_the_words_of_a_teacher(tmp_path: Path) -> None:
    settings = read_settings(TWO_CORES)
    needs = {step.name: step.needs for step in steps_of(settings, tmp_path)}
    assert needs["en-de.pocket-words"] == ("texts", "en-de.distilled", "en-de.plain", "en-de.teacher1")
    configurations = [read_configuration(path) for path in sorted(tmp_path.glob("*/*.toml"))]
    assert len(configurations) == 2 * (len(settings.teachers.models) + len(settings.students))
    taught = [each.training for each in configurations if each.training.teacher is not None]
    assert [Path(each.teacher or "").parts[-2:] for each in taught] == [("de-en", "teacher1"), ("en-de", "teacher1")]
    assert {each.objective for each in taught} == {"mixed"}
    assert all(find_recipe(each.recipe).stages for each in settings.compressions.values())


def test_a_teacher_of_words_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "family.toml"
    path.write_text(TWO_CORES.read_text().replace("word_teacher = 1", "word_teacher = 4"))
    with pytest.raises(ConfigurationError, match="'pocket-words' has word_teacher 4, of 3 teachers"):
        read_settings(path)


def test_plain_text_holds_no_sentence_of_the_pairs(settings: Settings, tmp_path: Path) -> None:
    texts = {
        "training": (["a cat", "a dog", "a cat"], ["eine Katze", "ein Hund", "ein Kater"]),
        "validation": (["the house"], ["das Haus"]),
        "test": (["the tree"], ["der Baum"]),
    }
    for name, (english, german) in texts.items():
        ending = "" if name == "training" else "0"
        (tmp_path / f"{name}.en").write_text("".join(f"{line}\n" for line in english))
        (tmp_path / f"{name}.de{ending}").write_text("".join(f"{line}\n" for line in german))
    (tmp_path / "plain.en").write_text("a bird\na cat\nthe tree\na bird\nthe house\na fish\n")
    given = Texts(**{name: str(tmp_path / name) for name in Texts.__struct_fields__})
    changed = Settings(**{**{name: getattr(settings, name) for name in Settings.__struct_fields__}, "texts": given})
    changed = Settings(
        **{name: getattr(changed, name) for name in Settings.__struct_fields__ if name != "vocabulary_size"},
        vocabulary_size=22,
    )
    prepare(changed, tmp_path / "out", "unigram")
    assert (tmp_path / "out" / "plain.en").read_text() == "a bird\na fish\n"
    assert (tmp_path / "out" / "validation.de").read_text() == "das Haus\n"
    parts = [(tmp_path / "out" / f"training.{part}.en").read_text() for part in range(settings.teachers.parts)]
    assert "".join(parts) == "a cat\na dog\na cat\n"
    assert len(Vocabulary.from_file(tmp_path / "out" / "vocabulary.model")) == 22


def test_an_unknown_key_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "everyday.toml"
    path.write_text(CONFIGURATION.read_text().replace("beam_size", "beam"))
    with pytest.raises(ConfigurationError, match="beam"):
        read_settings(path)


def test_changed_settings_of_texts_and_teachers_are_noticed(settings: Settings, tmp_path: Path) -> None:
    def described(changed: Settings) -> dict[str, str]:
        return {step.name: step.description() for step in steps_of(changed, tmp_path)}

    before = described(settings)
    assert described(settings) == before
    smaller = msgspec.structs.replace(settings, vocabulary_size=4000)
    training = {**settings.teachers.training, "maximum_updates": 1}
    shorter = msgspec.structs.replace(settings, teachers=msgspec.structs.replace(settings.teachers, training=training))
    runs = {f"{pair}.teacher{number}" for pair in ("en-de", "de-en") for number in (1, 2, 3)}
    for changed, names in ((smaller, {"texts"}), (shorter, runs)):
        now = described(changed)
        assert {name for name in before if now[name] != before[name]} == names
