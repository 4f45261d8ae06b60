"""Where things are and where they are put (two-way prepositions), what there is, what people say when they meet."""

from dataclasses import replace

from examples.demo.corpus.draw import Draw
from examples.demo.corpus.grammar import clauses as c
from examples.demo.corpus.grammar import german as de
from examples.demo.corpus.grammar import numbers
from examples.demo.corpus.grammar import phrases as p
from examples.demo.corpus.grammar.clauses import Clause, Predicate, sentence
from examples.demo.corpus.grammar.english import Tense
from examples.demo.corpus.grammar.german import Case
from examples.demo.corpus.grammar.phrases import NounPhrase, Person, Phrase
from examples.demo.corpus.lexicon import nouns, places, times, verbs
from examples.demo.corpus.sentences import choices, questions, words

TWO_WAY = (
    Phrase("on", "auf"),
    Phrase("under", "unter"),
    Phrase("next to", "neben"),
    Phrase("behind", "hinter"),
    Phrase("in front of", "vor"),
)
# German puts these upright ("stellen"); other things are laid ("legen").
_UPRIGHT = frozenset(("bottle", "cup", "glass", "suitcase", "bag", "box", "basket", "candle"))


def _spot(draw: Draw, case: Case, other_than: str) -> Phrase:
    """Return a place in a room: accusative where something goes to, dative where it is."""
    if draw.chance(0.3):
        noun = draw.choose([noun for noun in nouns.of_class("container") if noun.english != other_than])
        preposition = Phrase("in", "in")
    else:
        noun = draw.choose(nouns.of_class("surface"))
        preposition = draw.choose(TWO_WAY)
    determiner = draw.weighted(((p.THE, 6), (p.possessive(draw.choose(choices.OWNERS)), 2), (p.THIS, 1)))
    adjective = draw.chance(0.15)
    phrase = choices.described(draw, noun, determiner, float(adjective))
    return p.prepositional(preposition.english, preposition.german, case, phrase)


def put(draw: Draw) -> tuple[str, str]:
    """Return where somebody puts something: accusative."""
    noun = draw.choose(nouns.of_class("portable", "luggage", "possession"))
    german = "stellen" if noun.english in _UPRIGHT else "legen"
    subject = choices.person(draw)
    owner = p.possessive(subject.person if subject.person is not Person.IT else Person.I)
    thing = choices.described(draw, noun, draw.choose((p.THE, p.THE, p.A, owner)), 0.15)
    said = Predicate(
        *words.verb("put put", german), accusative=thing, complement=_spot(draw, Case.ACCUSATIVE, noun.english)
    )
    kind = draw.below(4)
    if kind == 0:
        return sentence(words.after("please", "bitte", c.request(said)))
    if kind == 1:
        return sentence(c.statement(Clause(subject, said, modal=draw.choose((c.CAN, c.MUST, c.SHOULD, c.WANT)))))
    return sentence(c.statement(Clause(subject, said, Tense.PAST if kind == 2 else Tense.PROGRESSIVE)))


def where_things_are(draw: Draw) -> tuple[str, str]:
    """Return where something is: dative."""
    if draw.chance(0.25):
        animal = p.noun_phrase(
            draw.choose(nouns.of_class("pet")), draw.choose((p.THE, p.possessive(draw.choose(choices.OWNERS))))
        )
        done = draw.choose(
            (words.simple("sleep slept", "schlafen schläft geschlafen"), words.simple("sit sat", "sitzen - gesessen"))
        )
        done = replace(done, complement=_spot(draw, Case.DATIVE, ""))
        clause = Clause(animal, done, draw.choose((Tense.PROGRESSIVE, Tense.PAST)))
    else:
        noun = draw.choose(nouns.of_class("portable", "luggage", "possession"))
        plural = draw.chance(0.2)
        determiner = draw.choose((p.THE, p.THE, p.possessive(draw.choose(choices.OWNERS))))
        thing = choices.described(draw, noun, determiner, 0.1, plural)
        spot = _spot(draw, Case.DATIVE, noun.english)
        tense = Tense.PAST if draw.chance(0.25) else Tense.PRESENT
        clause = words.is_(thing, spot.english, spot.german, tense, negated=draw.chance(0.15))
    if draw.chance(0.2):
        return sentence(c.question(clause), "?")
    return sentence(c.statement(clause))


_NATURE_WHERE = (
    Phrase("near the village", "in der Nähe des Dorfes"),
    Phrase("behind the village", "hinter dem Dorf"),
    Phrase("near the castle", "in der Nähe des Schlosses"),
    Phrase("near here", "hier in der Nähe"),
)
_WHERE = (
    Phrase("in our street", "in unserer Straße"),
    Phrase("in this city", "in dieser Stadt"),
    Phrase("in the village", "im Dorf"),
    Phrase("near the train station", "in der Nähe des Bahnhofs"),
    Phrase("near the river", "in der Nähe des Flusses"),
    Phrase("behind the school", "hinter der Schule"),
    Phrase("next to the church", "neben der Kirche"),
    Phrase("here", "hier"),
)


