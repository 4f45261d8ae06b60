"""Training text written for the project: inflected nouns, times, amounts, lists, and sentences as they are typed."""

import random
import re
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from examples.everyday.number_words import ENGLISH, GERMAN
from examples.everyday.phrase_book.__main__ import (
    COPIES,
    GERMAN_VARIANTS,
    LABEL_COPIES,
    MOST_FORMS,
    PHRASES,
    WORDS,
    main,
    phrase_pairs,
    word_pairs,
    written_pairs,
)
from examples.everyday.phrase_book.amounts import amount_pairs
from examples.everyday.phrase_book.as_typed import (
    in_ascii,
    in_british,
    in_title_case,
    typed_pairs,
    with_a_slip,
    without_apostrophes,
)
from examples.everyday.phrase_book.clock_times import time_pairs
from examples.everyday.phrase_book.dates import MONTHS, date_pairs
from examples.everyday.phrase_book.lists import ACRONYMS, LISTS, list_pairs
from examples.everyday.phrase_book.nouns import Noun, filled, mass_nouns, nouns
from examples.everyday.phrase_book.tables import read_lines_of, read_table
from pocketmt.errors import ConfigurationError
from pocketmt.text.letter_case import in_lower_case

KEY = Noun("key", "keys", "Schlüssel", "m", "Schlüssel")
LAMP = Noun("lamp", "lamps", "Lampe", "f", "Lampen")
EGG = Noun("egg", "eggs", "Ei", "n", "Eier")


@pytest.mark.parametrize(
    ("noun", "sentence", "expected"),
    [
        (KEY, "{ein:n} neu{mixed:n} {noun}.", "Ein neuer Schlüssel."),
        (KEY, "Ich sehe {ein:a} neu{mixed:a} {noun}.", "Ich sehe einen neuen Schlüssel."),
        (KEY, "mit {dies:d} {noun}", "mit diesem Schlüssel"),
        (LAMP, "{der:n} ander{weak:n} {noun} und {kein:n} {noun}.", "Die andere Lampe und keine Lampe."),
        (LAMP, "mit {mein:d} {noun}", "mit meiner Lampe"),
        (EGG, "{welch:a} {noun}?", "Welches Ei?"),
        (EGG, "ohne {der:a} groß{weak:a} {noun}", "ohne das große Ei"),
        (EGG, "{unser:n} {noun}", "unser Ei"),
        (EGG, "mit {nouns:d}", "mit Eiern"),
        (LAMP, "mit {nouns:d}", "mit Lampen"),
    ],
)
def test_german_words_agree_with_the_noun(noun: Noun, sentence: str, expected: str) -> None:
    end = expected[-1] if expected[-1] in ".?" else ""
    assert filled((f"x{end}", sentence), noun)[1] == expected


def test_the_english_article_depends_on_the_sound() -> None:
    carrier = ("{a} {noun}", "{noun}")
    expected = {"egg": "an", "hour": "an", "uniform": "a", "key": "a", "one-way ticket": "a", "umbrella": "an"}
    expected |= {"X-ray": "an", "USB stick": "a", "urine sample": "a", "herb": "an"}
    found = {name: filled(carrier, Noun(name, "", "X", "m", ""))[0].split()[0] for name in expected}
    assert found == expected


def test_a_label_keeps_its_capital() -> None:
    assert filled(("The {noun}", "{der:n} {noun}"), KEY) == ("The key", "Der Schlüssel")
    assert filled(("the {noun}", "{der:n} {noun}"), KEY) == ("the key", "der Schlüssel")


def test_the_tables_are_whole() -> None:
    assert len({noun.english for noun in nouns()}) == len(nouns()) > 2000
    assert all(noun.gender in "mfn" and noun.german[0].isupper() for noun in [*nouns(), *mass_nouns()])
    pairs = phrase_pairs("de") + word_pairs()
    assert len(phrase_pairs("de")) > len(phrase_pairs("en")) > 20_000
    assert all(line == line.strip() and "  " not in line for pair in pairs for line in pair)
    for name in ("carriers", "mass_carriers"):
        slots = [(english.count("{noun"), german.count("{noun")) for english, german in read_table(name, 2)]
        assert all(english == german == 1 for english, german in slots)
    for name in (*PHRASES, WORDS, GERMAN_VARIANTS):
        english = [row[0] for row in read_table(name, 2)]
        assert len(set(english)) == len(english)


