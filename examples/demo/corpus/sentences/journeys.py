"""Journeys, timetables, dates and numbers."""

from dataclasses import replace

from examples.demo.corpus.draw import Draw
from examples.demo.corpus.grammar import clauses as c
from examples.demo.corpus.grammar import numbers
from examples.demo.corpus.grammar import phrases as p
from examples.demo.corpus.grammar.clauses import Clause, Predicate, sentence
from examples.demo.corpus.grammar.english import Tense, english_verb
from examples.demo.corpus.grammar.german import Agreement, Case, Slot
from examples.demo.corpus.grammar.phrases import NounPhrase, Person, Phrase
from examples.demo.corpus.lexicon import nouns, places, times, verbs
from examples.demo.corpus.sentences import choices, words

_MEANS = (
    Phrase("by bus", "mit dem Bus"),
    Phrase("by train", "mit dem Zug"),
    Phrase("by car", "mit dem Auto"),
    Phrase("by taxi", "mit dem Taxi"),
    Phrase("by tram", "mit der Straßenbahn"),
    Phrase("by bicycle", "mit dem Fahrrad"),
)


def going_by(draw: Draw) -> tuple[str, str]:
    """Return how somebody goes somewhere: in German time, means, direction."""
    subject = choices.person(draw)
    far = draw.chance(0.5)
    means = draw.choose(_MEANS[:3] if far else _MEANS)
    goal = draw.choose(places.directions(*(("city", "beach") if far else ("town", "travel", "school", "office"))))
    said = Predicate(english_verb("go went gone"), verbs.named("drive").german, complement=goal, manner=means)
    kind = draw.below(4)
    if kind == 0:
        return sentence(c.statement(Clause(subject, said, Tense.PAST, time=times.past(draw))))
    if kind == 1:
        return sentence(c.statement(Clause(subject, said, Tense.PROGRESSIVE, time=times.future(draw))))
    if kind == 2:
        return sentence(
            c.statement(Clause(subject, said, modal=draw.choose(choices.MODALS), time=times.future(draw)), "time")
        )
    return sentence(c.statement(Clause(subject, said, time=draw.choose(times.HABITUAL))))


_LEAVING = {
    "train": words.simple("leave left", "ab|fahren fährt abgefahren sein"),
    "bus": words.simple("leave left", "ab|fahren fährt abgefahren sein"),
    "plane": words.simple("leave left", "ab|fliegen - abgeflogen sein"),
}
_ARRIVING = words.simple("arrive", "an|kommen - angekommen sein")


def timetable(draw: Draw) -> tuple[str, str]:
    """Return when and where a train, bus or plane leaves or arrives."""
    vehicle = draw.choose(("train", "train", "bus", "plane"))
    leaving = draw.chance(0.6)
    city = draw.choose(places.CITIES)
    which = (
        Phrase(f"to {city.english}", f"nach {city.german}")
        if leaving
        else Phrase(f"from {city.english}", f"aus {city.german}")
    )
    base = p.noun_phrase(nouns.named(vehicle), p.THE)
    subject = replace(
        base, english=f"{base.english} {which.english}", german=(f"{base.german[0]} {which.german}", "", "", "")
    )
    said = _LEAVING[vehicle] if leaving else _ARRIVING
    if vehicle == "train" and draw.chance(0.4):
        platform = str(draw.between(1, 20))
        said = replace(
            said,
            manner=Phrase(f"from platform {platform}", f"von Gleis {platform}")
            if leaving
            else Phrase(f"at platform {platform}", f"auf Gleis {platform}"),
        )
    kind = draw.below(5)
    if kind == 0:
        return sentence(c.question(Clause(subject, said), Phrase("when", "wann")), "?")
    time = times.clock_time(draw)
    if kind == 1:
        day = draw.choose((Phrase("yesterday", "gestern"), times.weekday(draw)))
        when = words.joined(day, " ", " ", time)
        return sentence(c.statement(Clause(subject, said, Tense.PAST, time=when)))
    return sentence(c.statement(Clause(subject, said, time=time)))


def dates(draw: Draw) -> tuple[str, str]:
    """Return when something is: a day, a date, a time."""
    maker = draw.choose((_birthday, _appointment, _appointment, _beginning, _born, _built, _today))
    return maker(draw)


def _day(draw: Draw) -> tuple[Phrase, Phrase]:
    """Return a weekday and a date."""
    return draw.choose(times.WEEKDAYS), numbers.date(draw.between(1, 28), draw.between(1, 12))


def _birthday(draw: Draw) -> tuple[str, str]:
    birthday = p.noun_phrase(nouns.named("birthday"), p.possessive(draw.choose(choices.OWNERS)))
    _, date = _day(draw)
    return sentence(c.statement(words.is_(birthday, f"on {date.english}", f"am {date.german}")))


def _happening(draw: Draw) -> NounPhrase:
    return p.noun_phrase(draw.choose(nouns.of_class("appointment", "event", "show", "party")), p.THE)


