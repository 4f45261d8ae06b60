"""Scores of words and phrases that stand alone on a line."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks import everyday_scores, words_alone
from tests.examples.everyday.test_phrases import PAIRS

RIGHT = {"dog": "Hund.", "sees": "sieht", "Dog": "Hund"}


class Dictionary:
    """A translator that knows two words."""

    def __init__(self, model: str) -> None:
        assert model == "some.pocketmt"

    def translate(self, lines: Sequence[str], **_: Any) -> list[str]:
        return [RIGHT.get(line, "Vogel") for line in lines]


def test_known_and_new_phrases_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "tatoeba"
    folder.mkdir()
    new = [("The bird sees the dog.", "Der Vogel sieht den Hund.")] * 2
    for part, pairs in (("train", PAIRS), ("val", [*PAIRS[:3], *new])):
        for index, name in enumerate(("en", "de")):
            text = "".join(f"{pair[index]}\n" for pair in pairs)
            sides = [name] if part == "train" or name == "en" else [f"de{number}" for number in range(4)]
            for side in sides:
                (folder / f"{part}.{side}").write_text(text, encoding="utf-8")
    monkeypatch.setenv("POCKETMT_DATA", str(tmp_path))
    monkeypatch.setattr(everyday_scores, "Translator", Dictionary)
    output = tmp_path / "record.json"
    assert words_alone.main(["two words=some.pocketmt", "--languages", "en-de", "--output", str(output)]) == 0
    record = json.loads(output.read_text())
    groups = {row["group"]: row for row in record["rows"]}
    assert record["part"] == "val"
    assert set(groups) == {"known words", "new words", "known phrases", "new phrases"}
    known = groups["known words"]
    assert known["lower_case"] * known["phrases"] == pytest.approx(2)
    assert known["labels"] * known["phrases"] == pytest.approx(1)
    assert groups["new words"]["lower_case"] == 1  # "bird", which the training text lacks
    assert groups["known phrases"]["lower_case"] == 0 < groups["known phrases"]["phrases"]