def test_labels_are_repeated_more_often_than_words() -> None:
    counts = Counter(written_pairs([], "en"))
    assert counts["Settings", "Einstellungen"] >= LABEL_COPIES
    assert all(COPIES <= counts[pair] < LABEL_COPIES for pair in word_pairs()[::50])


def test_a_pair_has_some_of_its_other_forms() -> None:
    counts = Counter(written_pairs([], "en"))
    pairs = [pair for pair in dict.fromkeys(phrase_pairs("en")) if pair[0].endswith(".") and pair[1].endswith(".")]
    for pair in pairs[::500]:
        source, target = pair
        lower = in_lower_case(source, "en")
        ends = [(source[:-1], target[:-1]), (lower[:-1], target[:-1]), (source[:-1] + "!", target[:-1] + "!")]
        assert counts[pair] >= COPIES
        assert sum(counts[form] > 0 for form in {(lower, target), *ends} - {pair}) >= MOST_FORMS


def test_a_broken_table_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "x.tsv").write_text("a\tb\nc\n", encoding="utf-8")
    monkeypatch.setattr("examples.everyday.phrase_book.tables.FOLDER", tmp_path)
    with pytest.raises(ConfigurationError, match=r"x\.tsv, line 2: expected 2 columns"):
        read_table("x", 2)


def test_half_hours_count_towards_the_next_hour() -> None:
    pairs = list(time_pairs(random.Random(1), into_german=True))
    halves = [(re.search(r"half past (\w+)", english), german) for english, german in pairs]
    numbers, german_numbers = ENGLISH[1:13], ["eins", *GERMAN[2:13]]
    found = {match[1]: german for match, german in halves if match is not None}
    assert set(found) == set(numbers)
    for hour, german in found.items():
        assert f"halb {german_numbers[(numbers.index(hour) + 1) % 12]}" in german


def test_hours_after_noon_are_counted_to_24() -> None:
    for into_german in (True, False):
        for english, german in time_pairs(random.Random(1), into_german=into_german):
            for hour, minute, half in re.findall(r"\b(\d+)(:\d\d)? ?([ap])\.?m", english, re.IGNORECASE):
                expected = int(hour) % 12 + (12 if half.lower() == "p" else 0)
                assert f"{expected}{minute}" in german
    lines = [pair[0] for pair in time_pairs(random.Random(1), into_german=False)]
    assert not any(re.search(r"\d ?[ap]m\b", line, re.IGNORECASE) for line in lines)


def test_amounts_keep_their_digits() -> None:
    pairs = list(amount_pairs(random.Random(1), into_german=True))
    for english, german in pairs:
        assert sorted(re.findall(r"\d+", english)) == sorted(re.findall(r"\d+", german))
    lines = dict(pairs)
    assert any(re.search(r"\$[1-9]\b", english) and " Dollar" in german for english, german in lines.items())
    assert any("-5" in english and "-5" in german for english, german in pairs)


def test_measures_suit_what_they_measure() -> None:
    pairs = list(amount_pairs(random.Random(1), into_german=True))
    assert not any(re.search(r"-\d|minus|below", english) for english, _ in pairs if english.startswith("Bake"))
    assert not any(re.search(r"\d (m?l|km|mm)\b|lit", english) for english, _ in pairs if "potatoes" in english)
    assert all("%" in english for english, german in pairs if "%" in german)
    assert ("I live at 12 Park Avenue.", "Ich wohne in der Park Avenue 12.") in {
        (re.sub(r"\d+", "12", english), re.sub(r"\d+", "12", german)) for english, german in pairs
    }
    assert any(re.fullmatch(r"\d+\.\d GB", english) for english, _ in pairs)


@pytest.mark.parametrize("into_german", [True, False])
def test_dates_agree_in_day_month_and_year(into_german: bool) -> None:
    months = {english[:3]: german for english, german in MONTHS}
    pairs = list(date_pairs(random.Random(1), into_german=into_german))
    checked = 0
    for english, german in pairs:
        assert re.findall(r"\d{4}", english) == re.findall(r"\d{4}", german)
        match = re.fullmatch(r"([A-Z][a-z]+) (\d+)(?:st|nd|rd|th)?(, \d{4})?", english)
        if match is not None:
            checked += 1
            assert german == f"{match[2]}. {months[match[1][:3]]}{(match[3] or '').replace(',', '')}"
    assert checked > 100
    assert any(" of " in english for english, _ in pairs) == into_german