def there_is(draw: Draw) -> tuple[str, str]:
    """Return what there is somewhere: "es gibt" with the accusative."""
    noun = draw.choose(nouns.of_class("town", "eatery", "sight", "nature"))
    where = draw.choose(_NATURE_WHERE if "nature" in noun.classes else _WHERE)
    plural = draw.chance(0.35)
    determiner = draw.choose((p.counted(numbers.number_words(draw.between(2, 6))), p.MANY)) if plural else p.A
    thing = choices.described(draw, noun, determiner, 0.4, plural)
    negated = not plural and draw.chance(0.2)
    english_subject = NounPhrase("there", ("es", "", "", ""), Person.THEY if plural else Person.IT, de.Agreement.NEUTER)
    german_subject = replace(english_subject, person=Person.IT)
    exists = Predicate(words.BE, words.verb("give", "geben gibt gegeben")[1], accusative=thing)
    english = Clause(english_subject, exists, negated=negated, place=where)
    german = replace(english, subject=german_subject)
    if draw.chance(0.25):
        return sentence(Phrase(c.question(english).english, c.question(german).german), "?")
    return sentence(Phrase(c.statement(english).english, c.statement(german).german))


def giving(draw: Draw) -> tuple[str, str]:
    """Return who gives what to whom: dative and accusative."""
    subject = choices.person(draw)
    verb = draw.choose(verbs.with_kinds("dat", "acc"))
    said = choices.predicate(draw, verb, subject)
    kind = draw.below(4)
    if kind == 0:
        return sentence(c.statement(Clause(subject, said, modal=draw.choose(choices.MODALS))))
    if kind == 1:
        return sentence(c.statement(Clause(subject, said, Tense.FUTURE, time=times.future(draw))))
    return sentence(c.statement(Clause(subject, said, Tense.PAST, time=times.past(draw) if kind == 2 else None)))


def meeting_people(draw: Draw) -> tuple[str, str]:
    """Return what people say when they meet, thank or part."""
    return draw.choose((_greeting, _origin, _thanks, _introduction, _apology))(draw)


_GREETINGS = (
    Phrase("good morning", "guten Morgen"),
    Phrase("good evening", "guten Abend"),
    Phrase("good night", "gute Nacht"),
    Phrase("goodbye", "auf Wiedersehen"),
    Phrase("hello", "hallo"),
    Phrase("happy birthday", "alles Gute zum Geburtstag"),
)


def _greeting(draw: Draw) -> tuple[str, str]:
    name = draw.choose(places.FIRST_NAMES + places.SURNAMES)
    return sentence(words.joined(draw.choose(_GREETINGS), ", ", ", ", words.as_phrase(name)), "!")


_COUNTRIES = (Phrase("Germany", "Deutschland"), Phrase("Italy", "Italien"), Phrase("Spain", "Spanien"))


def _origin(draw: Draw) -> tuple[str, str]:
    asked = draw.chance(0.4)
    subject = questions.asked_about(draw) if asked else choices.person(draw)
    home = draw.choose(places.CITIES + _COUNTRIES)
    comes = words.simple("come came come", "kommen - gekommen sein", words.after("from", "aus", home))
    if asked:
        return sentence(c.question(Clause(subject, comes)), "?")
    return sentence(c.statement(Clause(subject, comes, negated=draw.chance(0.2))))


def _thanks(draw: Draw) -> tuple[str, str]:
    thanks = draw.choose((Phrase("thank you", "danke"), Phrase("thank you very much", "vielen Dank")))
    noun = draw.choose(nouns.of_class("gift", "written", "drink", "reading", "fruit"))
    given = choices.described(draw, noun, p.THE, 0.4)
    if draw.chance(0.2):
        given = p.noun_phrase(nouns.named("help"), p.possessive(Person.YOU))
    return sentence(words.joined(thanks, " for ", " für ", words.as_phrase(given, Case.ACCUSATIVE)))


def _introduction(draw: Draw) -> tuple[str, str]:
    relative = draw.choose(nouns.of_class("kin", "boss"))
    name = words.as_phrase(draw.choose(places.WOMEN if relative.agreement is de.Agreement.FEMININE else places.MEN))
    owner = draw.choose((Person.I, Person.I, Person.HE, Person.SHE, Person.WE))
    subject = p.noun_phrase(relative, p.possessive(owner))
    if draw.chance(0.5):
        said = words.simple("be* was been +called", "heißen - geheißen", name)
        return sentence(c.statement(Clause(subject, said)))
    named = words.joined(words.as_phrase(subject), " ", " ", name)
    return sentence(words.after("this is", "das ist", named))


def _apology(draw: Draw) -> tuple[str, str]:
    clause = choices.modal_clause(draw, bare=True, negated=True)
    clause = replace(clause, modal=draw.choose((c.CAN, c.CAN, c.CAN, c.WANT)))
    if draw.chance(0.5):
        return sentence(c.fronted(Phrase("unfortunately", "leider"), clause))
    sorry = Phrase("I'm sorry", "es tut mir leid")
    return sentence(words.joined(sorry, ", but ", ", aber ", c.statement(clause)))


CONSTRUCTIONS = (
    ("put", put, 2),
    ("where things are", where_things_are, 2),
    ("there is", there_is, 2),
    ("giving", giving, 2),
    ("meeting people", meeting_people, 2),
)
