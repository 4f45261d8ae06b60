"""Translation of a text in shards: after interruptions and damage, each line still has its translation."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import pytest

import pocketmt.training.translations as translations
from pocketmt.errors import ConfigurationError, DataError
from pocketmt.training.translations import hash_lines, translate_text

LINES = ["a red cat", "", 'two\ttabs \\ and "quotes"', "ünïcode\u2028separator\x0b", "  ", "long " * 500, "last"]
TEACHER: dict[str, str | int] = {"model": "a", "beam_size": 4}


@pytest.fixture(autouse=True)
def _short_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translations, "LINES", 2)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.en"
    path.write_text("".join(line + "\n" for line in LINES), encoding="utf-8", newline="")
    return path


class Upper:
    """Translates to capital letters, and raises KeyboardInterrupt after a number of calls."""

    def __init__(self, calls: int = 99) -> None:
        self.calls = calls
        self.lines: list[str] = []

    def __call__(self, lines: Sequence[str], references: Sequence[str] | None) -> list[str]:
        if self.calls == 0:
            raise KeyboardInterrupt
        self.calls -= 1
        self.lines += lines
        return [line.upper() for line in lines]


EXPECTED = [(line, line.upper()) for line in LINES]


def run(text: Path, folder: Path, translate: Upper) -> list[tuple[str, str]]:
    return list(translate_text(text, folder, translate, TEACHER))


def test_every_line_has_its_translation(text: Path, tmp_path: Path) -> None:
    progress: list[tuple[int, int]] = []
    pairs = translate_text(text, tmp_path / "work", Upper(), TEACHER, lambda *done: progress.append(done))
    assert list(pairs) == EXPECTED
    assert progress == [(2, 7), (4, 7), (6, 7), (7, 7)]


def test_shards_that_a_killed_process_has_left_unfinished_are_removed(text: Path, tmp_path: Path) -> None:
    run(text, tmp_path / "work", Upper())
    (tmp_path / "work" / ".000001.jsonl.0a1b2c3d.unfinished").touch()
    (tmp_path / "work" / ".notes.txt.0a1b2c3d.unfinished").touch()
    run(text, tmp_path / "work", Upper())
    assert [path.name for path in (tmp_path / "work").glob(".*")] == [".notes.txt.0a1b2c3d.unfinished"]


@pytest.mark.parametrize("stopped", range(4))
def test_an_interrupted_translation_resumes_with_the_next_shard(text: Path, tmp_path: Path, stopped: int) -> None:
    first = Upper(calls=stopped)
    with pytest.raises(KeyboardInterrupt):
        run(text, tmp_path / "work", first)
    second = Upper()
    assert run(text, tmp_path / "work", second) == EXPECTED
    assert first.lines + second.lines == LINES
    third = Upper(calls=0)
    assert run(text, tmp_path / "work", third) == EXPECTED


@pytest.mark.parametrize("lines_at_once", [1, 2, 5, 6, 99])
def test_shards_translated_in_one_call_are_those_of_single_calls(
    text: Path, tmp_path: Path, lines_at_once: int
) -> None:
    run(text, tmp_path / "one", Upper())
    calls: list[Sequence[str]] = []

    def upper(lines: Sequence[str], references: Sequence[str] | None) -> list[str]:
        calls.append(lines)
        return [line.upper() for line in lines]

    pairs = translate_text(text, tmp_path / "several", upper, TEACHER, lines_at_once=lines_at_once)
    assert list(pairs) == EXPECTED
    sizes = {1: [2, 2, 2, 1], 2: [2, 2, 2, 1], 5: [4, 3], 6: [6, 1], 99: [7]}
    assert [len(lines) for lines in calls] == sizes[lines_at_once]
    names = [[shard.name for shard in _shards(tmp_path / folder)] for folder in ("one", "several")]
    assert names[0] == names[1] == ["000000.jsonl", "000001.jsonl", "000002.jsonl", "000003.jsonl"]
    for shard in _shards(tmp_path / "one"):
        assert shard.read_bytes() == (tmp_path / "several" / shard.name).read_bytes()


@pytest.mark.parametrize("stopped", range(3))
def test_shards_of_one_call_resume_and_only_missing_ones_are_translated(
    text: Path, tmp_path: Path, stopped: int
) -> None:
    first, second = Upper(calls=stopped), Upper()
    if stopped < 2:
        with pytest.raises(KeyboardInterrupt):
            list(translate_text(text, tmp_path / "work", first, TEACHER, lines_at_once=4))
    else:
        list(translate_text(text, tmp_path / "work", first, TEACHER, lines_at_once=4))
        (tmp_path / "work" / "000001.jsonl").unlink()
    progress: list[int] = []
    pairs = translate_text(
        text, tmp_path / "work", second, TEACHER, lambda done, total: progress.append(done), lines_at_once=6
    )
    assert list(pairs) == EXPECTED
    assert second.lines == (LINES[2:4] if stopped == 2 else LINES[4 * stopped :])
    assert progress == [2, 4, 6, 7]


def test_a_wrong_number_of_translations_of_several_shards_is_refused(text: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="7 lines were given 6 translations"):
        list(translate_text(text, tmp_path / "work", lambda lines, _: lines[1:], TEACHER, lines_at_once=99))
    assert not list(_shards(tmp_path / "work"))


def _shards(folder: Path) -> Iterator[Path]:
    return iter(sorted(folder.glob("*.jsonl")))


@pytest.mark.parametrize("damage", ["cut", "line lost", "line changed", "other line", "empty"])
def test_a_damaged_shard_is_translated_again(text: Path, tmp_path: Path, damage: str) -> None:
    run(text, tmp_path / "work", Upper())
    _, shard, *_ = _shards(tmp_path / "work")
    head, *rows = shard.read_text(encoding="utf-8").split("\n")[:-1]
    if damage == "cut":
        shard.write_bytes(shard.read_bytes()[:-3])
    elif damage == "line lost":
        shard.write_text("\n".join([head, *rows[1:]]) + "\n", encoding="utf-8")
    elif damage == "line changed":
        shard.write_text("\n".join([head, *rows[::-1]]) + "\n", encoding="utf-8")
    elif damage == "other line":
        next(_shards(tmp_path / "work")).replace(shard)  # An undamaged shard of other lines.
    else:
        shard.write_bytes(b"")
    again = Upper()
    assert run(text, tmp_path / "work", again) == EXPECTED
    assert again.lines == (LINES[:4] if damage == "other line" else LINES[2:4])


def test_another_text_or_teacher_is_refused(text: Path, tmp_path: Path) -> None:
    run(text, tmp_path / "work", Upper())
    other: dict[str, str | int] = {**TEACHER, "model": "b"}
    with pytest.raises(ConfigurationError, match="another text, by another model"):
        list(translate_text(text, tmp_path / "work", Upper(), other))
    before = hash_lines(text)
    text.write_text("one more\n" + text.read_text(encoding="utf-8"), encoding="utf-8")
    assert hash_lines(text) != before
    with pytest.raises(ConfigurationError, match="another text, by another model"):
        run(text, tmp_path / "work", Upper())


def test_a_wrong_number_of_translations_is_refused(text: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="2 lines were given 1 translations"):
        list(translate_text(text, tmp_path / "work", lambda lines, references: ["only one"], TEACHER))
    assert not list(_shards(tmp_path / "work"))


def test_each_line_is_passed_with_its_reference(text: Path, tmp_path: Path) -> None:
    references = tmp_path / "text.de"
    references.write_text("".join(f"{number}\n" for number in range(len(LINES))))

    def numbered(lines: Sequence[str], references: Sequence[str] | None) -> list[str]:
        assert references is not None
        return [f"{reference}: {line}" for line, reference in zip(lines, references, strict=True)]

    pairs = translate_text(text, tmp_path / "work", numbered, TEACHER, references=references)
    assert list(pairs) == [(line, f"{number}: {line}") for number, line in enumerate(LINES)]
    others = tmp_path / "others.de"
    others.write_text(text.read_text(encoding="utf-8"), encoding="utf-8", newline="")
    for other in (None, others):
        with pytest.raises(ConfigurationError, match="another text"):
            list(translate_text(text, tmp_path / "work", numbered, TEACHER, references=other))
    references.write_text("one\n")
    with pytest.raises(DataError, match="must be parallel"):
        list(translate_text(text, tmp_path / "new", numbered, TEACHER, references=references))
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("side", ["source", "target"])
def test_references_are_the_other_side_of_a_parallel_format(tmp_path: Path, side: Literal["source", "target"]) -> None:
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("a\tb\nc\td\n")

    def both(lines: Sequence[str], references: Sequence[str] | None) -> list[str]:
        return [f"{line}{reference}" for line, reference in zip(lines, references or (), strict=True)]

    found = list(translate_text(pairs, tmp_path / "work", both, TEACHER, references=pairs, side=side))
    assert found == {"source": [("a", "ab"), ("c", "cd")], "target": [("b", "ba"), ("d", "dc")]}[side]


def test_the_first_line_of_a_shard_describes_the_others(text: Path, tmp_path: Path) -> None:
    run(text, tmp_path / "work", Upper())
    shard = next(_shards(tmp_path / "work"))
    head, *rows = [json.loads(line) for line in shard.read_bytes().splitlines()]
    assert head["lines"] == 2 and len(head["sha256"]) == 64
    assert [tuple(row) for row in rows] == EXPECTED[:2]