def _appointment(draw: Draw) -> tuple[str, str]:
    day, date = _day(draw)
    time = times.clock_time(draw)
    when = words.joined(Phrase(f"on {day.english}", f"am {day.german}"), " ", " ", time)
    if draw.chance(0.5):
        when = Phrase(
            f"on {day.english}, {date.english}, {time.english}", f"am {day.german}, dem {date.german}, {time.german}"
        )
    return sentence(c.statement(words.is_(_happening(draw), when.english, when.german)))


def _beginning(draw: Draw) -> tuple[str, str]:
    said = draw.choose((words.simple("start", "beginnen - begonnen"), words.simple("end", "enden")))
    time = times.clock_time(draw)
    if draw.chance(0.3):
        return sentence(c.question(Clause(_happening(draw), said), Phrase("when", "wann")), "?")
    when = words.joined(times.weekday(draw), " ", " ", time) if draw.chance(0.5) else time
    return sentence(c.statement(Clause(_happening(draw), said, time=when)))


def _born(draw: Draw) -> tuple[str, str]:
    who, year, place = choices.person(draw), draw.between(1930, 2020), draw.choose(places.locations("city"))
    was = words.is_(who, f"born {place.english} in {year}", "", Tense.PAST)
    finite = "wurden" if who.person.slot is Slot.SIE else "wurde"
    german = f"{who.german[0]} {finite} im Jahr {year} {place.german} geboren"
    return sentence(Phrase(c.statement(was).english, german))


def _built(draw: Draw) -> tuple[str, str]:
    building, year = p.noun_phrase(draw.choose(nouns.of_class("building")), p.THE), draw.between(1750, 2022)
    return sentence(
        Phrase(f"{building.english} was built in {year}", f"{building.german[0]} wurde im Jahr {year} gebaut")
    )


def _today(draw: Draw) -> tuple[str, str]:
    day, date = _day(draw)
    today = NounPhrase("today", ("heute", "", "", ""), Person.IT, Agreement.NEUTER)
    return sentence(c.statement(words.is_(today, f"{day.english}, {date.english}", f"{day.german}, der {date.german}")))


# Where people live, and how many can.
_SETTLEMENTS = (
    (Phrase("in this village", "in diesem Dorf"), 300, 4_000),
    (Phrase("in this city", "in dieser Stadt"), 20_000, 2_000_000),
    (Phrase("in our street", "in unserer Straße"), 50, 900),
    (Phrase("in this building", "in diesem Gebäude"), 12, 400),
)


def quantities(draw: Draw) -> tuple[str, str]:
    """Return a sentence with a number: how many, how far, how heavy, how long."""
    maker = draw.choose((_inhabitants, _distance, _distance, _weight, _length))
    return maker(draw)


def _inhabitants(draw: Draw) -> tuple[str, str]:
    place, fewest, most = draw.choose(_SETTLEMENTS)
    count = numbers.digits(draw.between(fewest, most) * 100, 0)
    people = f"{count.german} Menschen"
    subject = NounPhrase(f"{count.english} people", (people, people, people, people), Person.THEY, Agreement.PLURAL)
    return sentence(c.statement(Clause(subject, words.simple("live", "wohnen", place))))


def _decimal(tenths: int) -> Phrase:
    """Return a number with one decimal place, without it where it is whole."""
    return numbers.digits(tenths * 10, 1 if tenths % 10 else 0)


def _distance(draw: Draw) -> tuple[str, str]:
    if draw.chance(0.4):
        cities = list(places.CITIES)
        draw.shuffle(cities)
        far = numbers.digits(draw.between(90, 1800) * 100, 0)
        first = p.proper_name(cities[0].english, Person.IT, cities[0].german)
        from_there = Phrase(cities[1].english, f"von {cities[1].german}")
    else:
        found = list(nouns.of_class("town", "sight", "eatery", "nature"))
        draw.shuffle(found)
        far = _decimal(draw.between(3, 300))
        first, second = p.noun_phrase(found[0], p.THE), p.noun_phrase(found[1], p.THE)
        from_there = Phrase(second.english, p.prepositional("", "von", Case.DATIVE, second).german)
    said = words.is_(
        first,
        f"{far.english} kilometres from {from_there.english}",
        f"{far.german} Kilometer {from_there.german} entfernt",
    )
    return sentence(c.statement(said))


def _weight(draw: Draw) -> tuple[str, str]:
    loaded = p.noun_phrase(draw.choose(nouns.of_class("luggage", "pet")), p.possessive(draw.choose(choices.OWNERS)))
    weight = _decimal(draw.between(20, 350))
    said = words.simple("weigh*", "wiegen", Phrase(f"{weight.english} kilos", f"{weight.german} Kilo"))
    return sentence(c.statement(Clause(loaded, said)))


def _length(draw: Draw) -> tuple[str, str]:
    length, _ = times.duration(draw, "minutes", "hours")
    tense = draw.choose((Tense.PRESENT, Tense.PAST, Tense.FUTURE))
    return sentence(c.statement(Clause(_happening(draw), words.simple("last*", "dauern", length), tense)))


CONSTRUCTIONS = (
    ("going by bus", going_by, 2),
    ("timetable", timetable, 2),
    ("dates", dates, 3),
    ("quantities", quantities, 2),
)
