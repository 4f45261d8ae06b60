"""Decimals that a translation has as its source writes them."""

import pytest

from pocketmt.sentences import kept_decimals, number_formats, with_parts


@pytest.mark.parametrize(
    ("source", "translation", "expected"),
    [
        ("It costs 2.5 euros.", "Es kostet 2.5 Euro.", "Es kostet 2,5 Euro."),
        ("It costs €19.99.", "Es kostet 19.99 €.", "Es kostet 19,99 €."),
        ("It costs $19.99.", "Es kostet 19.99 Dollar.", "Es kostet 19,99 Dollar."),
        ("2.5 or 3.75 km, 12.5", "2.5 oder 3.75 km, 12.5", "2,5 oder 3,75 km, 12.5"),
        ("It is 4.5 by 3.2 meters.", "Es ist 4.5 mal 3.2 Meter.", "Es ist 4,5 mal 3,2 Meter."),
        ("I am 1.8 meters tall.", "Ich bin 1.8 Meter groß.", "Ich bin 1,8 Meter groß."),
        ("In 2.5 hours", "In 2.5 Stunden", "In 2,5 Stunden"),
        ("Walk 3.5 miles, 0.5% or 2.5 GB", "3.5 Meilen, 0.5 % oder 2.5 GB", "3,5 Meilen, 0,5 % oder 2,5 GB"),
        ("x2.5 and 3.5 kg", "x2.5 und 3.5 kg", "x2.5 und 3,5 kg"),
        ("2.5 times bigger and 3.5 kg", "2.5mal größer und 3.5 kg", "2.5mal größer und 3,5 kg"),
        # Nothing shows that it is a quantity.
        ("2.1 Introduction", "2.1 Einleitung", None),
        ("Upgrade from 3.8 to 3.9.", "Upgrade von 3.8 auf 3.9.", None),
        ("The version is 2.5 and old.", "Die Version ist 2.5 und alt.", None),
        ("foo(1.5), opacity: 0.5;", "foo(1.5), opacity: 0.5;", None),
        # It is right already, or another number.
        ("It costs 2.5 euros.", "Es kostet 2,5 Euro.", None),
        ("It costs 1.250 euros.", "Es kostet 1.250 Euro.", None),
        ("It costs 2.5 euros.", "Es kostet 2.57 Euro.", None),
        ("Version 2.5.1 of 2.5", "Version 2.5.1 von 2.4", None),
        ("The 8:30 train", "Der Zug um 8:30 Uhr", None),
        # One of two may be something else.
        ("2.5 or 2.5", "2.5", None),
        ("2.5", "2.5 oder 2.5", None),
        # Times, dates and versions.
        ("We left at 8.30.", "Wir gingen um 8.30.", None),
        ("The 8.30 train", "Der Zug um 8.30 Uhr", None),
        ("I was born on 13.12.", "Ich wurde 13.12 geboren.", None),
        ("Its 13.12 now", "Wir sind am 13.12 da", None),
        ("We had 13.12. already", "Wir hatten 13.12. schon", None),
        ("Open 9.00-17.30 hours", "Geöffnet 9.00-17.30", None),
        ("See sections 2.5 and 2.6 here", "Siehe Abschnitte 2.5 und 2.6 hier", None),
        ("Fig. 2.5 shows dogs", "Abb. 2.5 zeigt Hunde", None),
        ("Web 2.0 is new.", "Das Web 2.0 ist neu.", None),
        ("Room 2.15 is free.", "Zimmer 2.15 ist frei.", None),
        ("Read John 3.16", "Lies Johannes 3.16", None),
        ("I use Python 3.8", "Ich benutze Python 3.8", None),
    ],
)
def test_decimals_are_written_as_the_target_language_does(source: str, translation: str, expected: str | None) -> None:
    found = kept_decimals(source, translation, number_formats("en", "de"))
    assert (with_parts(translation, found) if found else None) == expected


def test_each_direction_has_its_signs() -> None:
    found = kept_decimals("Ich bin 1,80 Meter groß.", "I am 1,80 meters tall.", number_formats("de", "en"))
    assert with_parts("I am 1,80 meters tall.", found) == "I am 1.80 meters tall."
    assert kept_decimals("Aufgaben 1,2 und 3", "Tasks 1,2 and 3", number_formats("de", "en")) == []
    assert kept_decimals("1,5 kg", "1,5 kg", number_formats("de", "fr")) == []
    assert kept_decimals("1,5 kg", "1,5 kg", number_formats("de", "ja")) == []
