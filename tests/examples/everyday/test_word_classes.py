"""Pairs with other words of closed classes, and numbers as words."""

import random
import sys
from pathlib import Path

import pytest

from examples.everyday.number_words import english_number, english_ordinal, german_number, german_ordinal
from examples.everyday.word_classes import main, with_other_words, with_others_of_class, word_classes

CLASSES = word_classes()


def others(name: str, source: str, target: str) -> list[tuple[str, str]]:
    draw = random.Random(3)
    return [pair for pair, _ in with_others_of_class(draw, (source, target), CLASSES[name])]


@pytest.mark.parametrize(
    ("number", "english", "german"),
    [
        (8, "eight", "acht"),
        (12, "twelve", "zwölf"),
        (16, "sixteen", "sechzehn"),
        (21, "twenty-one", "einundzwanzig"),
        (30, "thirty", "dreißig"),
        (77, "seventy-seven", "siebenundsiebzig"),
        (100, "one hundred", "hundert"),
        (250, "two hundred and fifty", "zweihundertfünfzig"),
        (999, "nine hundred and ninety-nine", "neunhundertneunundneunzig"),
    ],
)
def test_numbers_as_words(number: int, english: str, german: str) -> None:
    assert (english_number(number), german_number(number)) == (english, german)


@pytest.mark.parametrize(
    ("number", "english", "german"),
    [
        (1, "first", "erst"),
        (3, "third", "dritt"),
        (5, "fifth", "fünft"),
        (7, "seventh", "siebt"),
        (8, "eighth", "acht"),
        (12, "twelfth", "zwölft"),
        (19, "nineteenth", "neunzehnt"),
        (20, "twentieth", "zwanzigst"),
        (23, "twenty-third", "dreiundzwanzigst"),
        (88, "eighty-eighth", "achtundachtzigst"),
    ],
)
def test_ordinal_numbers_as_words(number: int, english: str, german: str) -> None:
    assert (english_ordinal(number), german_ordinal(number)) == (english, german)


def test_a_word_and_its_translation_are_replaced_together() -> None:
    pairs = others("weekdays", "See you on Monday.", "Bis Montag.")
    assert len(pairs) >= CLASSES["weekdays"].copies - 1
    words = CLASSES["weekdays"].words
    for english, german in pairs:
        day = english.removeprefix("See you on ").removesuffix(".")
        assert day != "Monday"
        assert german == f"Bis {words[day]}."


def test_german_endings_and_english_articles_are_kept_right() -> None:
    pairs = others("nationalities", "He met an Italian actor.", "Er traf einen italienischen Schauspieler.")
    assert pairs
    for english, german in pairs:
        article, word = english.removeprefix("He met ").removesuffix(" actor.").split()
        assert german == f"Er traf einen {CLASSES['nationalities'].words[word]}en Schauspieler."
        assert article == ("an" if word[0] in "AEI" and word != "European" else "a")


def test_capitals_at_the_start_of_a_line_are_kept() -> None:
    pairs = others("numbers", "Sixty-four people came.", "Vierundsechzig Leute kamen.")
    assert len(pairs) > 1
    for english, german in pairs:
        assert english[0].isupper()
        assert german[0].isupper()
        assert english.lower() != "sixty-four people came."


def test_times_of_day_have_no_more_than_twelve_hours() -> None:
    hours = {english_number(hour) for hour in range(2, 13)}
    pairs = others("numbers", "It's three o'clock.", "Es ist drei Uhr.")
    assert len(pairs) > 1
    for english, _ in pairs:
        assert english.removeprefix("It's ").removesuffix(" o'clock.") in hours


@pytest.mark.parametrize(
    ("name", "source", "target"),
    [
        ("weekdays", "Come on Monday.", "Komm am Dienstag."),
        ("weekdays", "Come on Monday or Friday.", "Komm am Montag oder Freitag."),
        ("weekdays", "Come on Monday.", "Komm Montagabend."),
        ("numbers", "It's half past two.", "Es ist halb drei."),
        ("numbers", "He's a two-year-old.", "Er ist zwei."),
        ("months", "May I go?", "Darf ich gehen?"),
        ("countries", "Japan's king", "Japans König"),
        ("ordinals", "He came first.", "Er kam erst."),
    ],
)
def test_other_pairs_are_left_out(name: str, source: str, target: str) -> None:
    assert others(name, source, target) == []


def test_a_pair_gives_copies_of_each_class_that_it_has() -> None:
    pairs = list(with_other_words([("Three red cars", "Drei rote Autos"), ("Hello", "Hallo")], CLASSES))
    assert any(english.endswith(" red cars") and german.endswith(" rote Autos") for english, german in pairs)
    assert any(english.startswith("Three ") and german.startswith("Drei ") for english, german in pairs)


def test_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.en").write_text("See you on Monday.\nHello!\n")
    (tmp_path / "a.de").write_text("Bis Montag.\nHallo!\n")
    arguments = [str(tmp_path / name) for name in ("a.en", "a.de")]
    output = [tmp_path / "b.en", tmp_path / "b.de"]
    monkeypatch.setattr(sys, "argv", ["word_classes", *arguments, "--output", *map(str, output)])
    assert main() == 0
    assert output[0].read_text().count("See you on") == output[1].read_text().count("Bis") > 4
    monkeypatch.setattr(sys, "argv", ["word_classes", arguments[0], "missing", "--output", *map(str, output)])
    assert main() == 1
    assert "missing" in capsys.readouterr().err
