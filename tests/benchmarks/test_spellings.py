"""Scores of text without final punctuation, in lower case and in capitals."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks import everyday_scores, spellings

LINES = ["This is a Test.", "He lives in the USA", "Is it good?", "Well...", "I bought 16 Apples!"]


class Copying:
    """A translator that copies, and keeps what it was given."""

    given: list[list[str]]

    def __init__(self, model: str) -> None:
        assert model == "some.pocketmt"
        Copying.given = []

    def translate(self, lines: Sequence[str], **_: Any) -> list[str]:
        Copying.given.append(list(lines))
        return list(lines)


@pytest.mark.parametrize("final", [False, True])
def test_references_are_spelt_as_the_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, final: bool) -> None:
    folder = tmp_path / "tatoeba"
    folder.mkdir()
    for name in ("en", "de0"):
        (folder / f"{'test' if final else 'val'}.{name}").write_text("".join(f"{line}\n" for line in LINES))
    monkeypatch.setenv("POCKETMT_DATA", str(tmp_path))
    monkeypatch.setattr(everyday_scores, "Translator", Copying)
    output = tmp_path / "record.json"
    arguments = ["copy=some.pocketmt", "--languages", "de-en", "--output", str(output)]
    assert spellings.main([*arguments, *(["--final"] if final else [])]) == 0
    record = json.loads(output.read_text())
    [row] = record["rows"]
    assert row["model"] == "copy"
    assert record["part"] == ("test" if final else "val")
    for spelling in ("as_it_is", "without_punctuation", "capitals"):
        assert row[spelling]["bleu"] == pytest.approx(100)
    for spelling in ("lower_case", "lower_case_without_punctuation"):
        assert 5 < row[spelling]["bleu"] < 90
    assert Copying.given == [
        LINES,
        ["This is a Test", "He lives in the USA", "Is it good", "Well...", "I bought 16 Apples"],
        ["this is a test.", "he lives in the usa", "is it good?", "well...", "i bought 16 apples!"],
        ["this is a test", "he lives in the usa", "is it good", "well...", "i bought 16 apples"],
        [line.upper() for line in LINES],
    ]
