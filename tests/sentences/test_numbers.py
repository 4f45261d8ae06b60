"""Numbers as languages write them."""

import pytest

from pocketmt.sentences import NumberFormats, lost_numbers, lost_parts, number_formats, with_parts, with_stand_ins
from pocketmt.sentences.numbers import is_surely_time, is_version, read_number, rewritten_in


def formats(source: str, target: str) -> NumberFormats:
    """Return the formats of two languages that are known."""
    found = number_formats(source, target)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "language", "value"),
    [
        ("1,250", "en", "1250"),
        ("1,250.50", "en", "1250.5"),
        ("1.250", "en", "1.25"),
        ("1.250", "de", "1250"),
        ("1.250,50", "de", "1250.5"),
        ("12 345 678,90", "fr", "12345678.9"),
        ("12 345", "de", None),
        ("1,250.50", "de", "1250.5"),
        ("1'250.50", "de", "1250.5"),
        ("0.125", "de", None),
        ("040.123", "de", None),
        ("192.168.100.200", "de", None),
        ("12\u202f345", "en", "12345"),
        ("1'000'000", "de", "1000000"),
        ("0,75", "de", "0.75"),
        ("007", "en", "007"),
        ("3.0", "en", "3"),
        ("0001,000", "en", None),
        ("3,99", "en", None),
        ("1,250,5", "en", None),
        ("2.13.0", "en", None),
        ("8:30", "en", None),
        ("1,000 000", "en", None),
        ("1.5", "fr", None),
    ],
)
def test_value(text: str, language: str, value: str | None) -> None:
    number = read_number(text, formats(language, language).source)
    assert (number.value if number is not None else None) == value


@pytest.mark.parametrize(
    ("text", "languages", "expected"),
    [
        ("1,250.50", ("en", "de"), "1.250,50"),
        ("$1,250.50", ("en", "de"), "$1.250,50"),
        ("1.234.567 €", ("de", "en"), "1,234,567 €"),
        ("1,250", ("en", "fr"), "1\u202f250"),
        ("1,250", ("en", "es"), "1250"),
        ("12,500", ("en", "es"), "12.500"),
        ("1,250.50", ("de", "en"), "1,250.50"),
        ("12 345,6", ("fr", "en"), "12,345.6"),
        ("3.14159", ("en", "de"), "3,14159"),
        ("12345", ("en", "de"), "12345"),
        ("3,99", ("en", "de"), "3,99"),
        ("192.168.1.1", ("en", "de"), "192.168.1.1"),
        ("10 000", ("de", "en"), "10 000"),
        ("555 123 456", ("en", "de"), "555 123 456"),
    ],
)
def test_rewritten_in_the_format_of_the_target(text: str, languages: tuple[str, str], expected: str) -> None:
    assert rewritten_in(text, formats(*languages)) == expected


def test_formats_of_languages() -> None:
    assert number_formats("en", "xx") is None
    assert number_formats("hi", "en") is None  # groups of two digits
    assert formats("en", "pl").target.group == "\u00a0"


@pytest.mark.parametrize(
    ("source", "translation", "lost"),
    [
        ("It costs 1,250 dollars.", "Es kostet 1.250 Dollar.", []),
        ("It costs 1,250 dollars.", "Es kostet 1250 Dollar.", []),
        ("It costs 1,250 dollars.", "Es kostet 1,250 Dollar.", ["1,250"]),
        ("It rose by 2.5 degrees.", "Sie stieg um 25 Grad.", ["2.5"]),
        ("It rose by 2.50 degrees.", "Sie stieg um 2,5 Grad.", []),
        ("I have 10,000 reasons.", "Ich habe zehntausend Gründe.", []),
        ("I have 10,000 reasons.", "Ich habe 1.000 Gründe.", ["10,000"]),
        ("I have 12,300 books.", "Ich habe Bücher.", ["12,300"]),
        ("I have 500 books.", "Ich habe 50 Bücher.", ["500"]),
        ("I have 500 books.", "Ich habe fünfhundert Bücher.", []),
        ("I have 16 cats.", "Ich habe 160 Katzen.", ["16"]),
        ("I have 16 cats.", "Ich habe sechzehn Katzen.", []),
        ("It is 16 o'clock.", "Es ist 4 Uhr.", []),
        ("I was born in '85.", "Ich bin 1985 geboren.", []),
        ("We left at 8.30.", "Wir sind um halb neun gegangen.", []),
        ("We left at 8.30.", "Wir sind um 8:30 Uhr gegangen.", []),
        ("The 8.30 train", "Der Zug um 8.30 Uhr", []),
        ("I have 170 sheep.", "Ich habe 17 Schafe.", ["170"]),
        ("I have 170 sheep.", "Ich habe siebzig Schafe.", ["170"]),
        ("I have 5 cats.", "Ich habe 7 Katzen.", ["5"]),
        ("I have 5 cats.", "Ich habe fünf Katzen.", []),
        ("I have 5 of 7 cats.", "Ich habe fünf von 7 Katzen.", []),
        ("It costs $12.", "Es kostet 100 Dollar.", ["12"]),
        ("It costs 5 €.", "Es kostet 50 Euro.", ["5 €"]),
        ("It costs 5 €.", "Es kostet fünf Euro.", []),
        ("Come at 3 p.m.", "Komm um 15 Uhr.", []),
        ("Install version 2.5 now.", "Installiere jetzt Version 2.5.", []),
        ("Read John 3.16", "Lies Johannes 3:16", []),
        ("The film begins at 20:15.", "Der Film beginnt 2015.", []),
        ("Call me at 555 123 456.", "Ruf mich an.", []),
        ("Call me at 555 123 456.", "Ruf mich unter 55 an.", ["555 123 456"]),
        ("My IP is 192.168.100.200", "Meine IP ist 192.168.100.200", []),
        ("My IP is 10.0.0.1.", "Meine IP ist 10,0,0,1.", ["10.0.0.1"]),
        ("Version 2.13.0 is here.", "Version 213,0 ist hier.", ["2.13.0"]),
        ("Version 2.13.0 is here.", "Version 2.13,0 ist hier.", ["2.13.0"]),
        ("It is 2024.05.12", "Es ist der 12.05.2024", []),
        ("There were 12,000 men", "Es waren 12 000 Mann", []),
        ("It costs 122,000 euros.", "Es kostet €122.000", []),
        ("Be there by 7.15 pm", "Komm um viertel nach sieben", []),
        ("Version 2.13.0 on 1.2.2024", "Am 2. Januar", ["2.13.0"]),
        ("In 2019, 2019 men", "2019 Männer", ["2019"]),
        ("It is 3,99 long.", "Es ist lang.", []),
        ("It costs €1,250.00.", "Es kostet 1.250 €.", []),
        ("It costs €1,250.50.", "Es kostet 1.250 €.", ["€1,250.50"]),
    ],
)
def test_a_number_needs_its_value(source: str, translation: str, lost: list[str]) -> None:
    assert lost_parts(source, translation, numbers="exact", formats=formats("en", "de")) == lost


