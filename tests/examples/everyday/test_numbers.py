"""Pairs with other numbers."""

import re
import sys
from pathlib import Path

import pytest

from examples.everyday.numbers import COPIES, LEAST, main, with_other_numbers
from pocketmt.sentences import number_formats

FORMATS = number_formats("en", "de")


def other_numbers(source: str, target: str) -> list[tuple[str, str]]:
    assert FORMATS is not None
    return list(with_other_numbers([(source, target)], FORMATS))


def test_both_sides_have_the_same_number_as_their_languages_write_it() -> None:
    pairs = other_numbers("It costs $1,250.", "Es kostet 1250 Dollar.")
    assert len(pairs) == COPIES
    for source, target in pairs:
        number = source.removeprefix("It costs $").removesuffix(".")
        assert target == f"Es kostet {number.translate(str.maketrans(',.', '.,'))} Dollar."
        assert float(number.replace(",", "")) >= LEAST
    assert len({source for source, _ in pairs}) > COPIES / 2


def test_a_year_becomes_a_year() -> None:
    for source, target in other_numbers("He died in 1990.", "Er starb 1990."):
        assert re.fullmatch(r"He died in (1[5-9]|20)\d\d\.", source)
        assert target == source.replace("He died in", "Er starb")


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("I have 3 dogs.", "Ich habe 3 Hunde."),
        ("I have 30 dogs.", "Ich habe dreißig Hunde."),
        ("I have 30 dogs.", "Ich habe 31 Hunde."),
        ("I have 30 dogs and 40 cats.", "Ich habe 30 Hunde und 40 Katzen."),
        ("He left at 8:30.", "Er ging um 8:30."),
        ("The 30-year-old", "Die 30-Jährige"),
        ("A B747 with 30 men", "Eine B747 mit 30 Mann"),
        ("It is 3,99 long.", "Es ist 3,99 lang."),
    ],
)
def test_other_pairs_are_left_out(source: str, target: str) -> None:
    assert other_numbers(source, target) == []


def test_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.en").write_text("I have 30 dogs.\nHello!\n")
    (tmp_path / "a.de").write_text("Ich habe 30 Hunde.\nHallo!\n")
    output = [tmp_path / "b.en", tmp_path / "b.de"]
    arguments = [*(str(tmp_path / f"a.{side}") for side in ("en", "de")), "--output", *map(str, output), "--languages"]
    monkeypatch.setattr(sys, "argv", ["numbers", *arguments, "en", "de"])
    assert main() == 0
    assert [len(path.read_text().splitlines()) for path in output] == [COPIES, COPIES]
    monkeypatch.setattr(sys, "argv", ["numbers", *arguments, "en", "xx"])
    assert main() == 1
    assert "--languages en xx" in capsys.readouterr().err
