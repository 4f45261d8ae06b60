"""Times of day in sentences: half hours, which German counts towards the next hour, a.m. and p.m., and ranges."""

import random
from collections.abc import Iterator
from typing import Final

from examples.everyday.number_words import ENGLISH, GERMAN
from examples.everyday.phrase_book.nouns import Pair
from examples.everyday.phrase_book.tables import read_table

COPIES: Final = 300  # of each sentence with a time
HALVES: Final = 5  # half hours, for six other forms of times in words: they are hardest for a model
RANGES: Final = 200  # of each sentence with two
_STEPS: Final = (("five", "fünf"), ("ten", "zehn"), ("twenty", "zwanzig"))  # minutes past and to the hour


def time_pairs(draw: random.Random, *, into_german: bool) -> Iterator[Pair]:
    """Yield sentences with times of day.

    Into German, English times have all their forms; into English, one form for each German one.
    """
    for english, german in read_table("times", 2):
        for _ in range(COPIES):
            time, translation = draw.choice((_in_words, _in_digits))(draw, into_german)
            yield english.format(time), german.format(translation)
    for english, german in read_table("time_ranges", 2):
        for _ in range(RANGES):
            (start, first), (end, second) = _two_times(draw, into_german)
            yield english.format(start, end), german.format(first, second)


def _in_words(draw: random.Random, into_german: bool) -> Pair:
    """Return a time such as "half past three" and "halb vier"."""
    hour = draw.randint(1, 12)
    following = hour % 12 + 1
    english, german = ENGLISH[hour], "eins" if hour == 1 else GERMAN[hour]
    next_english, next_german = ENGLISH[following], "eins" if following == 1 else GERMAN[following]
    minutes, german_minutes = draw.choice(_STEPS)
    article = draw.choice(("", "a ")) if into_german else ""
    forms = (
        *[(f"half past {english}", f"halb {next_german}")] * HALVES,
        (f"{article}quarter past {english}", f"Viertel nach {german}"),
        (f"{article}quarter to {next_english}", f"Viertel vor {next_german}"),
        (f"{minutes} past {english}", f"{german_minutes} nach {german}"),
        (f"{minutes} to {next_english}", f"{german_minutes} vor {next_german}"),
        (f"{english} o'clock", f"{GERMAN[hour]} Uhr"),
        (english, german),
    )
    return draw.choice(forms)


def _in_digits(draw: random.Random, into_german: bool) -> Pair:
    """Return a time such as "7:30 p.m." and "19:30 Uhr"."""
    hour = draw.randint(6, 23)
    minute = draw.choice((0, 0, 0, 15, 30, 30, 45, draw.randint(1, 59)))
    if minute and draw.random() < 0.3:
        return f"{hour}:{minute:02}", f"{hour}:{minute:02} Uhr"
    half = "am" if hour < 12 else "pm"
    forms = [f" {half[0]}.m."]
    if into_german:
        forms += [f" {half}", half, f" {half.upper()}"]
    minutes = f":{minute:02}" if minute else ""
    if not minute and hour < 12 and draw.random() < 0.2:
        return f"{hour} in the morning", f"{hour} Uhr morgens"
    if not minute and 17 < hour < 23 and draw.random() < 0.2:
        return f"{hour - 12} in the evening", f"{hour - 12} Uhr abends"
    return f"{(hour - 1) % 12 + 1}{minutes}{draw.choice(forms)}", f"{hour}{minutes} Uhr"


def _two_times(draw: random.Random, into_german: bool) -> tuple[Pair, Pair]:
    """Return two times of a range, of which German writes "Uhr" after the second one alone."""
    start, end = sorted(draw.sample(range(6, 24), 2))
    kind = draw.choice(("words", "digits", "halves", "halves"))
    if kind == "words":
        first, second = draw.sample(range(1, 13), 2)
        one = "eins" if first == 1 else GERMAN[first]
        return (ENGLISH[first], one), (ENGLISH[second], f"{GERMAN[second]} Uhr")
    if kind == "digits" and into_german:
        minute = draw.choice(("", ":00", ":30"))
        return (f"{start}{minute}", f"{start}{minute}"), (f"{end}{minute}", f"{end}{minute} Uhr")
    spaces = draw.choice(("{} {}.m.", "{} {}m", "{}{}m", "{} {}m")) if into_german else "{} {}.m."
    minute = draw.choice(("", "", ":30", ":15"))
    times = [spaces.format(f"{(hour - 1) % 12 + 1}{minute}", "a" if hour < 12 else "p") for hour in (start, end)]
    return (times[0], f"{start}{minute}"), (times[1], f"{end}{minute} Uhr")
