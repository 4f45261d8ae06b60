"""Counts of the names, times and dates that models keep."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks import everyday_scores, names_kept
from benchmarks.names_kept import PERSONS, PLACES
from examples.everyday.names import LISTS

ENGLISH = ["Tom is here.", "Tom's dog sees Tom.", "I live in Boston.", "Hello.", "I left at 2:30.", "It's May 5th."]
GERMAN = ["Tom ist hier.", "Toms Hund sieht Tom.", "Ich wohne in Boston.", "Hallo.", "Ich ging um 2.30 Uhr.", "5. Mai"]


class Translator:
    """A translator that loses letters and digits, if they are not protected."""

    def __init__(self, _: str) -> None:
        pass

    def translate(self, lines: Sequence[str], *, protect: bool, **_: Any) -> list[str]:
        return list(lines) if protect else [line.replace("e", "").replace("1", "") for line in lines]


@pytest.mark.parametrize("languages", ["en-de", "de-en"])
def test_kept_names_and_times_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, languages: str) -> None:
    folder = tmp_path / "tatoeba"
    folder.mkdir()
    (folder / "test.en").write_text("".join(f"{line}\n" for line in ENGLISH))
    (folder / "test.de0").write_text("".join(f"{line}\n" for line in GERMAN))
    monkeypatch.setenv("POCKETMT_DATA", str(tmp_path))
    monkeypatch.setattr(everyday_scores, "Translator", Translator)
    output = tmp_path / "record.json"
    assert names_kept.main(["a=b", "--languages", languages, "--final", "--output", str(output)]) == 0
    names, times = json.loads(output.read_text())["rows"]
    assert (names["kind"], names["lines"], times["kind"], times["lines"]) == ("names", 3, "times and dates", 46)
    assert names["protected"] == times["protected"] == 1
    assert names["alone"] < 1
    assert 0 < times["alone"] < 1


def test_no_name_is_one_of_the_training() -> None:
    trained = LISTS.read_text(encoding="utf-8").split()
    assert not {*PERSONS.split(), *PLACES.split()} & {*trained}
