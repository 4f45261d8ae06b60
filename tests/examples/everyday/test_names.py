"""Pairs with other names, times, dates and abbreviations."""

import random
import re
from pathlib import Path

import pytest

from examples.everyday import names
from examples.everyday.names import other_dates, other_times, with_names, with_other_names

DRAW = random.Random(5)


def test_a_name_is_replaced_on_both_sides() -> None:
    def drawn(kind: str) -> str:
        return {"male": "Max", "female": "Lea", "places": "Graz"}[kind]

    for pair, expected in [
        (("Tom sees Mary.", "Tom sieht Maria."), ("Max sees Lea.", "Max sieht Lea.")),
        (("Mary's in Boston.", "Mary ist in Boston."), ("Lea's in Graz.", "Lea ist in Graz.")),
        (("This is Tom's dog.", "Das ist Toms Hund."), ("This is Max's dog.", "Das ist Max' Hund.")),
        (("It's Mary's.", "Es ist Marias."), ("It's Lea's.", "Es ist Leas.")),
        (("Tomorrow Tom goes.", "Tom geht."), ("Tomorrow Max goes.", "Max geht.")),
    ]:
        assert with_names(pair, drawn) == expected


@pytest.mark.parametrize(
    "pair", [("Hello.", "Hallo."), ("Tom is here.", "Er ist hier."), ("He is here.", "Tom ist hier.")]
)
def test_names_of_one_side_stay(pair: tuple[str, str]) -> None:
    assert with_names(pair, lambda kind: "Max") is None
    assert list(with_other_names([pair])) == []


def test_drawn_names_are_the_same_on_both_sides_and_in_each_run() -> None:
    pairs = [("Tom is in Boston.", "Tom ist in Boston.")] * 50
    found = list(with_other_names(pairs))
    assert found == list(with_other_names(pairs))
    assert len(found) > 50
    for english, german in found:
        assert german == english.replace(" is in ", " ist in ").replace("P.S. ", "P.S. ")
    assert len({*found}) > 150


@pytest.mark.parametrize(
    ("pair", "expected"),
    [
        (("Tom is here.", "Tom ist hier."), r"(?:Mrs?\.? (\S+) is here\.\|Herr \1 ist hier\.|(Dr\.|Professor) .*)"),
        (
            ("I was with Tom.", "Ich war mit Tom."),
            r"I was with (?:Mrs?\.? (\S+)\.\|Ich war mit Herrn \1\.|.*Dr|.*Prof.*)",
        ),
        (("It's Tom's.", "Es ist Toms."), r"It's (?:Mrs?\.? (\S+)'s\.\|Es ist Herrn \1(?:s|')\.|.*Dr|.*Prof.*)"),
        (
            ("I saw Mary.", "Ich sah Maria."),
            r"I saw (?:Mr?s\.? (\S+)\.\|Ich sah Frau \1\.|Dr\. (\S+)\.\|Ich sah Dr\. \2\.)",
        ),
    ],
)
def test_titles_are_those_of_both_languages(pair: tuple[str, str], expected: str) -> None:
    titled = [
        f"{english}|{german}"
        for english, german in with_other_names([pair] * 30, titles=True)
        if re.search(r"Herr|Frau|Professor", german) and "P.S." not in german
    ]
    assert len(titled) >= 8
    assert [each for each in titled if not re.match(expected, each)] == []


def test_a_person_that_may_be_the_object_is_no_herr() -> None:
    found = with_other_names([("I saw Tom.", "Ich sah Tom.")] * 30, titles=True)
    assert not any(re.search(r"\bHerrn? ", german) for _, german in found)


def test_times_keep_the_hour_or_the_afternoon() -> None:
    for english, german, later in [
        ("Come at 2:30.", "Komm um 2.30 Uhr.", 0),
        ("Come at 2:30 p.m.", "Komm um 14:30 Uhr.", 12),
    ]:
        found = list(other_times(DRAW, (english, german)))
        assert len(found) == names.COPIES["times"]
        for one, other in found:
            hour, minutes = re.findall(r"\d+", one)
            assert re.findall(r"\d+", other) == [str(int(hour) + later), minutes]
    assert not list(other_times(DRAW, ("Come at 2:30.", "Komm um halb drei.")))
    assert not list(other_times(DRAW, ("Come at 2:30.", "Komm um 3:30 Uhr.")))


def test_dates_have_the_same_day_and_month() -> None:
    months = dict(zip(names.MONTHS.values(), range(1, 13), strict=True))
    found = list(other_dates(DRAW, ("It's May 5th, 2010.", "Es ist der 5. Mai 2010.")))
    assert len(found) == names.COPIES["dates"]
    for english, german in found:
        written = english.removeprefix("It's ").removesuffix(".")
        if written[0].isdigit():
            assert german == f"Es ist der {written}."
            continue
        month, day, year = re.fullmatch(r"(\w+) (\d+), (\d+)", written).groups()  # type: ignore[union-attr]
        assert german == f"Es ist der {day}. {names.MONTHS[month]} {year}."
        assert months[names.MONTHS[month]] in range(1, 13)
    assert not list(other_dates(DRAW, ("It's May 5th.", "Es ist der 6. Mai.")))


def test_abbreviations_are_those_of_both_languages() -> None:
    found = list(with_other_names([("We need fruit, for example apples.", "Wir brauchen Obst, zum Beispiel Äpfel.")]))
    assert {*found} <= {
        ("We need fruit, e.g. apples.", "Wir brauchen Obst, z. B. Äpfel."),
        ("We need fruit, e.g. apples.", "Wir brauchen Obst, z.B. Äpfel."),
    }
    assert found
    [*states] = with_other_names([("I live in the United States.", "Ich wohne in den USA.")])
    assert {english for english, _ in states} <= {"I live in the U.S.", "I live in the US."}


def test_the_program_writes_the_pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sides = [tmp_path / "a.en", tmp_path / "a.de"]
    sides[0].write_text("Tom sleeps.\n")
    sides[1].write_text("Tom schläft.\n")
    output = [tmp_path / "b.en", tmp_path / "b.de"]
    monkeypatch.setattr("sys.argv", ["names", *map(str, sides), "-o", *map(str, output)])
    assert names.main() == 0
    english, german = (path.read_text().splitlines() for path in output)
    assert [line.replace(" sleeps.", " schläft.") for line in english] == german
    sides[1].unlink()
    assert names.main() == 1
