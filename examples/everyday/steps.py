"""The steps of the pipeline: teachers, their translations, cleaning, students and their files, in both directions."""

import json
import sys
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, get_args

from examples.everyday.settings import Compression, Settings, Student
from examples.everyday.step import Step
from examples.everyday.texts import join, prepare
from pocketmt.text.vocabulary_training import Segmentation

POCKETMT = [sys.executable, "-c", "from pocketmt.cli.process import main; main()"]
Pair = tuple[str, str]  # Source and target language.


def steps_of(settings: Settings, folder: Path) -> list[Step]:
    """Return all steps, in the order in which they start if they can."""
    assert settings.segmentation in get_args(Segmentation)
    segmentation: Any = settings.segmentation
    read = settings.languages, settings.texts, settings.teachers.parts, settings.vocabulary_size, segmentation
    steps = [Step("texts", partial(prepare, settings, folder / "text", segmentation), settings=repr(read))]
    for number, pair in product(range(1, len(settings.teachers.models) + 1), settings.directions):
        steps += [_teacher(settings, folder, pair, number), _packed(folder, pair, f"teacher{number}")]
    for pair in settings.directions:
        steps += _distilled(settings, folder, pair)
    steps += _plain(settings, folder)
    for (name, student), pair in product(settings.students.items(), settings.directions):
        steps.append(_student(settings, folder, pair, name, student))
        steps.append(_packed(folder, pair, name))
    for (name, compression), pair in product(settings.compressions.items(), settings.directions):
        steps.append(_compressed(settings, folder, pair, name, compression))
    return steps


def _name(pair: Pair) -> str:
    return "-".join(pair)


def _train(settings: Settings, folder: Path, pair: Pair, name: str, tables: dict[str, Any]) -> list[str]:
    """Write a training configuration; return the command that trains by it."""
    text, (source, target) = folder / "text", pair
    data = {
        "source_language": source,
        "target_language": target,
        "validation_source": str(text / f"validation.{source}"),
        "validation_target": str(text / f"validation.{target}"),
        "vocabulary": str(text / "vocabulary.model"),
        **tables.pop("data"),
    }
    path = folder / _name(pair) / f"{name}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_toml({"data": data, **tables}), encoding="utf-8")
    return [*POCKETMT, "train", str(path), "--output", str(folder / _name(pair) / name)]


def _toml(tables: dict[str, dict[str, Any]]) -> str:
    """Return tables of strings, numbers and lists as TOML, whose values are written as in JSON."""
    lines: list[str] = []
    for name, table in tables.items():
        values = {key: json.dumps(value, ensure_ascii=False) for key, value in table.items()}
        lines += [f"[{name}]", *(f"{key} = {value}" for key, value in values.items()), ""]
    return "\n".join(lines)


def _teacher(settings: Settings, folder: Path, pair: Pair, number: int) -> Step:
    teachers = settings.teachers
    table = dict(teachers.models[number - 1])
    training = {**teachers.training, "seed": table.pop("seed", number)}
    texts = [str(folder / "text" / f"training.{language}") for language in pair]
    data = {"training_source": texts[0], "training_target": texts[1]}
    tables = {"data": data, "model": {**teachers.model, **table}, "training": training}
    name = f"teacher{number}"
    return Step(f"{_name(pair)}.{name}", _train(settings, folder, pair, name, tables), ("texts",))


def _distill(runs: list[Path], text: list[str], output: list[Path], beam_size: int, n_best: int = 1) -> list[str]:
    best = ["--n-best", str(n_best)] if n_best > 1 else []
    teachers, files = map(str, runs), map(str, output)
    return [*POCKETMT, "distill", *teachers, *text, *best, "--beam-size", str(beam_size), "--output", *files]


def _runs(settings: Settings, made: Path) -> list[Path]:
    return [made / f"teacher{number}" for number in range(1, len(settings.teachers.models) + 1)]


def _distilled(settings: Settings, folder: Path, pair: Pair) -> list[Step]:
    """Translate the training text in parts, choose by the references, join and clean."""
    name, text, made = _name(pair), folder / "text", folder / _name(pair)
    teachers = tuple(f"{name}.teacher{n + 1}" for n in range(len(settings.teachers.models)))
    steps, parts = [], range(settings.teachers.parts)
    for part in parts:
        sides = [str(text / f"training.{part}.{language}") for language in pair]
        output = [made / f"distilled.{part}.{language}" for language in pair]
        beam_size, n_best = settings.teachers.beam_size, settings.teachers.n_best
        command = _distill(_runs(settings, made), ["--parallel", *sides], output, beam_size, n_best)
        steps.append(Step(f"{name}.distilled.{part}", command, teachers))
    steps += _joined_and_cleaned(settings, made, pair, "distilled", "target")
    return steps


