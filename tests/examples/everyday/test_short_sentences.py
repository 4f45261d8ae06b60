"""The shortest sentences as users type them."""

import sys
from pathlib import Path

import pytest

from examples.everyday.short_sentences import COPIES, as_typed, main


def test_short_pairs_are_repeated_in_each_form() -> None:
    pairs = list(as_typed([("Hi there!", "Hallo!")], "en"))
    forms = [("Hi there", "Hallo"), ("hi there!", "Hallo!"), ("hi there", "Hallo")]
    assert pairs == forms * COPIES[2]


def test_longer_pairs_and_forms_that_change_nothing_are_left_out() -> None:
    assert list(as_typed([("This one is longer.", "Das hier ist länger."), ("ok", "gut")], "en")) == []
    assert list(as_typed([("ok.", "gut.")], "en")) == [("ok", "gut")] * COPIES[1]


def test_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.de").write_text("Hallo!\nDas hier ist länger.\n")
    (tmp_path / "a.en").write_text("Hi!\nThis one is longer.\n")
    arguments = [str(tmp_path / name) for name in ("a.de", "a.en")]
    output = [tmp_path / "b.de", tmp_path / "b.en"]
    options = ["--language", "de", "--output", *map(str, output)]
    monkeypatch.setattr(sys, "argv", ["short_sentences", *arguments, *options])
    assert main() == 0
    assert [path.read_text().splitlines()[:2] for path in output] == [["Hallo", "hallo!"], ["Hi", "Hi!"]]
    monkeypatch.setattr(sys, "argv", ["short_sentences", arguments[0], "missing", *options])
    assert main() == 1
    assert "missing" in capsys.readouterr().err
