"""Phrases of time, by what they can be said of."""

from examples.demo.corpus.draw import Draw
from examples.demo.corpus.grammar import numbers
from examples.demo.corpus.grammar.phrases import Phrase


def _phrases(rows: str) -> tuple[Phrase, ...]:
    pairs = (row.split(" | ") for row in rows.strip().splitlines())
    return tuple(Phrase(english.strip(), german.strip()) for english, german in pairs)


WEEKDAYS = _phrases("""
Monday | Montag
Tuesday | Dienstag
Wednesday | Mittwoch
Thursday | Donnerstag
Friday | Freitag
Saturday | Samstag
Sunday | Sonntag
""")

SEASONS = _phrases("""
spring | Frühling
summer | Sommer
autumn | Herbst
winter | Winter
""")

HABITUAL = _phrases("""
every day | jeden Tag
every morning | jeden Morgen
every evening | jeden Abend
every week | jede Woche
every weekend | jedes Wochenende
every year | jedes Jahr
in the morning | am Morgen
in the evening | am Abend
in the afternoon | am Nachmittag
at the weekend | am Wochenende
""")

FREQUENCIES = _phrases("""
always | immer
often | oft
sometimes | manchmal
usually | normalerweise
rarely | selten
never | nie
""")

NOW = _phrases("""
now | jetzt
today | heute
at the moment | im Moment
right now | gerade
""")

_PAST = _phrases("""
yesterday | gestern
yesterday evening | gestern Abend
yesterday morning | gestern Morgen
last week | letzte Woche
last weekend | letztes Wochenende
this morning | heute Morgen
the day before yesterday | vorgestern
""")

_FUTURE = _phrases("""
tomorrow | morgen
tomorrow evening | morgen Abend
tomorrow morning | morgen früh
the day after tomorrow | übermorgen
this evening | heute Abend
next week | nächste Woche
next weekend | nächstes Wochenende
soon | bald
""")

_FAR_FUTURE = _phrases("""
next month | nächsten Monat
next year | nächstes Jahr
next summer | nächsten Sommer
""")

_FAR_PAST = _phrases("""
last month | letzten Monat
last year | letztes Jahr
last summer | letzten Sommer
""")

_UNITS = (
    ("minutes", "Minuten", (5, 10, 20, 30)),
    ("hours", "Stunden", (2, 3, 4, 5)),
    ("days", "Tage", (2, 3, 4, 5)),
    ("weeks", "Wochen", (2, 3, 4, 6)),
    ("months", "Monate", (2, 3, 6, 8)),
    ("years", "Jahre", (2, 3, 5, 7, 10)),
)


def duration(draw: Draw, shortest: str, longest: str) -> tuple[Phrase, Phrase]:
    """Return a number of units of time, in the accusative ("drei Tage") and in the dative ("drei Tagen")."""
    names = [unit[0] for unit in _UNITS]
    english, german, counts = draw.choose(_UNITS[names.index(shortest) : names.index(longest) + 1])
    count = numbers.number_words(draw.choose(counts))
    dative = german if german.endswith("n") else german + "n"
    words = f"{count.english} {english}"
    return Phrase(words, f"{count.german} {german}"), Phrase(words, f"{count.german} {dative}")


def weekday(draw: Draw) -> Phrase:
    """Return "on Monday" / "am Montag"."""
    day = draw.choose(WEEKDAYS)
    return Phrase(f"on {day.english}", f"am {day.german}")


def clock_time(draw: Draw, first: int = 1, last: int = 12) -> Phrase:
    """Return "at half past seven" / "um halb acht", for hours from `first` to `last`."""
    if draw.chance(0.25):
        time = numbers.digital_clock(
            draw.between(6, 22) if last - first > 6 else draw.between(first, last), 5 * draw.below(12)
        )
    else:
        time = numbers.clock(draw.between(first, last), draw.choose((0, 0, 0, 30, 30, 15, 45, 5, 10, 20, 40, 50, 55)))
    return Phrase(f"at {time.english}", f"um {time.german}")


def calendar_date(draw: Draw) -> Phrase:
    """Return "on the 3rd of May" / "am 3. Mai"."""
    date = numbers.date(draw.between(1, 28), draw.between(1, 12))
    return Phrase(f"on {date.english}", f"am {date.german}")


def habitual(draw: Draw, planned: bool = True) -> Phrase:
    """Return a time at which something happens again and again; a season only where it is worth saying."""
    kind = draw.below(10 if planned else 8)
    if kind < 6:
        return draw.choose(HABITUAL)
    if kind < 8:
        day = draw.choose(WEEKDAYS)
        return Phrase(f"on {day.english}s", f"{day.german.lower()}s")
    season = draw.choose(SEASONS)
    return Phrase(f"in {season.english}", f"im {season.german}")


def past(draw: Draw, planned: bool = False) -> Phrase:
    """Return a time that is over; one that is long ago only for what is remembered so long."""
    kind = draw.below(10)
    if kind < 6:
        return draw.choose(_PAST + _FAR_PAST if planned else _PAST)
    if kind < 8:
        _, ago = duration(draw, "days", "years" if planned else "weeks")
        return Phrase(f"{ago.english} ago", f"vor {ago.german}")
    if kind < 9:
        day = draw.choose(WEEKDAYS)
        return Phrase(f"last {day.english}", f"letzten {day.german}")
    return calendar_date(draw)


def future(draw: Draw, planned: bool = False) -> Phrase:
    """Return a time to come; one that is far off only for what is planned so long before."""
    kind = draw.below(10)
    if kind < 5:
        return draw.choose(_FUTURE + _FAR_FUTURE if planned else _FUTURE)
    if kind < 7:
        return weekday(draw)
    if kind < 8:
        _, ahead = duration(draw, "days", "years" if planned else "weeks")
        return Phrase(f"in {ahead.english}", f"in {ahead.german}")
    if kind < 9:
        day, time = draw.choose((Phrase("tomorrow", "morgen"), weekday(draw))), clock_time(draw)
        return Phrase(f"{day.english} {time.english}", f"{day.german} {time.german}")
    return calendar_date(draw)
