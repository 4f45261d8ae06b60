"""Dates in sentences: days of a month, with and without a year or a weekday, and years."""

import random
from collections.abc import Iterator
from typing import Final

from examples.everyday.number_words import english_ordinal
from examples.everyday.phrase_book.nouns import Pair
from examples.everyday.phrase_book.tables import read_table

COPIES: Final = 120  # of each sentence
MONTHS: Final = [
    ("January", "Januar"), ("February", "Februar"), ("March", "März"), ("April", "April"), ("May", "Mai"),
    ("June", "Juni"), ("July", "Juli"), ("August", "August"), ("September", "September"), ("October", "Oktober"),
    ("November", "November"), ("December", "Dezember"),
]  # fmt: skip
_ENDINGS: Final = {1: "st", 2: "nd", 3: "rd", 21: "st", 22: "nd", 23: "rd", 31: "st"}  # The others have "th".


def date_pairs(draw: random.Random, *, into_german: bool) -> Iterator[Pair]:
    """Yield sentences with dates and years. Into German, English dates have all their forms."""
    for table in ("dates", "dates_after_prepositions"):
        for english, german in read_table(table, 2):
            for _ in range(COPIES * (4 if english == "{}" else 1)):
                dates = [_date(draw, into_german) for _ in range(english.count("{}"))]
                yield english.format(*(date[0] for date in dates)), german.format(*(date[1] for date in dates))
    for english, german in read_table("years", 2):
        for _ in range(COPIES // 2):
            years = sorted(draw.choice((draw.randint(1900, 2030), draw.randint(1200, 1899))) for _ in range(2))
            yield english.format(*years), german.format(*years)


def _date(draw: random.Random, into_german: bool) -> Pair:
    """Return a date such as "March 3, 1990" and "3. März 1990"."""
    month, german_month = draw.choice(MONTHS)
    day = draw.randint(1, 28 if month == "February" else 30)
    ordinal = f"{day}{_ENDINGS.get(day, 'th')}"
    forms = [f"{month} {day}"]
    if into_german:
        forms += [f"{month} {day}", f"{day} {month}", f"the {ordinal} of {month}", f"{month} {ordinal}"]
        forms += [f"the {english_ordinal(day)} of {month}"]
    english, german = draw.choice(forms), f"{day}. {german_month}"
    if draw.random() < 0.4:
        year = draw.randint(1950, 2024)
        comma = "," if english.startswith(month) else ""
        return f"{english}{comma} {year}", f"{german} {year}"
    return english, german