def _plain(settings: Settings, folder: Path) -> list[Step]:
    """Translate the plain text; the same pairs are synthetic text one way, back-translations the other way."""
    forward, backward = settings.directions
    name, text, made = _name(forward), folder / "text", folder / _name(forward)
    teachers = tuple(f"{name}.teacher{n + 1}" for n in range(len(settings.teachers.models)))
    steps = []
    for part in range(settings.teachers.parts):
        output = [made / f"plain.{part}.{language}" for language in forward]
        source = text / f"plain.{part}.{forward[0]}"
        command = _distill(_runs(settings, made), ["--text", str(source)], output, settings.teachers.beam_size)
        steps.append(Step(f"{name}.plain.{part}", command, teachers))
    steps += _joined_and_cleaned(settings, made, forward, "plain", "target")
    other = folder / _name(backward)

    def copy() -> None:
        for language in forward:
            join([made / f"clean.plain.{language}"], other / f"clean.plain.{language}")

    steps.append(Step(f"{_name(backward)}.plain", copy, (f"{name}.plain",)))
    return steps


def _joined_and_cleaned(settings: Settings, made: Path, pair: Pair, kind: str, side: str) -> list[Step]:
    name, parts = _name(pair), range(settings.teachers.parts)
    files = [made / f"{kind}.{language}" for language in pair]

    def join_sides() -> None:
        for language, file in zip(pair, files, strict=True):
            join([made / f"{kind}.{part}.{language}" for part in parts], file)

    cleaned = [str(made / f"clean.{kind}.{language}") for language in pair]
    clean = [*POCKETMT, "clean", *map(str, files), "--output", *cleaned, "--languages", *pair]
    return [
        Step(f"{name}.{kind}.joined", join_sides, tuple(f"{name}.{kind}.{part}" for part in parts)),
        Step(f"{name}.{kind}", [*clean, "--written-by-model", side], (f"{name}.{kind}.joined",)),
    ]


def _student(settings: Settings, folder: Path, pair: Pair, name: str, student: Student) -> Step:
    made = folder / _name(pair)
    files = {
        "authentic": [folder / "text" / f"training.{language}" for language in pair],
        **{kind: [made / f"clean.{kind}.{language}" for language in pair] for kind in ("distilled", "plain")},
    }
    sides = [[str(files[text][side]) for text in student.texts] for side in (0, 1)]
    training = {**settings.student_training, **student.training}
    needs = [f"{_name(pair)}.{text}" for text in student.texts if text != "authentic"]
    if student.word_teacher is not None:
        teacher = f"teacher{student.word_teacher}"
        training |= {"objective": "mixed", "teacher": str(made / teacher)}
        needs.append(f"{_name(pair)}.{teacher}")
    tables = {
        "data": {"training_source": sides[0], "training_target": sides[1]},
        "model": {**settings.student_model, **student.model},
        "training": training,
    }
    return Step(f"{_name(pair)}.{name}", _train(settings, folder, pair, name, tables), ("texts", *needs))


def _packed(folder: Path, pair: Pair, name: str) -> Step:
    """Write the file of an uncompressed teacher or student."""
    made, step = folder / _name(pair), f"{_name(pair)}.{name}"
    output = ["--scheme", "float32", "--output", str(made / f"{name}.pocketmt")]
    return Step(f"{step}.packed", [*POCKETMT, "pack", str(made / name), *output], (step,))


def _compressed(settings: Settings, folder: Path, pair: Pair, name: str, compression: Compression) -> Step:
    """Compress a student, or a file that was compressed before, which is trained on the text of its student."""
    made, student = folder / _name(pair), compression.student
    given, first = [str(made / student)], student
    while first not in settings.students:
        first = settings.compressions[first].student
    if first != student:
        given = [str(made / f"{student}.pocketmt"), "--configuration", str(made / f"{first}.toml")]
    output = ["--output", str(made / f"{name}.pocketmt")]
    command = [*POCKETMT, "compress", given[0], compression.recipe, *given[1:], *compression.options, *output]
    return Step(f"{_name(pair)}.{name}", command, (f"{_name(pair)}.{student}",))