def test_every_number_needs_its_value_in_a_warning() -> None:
    assert lost_parts("Price: 5 €", "Der Preis", formats=formats("en", "de")) == ["5 €"]
    assert lost_parts("I walked 2.5 or 15 km", "Ich ging 25 km", formats=formats("en", "de")) == ["2.5", "15"]
    assert lost_parts("I walked 2.5 of 1,250 km", "Ich ging 25 von 1250 km") == ["2.5"]  # of unknown languages
    assert lost_parts("1,000.5 - 20 %", "1,000.5 - 20 %", formats=formats("en", "de")) == []


@pytest.mark.parametrize(
    ("source", "translation", "lost"),
    [
        ("We left at 7:14 p.m.", "Wir sind um 19:14 Uhr gegangen.", []),
        ("We left at 7.14PM", "Wir sind um 19:14 Uhr gegangen.", []),
        ("Wir sind um 19:14 Uhr gegangen.", "We left at 7:14 p.m.", []),
        ("It's 12:30 p.m.", "Es ist 12:30 Uhr.", []),
        ("We left at 7:14 a.m.", "Wir sind um 19:14 Uhr gegangen.", ["7:14"]),
        ("We left at 7:14.", "Wir sind um 19:14 Uhr gegangen.", ["7:14"]),
        ("We left at 7:14 p.m.", "Wir sind um 20:14 Uhr gegangen.", ["7:14"]),
    ],
)
def test_times_of_the_afternoon_may_be_counted_to_24(source: str, translation: str, lost: list[str]) -> None:
    assert lost_parts(source, translation, formats=formats("en", "de")) == lost
    assert lost_parts(source, translation) == lost


def test_a_number_takes_the_place_of_its_stand_in_as_the_target_writes_it() -> None:
    text = "I paid 1,250.50 for 10,000 of %1.2f on 192.168.0.1 in 1977."
    replaced, stand_ins = with_stand_ins(text, formats=formats("en", "de"))
    assert replaced == "I paid 300 for 10,000 of 20 on 500 in 2013."
    assert with_parts(replaced, stand_ins) == "I paid 1.250,50 for 10,000 of %1.2f on 192.168.0.1 in 1977."
    assert [stand_in.source for stand_in in stand_ins][:2] == ["1,250.50", "%1.2f"]
    assert with_stand_ins(text)[0] == "I paid 1,250.50 for 10,000 of 300 on 20 in 2013."
    lost = lost_numbers(text, "Ich zahlte 1.000", formats("en", "de"))
    assert [part.text for part in lost] == ["10,000"]
    assert with_stand_ins(text, unknown=lost, formats=formats("en", "de"))[1][1].part == "10.000"


def test_a_number_after_a_name_stays_as_it_is() -> None:
    replaced, stand_ins = with_stand_ins("Python 3.8 needs 3.8 GB in room 2.15", formats=formats("en", "de"))
    assert with_parts(replaced, stand_ins) == "Python 3.8 needs 3,8 GB in room 2.15"


@pytest.mark.parametrize(
    ("text", "before", "after", "expected"),
    [
        ("8.30", "at ", "", True),
        ("8.30", "", " a.m.", True),
        ("8.30", "what ", "", False),
        ("8.75", "at ", "", False),
        ("8.30", "", " apples", False),
        ("13", "Von ", " bis 15 Uhr", True),
        ("1", "", "-3 p.m.", True),
        ("13", "", " und 15 Hunde", False),
    ],
)
def test_times_of_day(text: str, before: str, after: str, expected: bool) -> None:
    assert is_surely_time(text, before, after) is expected


def test_versions() -> None:
    assert is_version("2.13.0")
    assert is_version("192.168.1.1")
    assert not is_version("12.05.2024")
    assert not is_version("1.250.000")
    assert not is_version("1.5")