def test_lists_keep_their_parts() -> None:
    for into_german in (True, False):
        for english, german in islice(list_pairs(random.Random(1), into_german=into_german), LISTS):
            parts = re.split(r",? and |,? or |, ", english.replace("etc.", "usw."))
            assert len(parts) == len(re.split(r" und | oder |, | (?=usw)", german))
            assert into_german or not re.search(r", (and|or) ", english)


def test_acronyms_stay_as_they_are() -> None:
    acronyms = set(read_lines_of("acronyms"))
    pairs = list(list_pairs(random.Random(1), into_german=True))[LISTS:]
    assert len(pairs) == ACRONYMS * len(acronyms)
    for english, german in pairs:
        assert [word for word in re.findall(r"[\w-]+", english) if word in acronyms] == [
            word for word in re.findall(r"[\w-]+", german) if word in acronyms
        ]


def test_sentences_as_they_are_typed() -> None:
    draw = random.Random(2)
    typed = {without_apostrophes("I don't know.", draw) for _ in range(50)}
    assert typed == {"I dont know.", "I dont know", "i dont know.", "i dont know"}
    assert without_apostrophes("Tom said 'hello'.", draw) == "Tom said 'hello'."
    assert in_british("My neighbor's Favorite color", draw) == "My neighbour's Favourite colour"
    assert in_british("An apartment with an elevator", draw) == "A flat with a lift"
    assert in_title_case("Where is it?", draw) == "Where Is It?"
    assert in_title_case("sorry", draw) == "sorry"
    assert {in_ascii("Schöne Grüße", draw) for _ in range(50)} == {"Schoene Gruesse", "schoene gruesse"}
    assert in_ascii("Hallo", draw) == "Hallo"
    for _ in range(100):
        slip = with_a_slip("a coffee", draw)
        assert slip.startswith("a c") and slip.endswith(("e", "f")) and abs(len(slip) - 8) <= 1
    assert with_a_slip("a cup", draw) == "a cup"


def test_a_sentence_typed_without_a_full_stop_has_none_in_its_translation() -> None:
    typed = set(typed_pairs([("I don't know.", "Keine Ahnung.")] * 50, random.Random(2), "en"))
    assert ("I dont know.", "Keine Ahnung.") in typed
    assert ("i dont know", "Keine Ahnung") in typed
    assert all(source.endswith(".") == target.endswith(".") for source, target in typed)


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_source_alone_has_other_forms(language: str) -> None:
    given = ("I don't like the color.", "Die Farbe gefällt mir nicht.")
    pair = given if language == "en" else given[::-1]
    pairs = list(written_pairs([pair] * 200, language))
    typed = {
        "en": ("i dont like the color", "Die Farbe gefällt mir nicht"),
        "de": ("die farbe gefaellt mir nicht.", "I don't like the color."),
    }
    assert typed[language] in pairs
    assert pairs == list(written_pairs([pair] * 200, language))


def test_held_out_lines_are_left_out(tmp_path: Path) -> None:
    for name, line in (("a.en", "I left."), ("a.de", "Ich ging.")):
        (tmp_path / name).write_text(f"{line}\n", encoding="utf-8")
    german = phrase_pairs("en")[0][1]
    (tmp_path / "held.de").write_text(f"x\t{german.upper()}\n", encoding="utf-8")
    output = [tmp_path / "x.en", tmp_path / "x.de"]
    arguments = [tmp_path / "a.en", tmp_path / "a.de", "--languages", "en", "de", "--held-out", tmp_path / "held.de"]
    assert main([*map(str, arguments), "-o", *map(str, output)]) == 0
    lines = output[1].read_text(encoding="utf-8").splitlines()
    assert len(lines) > 100_000
    assert german.rstrip(".!?").lower() not in {line.rstrip(".!?").lower() for line in lines}
    assert len(output[0].read_text(encoding="utf-8").splitlines()) == len(lines)
