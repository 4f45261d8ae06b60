"""Counts of the numbers that models keep."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks import everyday_scores, numbers_kept


class Translator:
    """A translator that loses the zeros of numbers, if they are not protected."""

    def __init__(self, _: str) -> None:
        pass

    def translate(self, lines: Sequence[str], *, protect: bool, **_: Any) -> list[str]:
        copied = [line.translate(str.maketrans(",.", ".,")) for line in lines]
        return copied if protect else [line.replace("0", "") for line in copied]


def test_kept_numbers_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "tatoeba"
    folder.mkdir()
    (folder / "test.en").write_text("I have 30 dogs\nHello\n" * 5)
    (folder / "test.de0").write_text("Ich habe 30 Hunde\nHallo\n" * 5)
    monkeypatch.setenv("POCKETMT_DATA", str(tmp_path))
    monkeypatch.setattr(everyday_scores, "Translator", Translator)
    output = tmp_path / "record.json"
    assert numbers_kept.main(["a=b", "--languages", "en-de", "--final", "--output", str(output)]) == 0
    [row] = json.loads(output.read_text())["rows"]
    assert row["lines"] == 40
    assert row["protected"] == 1
    assert 0 < row["alone"] < 1
