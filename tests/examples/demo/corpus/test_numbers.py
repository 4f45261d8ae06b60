"""Numbers, prices, times and dates in both languages, against values written by hand."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples.demo.corpus.grammar import numbers
from examples.demo.corpus.grammar.phrases import Phrase


@pytest.mark.parametrize(
    ("number", "english", "german"),
    [
        (0, "zero", "null"),
        (1, "one", "eins"),
        (12, "twelve", "zwölf"),
        (16, "sixteen", "sechzehn"),
        (17, "seventeen", "siebzehn"),
        (21, "twenty-one", "einundzwanzig"),
        (30, "thirty", "dreißig"),
        (66, "sixty-six", "sechsundsechzig"),
        (77, "seventy-seven", "siebenundsiebzig"),
        (100, "one hundred", "einhundert"),
        (101, "one hundred and one", "einhunderteins"),
        (365, "three hundred and sixty-five", "dreihundertfünfundsechzig"),
    ],
)
def test_words(number: int, english: str, german: str) -> None:
    assert numbers.number_words(number) == Phrase(english, german)


def test_every_number_has_words_of_its_own() -> None:
    words = [numbers.number_words(number) for number in range(1000)]
    assert len({word.english for word in words}) == len({word.german for word in words}) == 1000


@pytest.mark.parametrize(
    ("hundredths", "places", "english", "german"),
    [
        (125_050, 2, "1,250.50", "1.250,50"),
        (125_000, 0, "1,250", "1.250"),
        (230, 1, "2.3", "2,3"),
        (5, 2, "0.05", "0,05"),
        (100_000_000, 0, "1,000,000", "1.000.000"),
    ],
)
def test_digits(hundredths: int, places: int, english: str, german: str) -> None:
    assert numbers.digits(hundredths, places) == Phrase(english, german)


@given(st.integers(0, 10**12))
def test_german_digits_are_the_english_ones_with_comma_and_point_exchanged(hundredths: int) -> None:
    written = numbers.digits(hundredths, 2)
    assert int(re.sub(r"[.,]", "", written.english)) == int(re.sub(r"[.,]", "", written.german)) == hundredths
    assert written.german.translate(str.maketrans(".,", ",.")) == written.english


@pytest.mark.parametrize(
    ("cents", "english", "german"),
    [(350, "€3.50", "3,50 €"), (1_299_900, "€12,999", "12.999 €"), (1_005, "€10.05", "10,05 €")],
)
def test_prices(cents: int, english: str, german: str) -> None:
    assert numbers.price(cents) == Phrase(english, german)


@pytest.mark.parametrize(
    ("hour", "minute", "english", "german"),
    [
        (7, 0, "seven o'clock", "sieben Uhr"),
        (1, 0, "one o'clock", "ein Uhr"),
        (7, 30, "half past seven", "halb acht"),
        (12, 30, "half past twelve", "halb eins"),
        (1, 15, "quarter past one", "Viertel nach eins"),
        (7, 45, "quarter to eight", "Viertel vor acht"),
        (12, 45, "quarter to one", "Viertel vor eins"),
        (3, 5, "five past three", "fünf nach drei"),
        (3, 40, "twenty to four", "zwanzig vor vier"),
        (11, 50, "ten to twelve", "zehn vor zwölf"),
    ],
)
def test_clock_times(hour: int, minute: int, english: str, german: str) -> None:
    assert numbers.clock(hour, minute) == Phrase(english, german)


@pytest.mark.parametrize("minute", [25, 35, 3])
def test_times_without_words_are_refused(minute: int) -> None:
    with pytest.raises(ValueError, match=str(minute)):
        numbers.clock(7, minute)


def test_digital_clock() -> None:
    assert numbers.digital_clock(7, 5) == Phrase("7:05", "7:05 Uhr")


@pytest.mark.parametrize(
    ("day", "month", "english", "german"),
    [(1, 1, "the 1st of January", "1. Januar"), (2, 3, "the 2nd of March", "2. März"),
     (3, 5, "the 3rd of May", "3. Mai"), (11, 7, "the 11th of July", "11. Juli"),
     (12, 8, "the 12th of August", "12. August"), (13, 10, "the 13th of October", "13. Oktober"),
     (21, 12, "the 21st of December", "21. Dezember"), (22, 6, "the 22nd of June", "22. Juni")],
)  # fmt: skip
def test_dates(day: int, month: int, english: str, german: str) -> None:
    assert numbers.date(day, month) == Phrase(english, german)
