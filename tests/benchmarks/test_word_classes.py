"""Counts of words of closed classes that models translate rightly."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks import everyday_scores, word_classes

DAYS = {"Monday": "Montag", "Tuesday": "Dienstag", "Wednesday": "Mittwoch", "Thursday": "Donnerstag"}


class Translator:
    """A translator that knows four weekdays."""

    def __init__(self, _: str) -> None:
        pass

    def translate(self, lines: Sequence[str], **_: Any) -> list[str]:
        days = {**DAYS, **{german: english for english, german in DAYS.items()}}
        return [re.sub(r"\w+", lambda match: days.get(match[0], match[0]), line) for line in lines]


@pytest.mark.parametrize("languages", ["en-de", "de-en"])
def test_right_words_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, languages: str) -> None:
    folder = tmp_path / "tatoeba"
    folder.mkdir()
    (folder / "test.en").write_text("Come on Friday.\nHello.\n" * 20)
    (folder / "test.de0").write_text("Komm am Freitag.\nHallo.\n" * 20)
    monkeypatch.setenv("POCKETMT_DATA", str(tmp_path))
    monkeypatch.setattr(everyday_scores, "Translator", Translator)
    output = tmp_path / "record.json"
    assert word_classes.main(["a=b", "--languages", languages, "--final", "--output", str(output)]) == 0
    row, all_classes = json.loads(output.read_text())["rows"]
    assert all_classes == {**row, "kind": "all"}
    assert (row["kind"], row["model"]) == ("weekdays", "a")
    assert row["lines"] >= 100  # at least five of six copies, as one may have the same day
    assert 0.4 < row["right"] < 0.9  # four of the six other days
