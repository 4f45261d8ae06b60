"""Statements: every tense, modal verbs, negation, and what stands first."""

from dataclasses import replace

from examples.demo.corpus.draw import Draw
from examples.demo.corpus.grammar import clauses as c
from examples.demo.corpus.grammar import phrases as p
from examples.demo.corpus.grammar.clauses import Clause, sentence
from examples.demo.corpus.grammar.english import Tense
from examples.demo.corpus.grammar.phrases import Person, Phrase
from examples.demo.corpus.lexicon import times
from examples.demo.corpus.sentences import choices, words

ALREADY = Phrase("already", "schon")
JUST = Phrase("just", "gerade")


def present(draw: Draw) -> tuple[str, str]:
    """Return a statement in the present tense."""
    return sentence(c.statement(choices.present_clause(draw)))


def past(draw: Draw) -> tuple[str, str]:
    """Return a statement about the past."""
    return sentence(c.statement(choices.past_clause(draw)))


def future(draw: Draw) -> tuple[str, str]:
    """Return a statement about the future."""
    return sentence(c.statement(choices.future_clause(draw)))


def modal(draw: Draw) -> tuple[str, str]:
    """Return a statement with a modal verb."""
    return sentence(c.statement(choices.modal_clause(draw)))


def modal_past(draw: Draw) -> tuple[str, str]:
    """Return a statement with a modal verb in the past."""
    clause = replace(choices.modal_clause(draw, negated=draw.chance(0.4)), tense=Tense.PAST, time=times.past(draw))
    # "could" said of the past is natural where it is denied.
    options = (c.CAN, c.CAN, c.MUST, c.WANT, c.ALLOWED) if clause.negated else (c.MUST, c.MUST, c.WANT, c.ALLOWED)
    return sentence(c.statement(replace(clause, modal=draw.choose(options))))


def negated(draw: Draw) -> tuple[str, str]:
    """Return a statement that is denied."""
    maker = draw.choose((choices.present_clause, choices.past_clause, choices.future_clause, choices.modal_clause))
    return sentence(c.statement(maker(draw, negated=True)))


def perfect(draw: Draw) -> tuple[str, str]:
    """Return what has already, just, or not yet happened."""
    done = draw.chance(0.6)
    subject = choices.person(draw)
    verb = choices.activity(draw)
    said = choices.predicate(draw, verb, subject, not done)
    if done:
        return sentence(c.statement(Clause(subject, said, Tense.PERFECT, adverb=draw.choose((ALREADY, JUST)))))
    return sentence(c.statement(Clause(subject, said, Tense.PERFECT, negated=True, not_yet=True)))


def fronted_time(draw: Draw) -> tuple[str, str]:
    """Return a statement with its time first."""
    while True:
        maker = draw.choose((choices.present_clause, choices.past_clause, choices.future_clause, choices.modal_clause))
        clause = maker(draw)
        if clause.time:
            return sentence(c.statement(clause, "time"))


def fronted_place(draw: Draw) -> tuple[str, str]:
    """Return a statement with its place first."""
    while True:
        maker = draw.choose((choices.past_clause, choices.modal_clause))
        clause = maker(draw)
        if clause.place:
            return sentence(c.statement(replace(clause, time=None), "place"))


def both(draw: Draw) -> tuple[str, str]:
    """Return two statements joined by and, but or or."""
    first = choices.present_clause(draw, bare=True)
    english, german = draw.choose(((", and ", " und "), (", but ", ", aber ")))
    second = choices.any_clause(draw, None if draw.chance(0.5) else words.again(first.subject))
    return sentence(words.joined(c.statement(first), english, german, c.statement(second)))


# What is done every day, and between which hours.
_ROUTINE = (
    (words.simple("get got +up", "auf|stehen - aufgestanden sein"), 5, 10),
    (words.simple("wake woke woken +up", "auf|wachen sein"), 5, 10),
    (words.simple("go went gone", "gehen - gegangen sein", Phrase("to bed", "ins Bett")), 9, 12),
    (words.simple("come came come", "kommen - gekommen sein", Phrase("home", "nach Hause")), 1, 11),
    (words.simple("start +work", "mit_der_Arbeit_|beginnen - mit_der_Arbeit_begonnen"), 6, 11),
    (words.simple("have* had had +breakfast", "frühstücken"), 6, 11),
    (words.simple("leave left left +the_house", "aus_dem_Haus_|gehen - aus_dem_Haus_gegangen sein"), 6, 11),
)


def daily_routine(draw: Draw) -> tuple[str, str]:
    """Return when somebody gets up, goes to bed, ..."""
    subject = choices.person(draw)
    said, first, last = draw.choose(_ROUTINE)
    time = times.clock_time(draw, first, last)
    kind = draw.below(5)
    if kind == 0:
        clause = Clause(subject, said, adverb=draw.choose(times.FREQUENCIES[:4]), time=time)
    elif kind == 1:
        day = draw.choose(times.WEEKDAYS)
        often = draw.choose((times.HABITUAL[0], Phrase(f"on {day.english}s", f"{day.german.lower()}s")))
        clause = Clause(subject, said, time=joined_times(often, time))
    elif kind == 2:
        day = draw.choose((times.weekday(draw), Phrase("yesterday", "gestern")))
        clause = Clause(subject, said, Tense.PAST, time=joined_times(day, time))
    elif kind == 3:
        tomorrow = joined_times(Phrase("tomorrow", "morgen"), time)
        clause = Clause(subject, said, modal=draw.choose((c.MUST, c.WANT, c.SHOULD)), time=tomorrow)
    else:
        every_day = None if draw.chance(0.5) else Phrase("every day", "jeden Tag")
        clause = Clause(subject if subject.key != "ich" else p.pronoun(Person.YOU), said, time=every_day)
        return sentence(c.question(clause, Phrase("when", "wann") if clause.time is None else None), "?")
    return sentence(c.statement(clause))


def joined_times(day: Phrase, time: Phrase) -> Phrase:
    """Return "on Monday at seven o'clock"."""
    return words.joined(day, " ", " ", time)


CONSTRUCTIONS = (
    ("present", present, 3),
    ("past", past, 3),
    ("future", future, 2),
    ("modal", modal, 3),
    ("modal in the past", modal_past, 2),
    ("negation", negated, 3),
    ("perfect", perfect, 2),
    ("time first", fronted_time, 3),
    ("place first", fronted_place, 1),
    ("two clauses", both, 2),
    ("daily routine", daily_routine, 2),
)
