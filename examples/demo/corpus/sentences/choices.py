"""Choosing who does what: people, things, and clauses that make sense."""

from collections.abc import Sequence
from dataclasses import replace

from examples.demo.corpus.draw import Draw
from examples.demo.corpus.grammar import clauses as c
from examples.demo.corpus.grammar import numbers
from examples.demo.corpus.grammar import phrases as p
from examples.demo.corpus.grammar.clauses import Clause, Predicate
from examples.demo.corpus.grammar.english import Tense
from examples.demo.corpus.grammar.phrases import Adjective, Determiner, Noun, NounPhrase, Person, Phrase
from examples.demo.corpus.lexicon import adjectives, nouns, places, times, verbs
from examples.demo.corpus.lexicon.verbs import FrameSlot, Verb

PRONOUNS = (Person.I, Person.HE, Person.SHE, Person.WE, Person.YOU, Person.THEY)
OWNERS = (Person.I, Person.I, Person.HE, Person.SHE, Person.WE, Person.YOU, Person.THEY)
GAMES = (
    Phrase("football", "Fußball"),
    Phrase("tennis", "Tennis"),
    Phrase("chess", "Schach"),
    Phrase("cards", "Karten"),
    Phrase("basketball", "Basketball"),
    Phrase("the guitar", "Gitarre"),
    Phrase("the piano", "Klavier"),
)
# "prepare dinner" is "das Abendessen vorbereiten".
_UNSAID_ARTICLE = Determiner("", "", "", "", "definite", "definite")
_OWNED = frozenset(("kin", "kin-plural", "parent", "boss"))
_DEFINITE = frozenset(("bill", "weather", "room", "opening", "sight", "staff", "adult", "child", "anticipated", "job"))
_SEVERAL = frozenset(
    ("food", "clothing", "reading", "written", "thing", "portable", "gift", "explained", "animal", "luggage")
)
_BEFORE_COLOURS = frozenset(("big", "small", "new", "old", "beautiful"))
_WITHOUT = frozenset(("language", "interest", "need", "help"))
_OWNABLE = frozenset(
    (
        "clothing",
        "clothing-plural",
        "device",
        "vehicle",
        "possession",
        "luggage",
        "reading",
        "pet",
        "room",
        "home",
        "furniture",
    )
)


def owned(draw: Draw, noun: Noun, *adjective: Adjective, owners: Sequence[Person] = OWNERS) -> NounPhrase:
    """Return "my brother" and the like, of any of the owners."""
    return p.noun_phrase(noun, p.possessive(draw.choose(owners)), *adjective)


def relative(draw: Draw, *classes: str, owners: Sequence[Person] = OWNERS) -> NounPhrase:
    """Return somebody's relative, friend or colleague."""
    return owned(draw, draw.choose(nouns.of_class(*(classes or ("kin",)))), owners=owners)


def person(draw: Draw) -> NounPhrase:
    """Return somebody to speak of: mostly a pronoun."""
    kind = draw.below(20)
    if kind < 11:
        return p.pronoun(draw.choose(PRONOUNS))
    if kind < 15:
        return relative(
            draw, "kin", "kin-plural", "boss", owners=(Person.I, Person.I, Person.WE, Person.HE, Person.SHE)
        )
    if kind < 17:
        return draw.choose(places.FIRST_NAMES)
    if kind < 18:
        return draw.choose(places.SURNAMES)
    return p.noun_phrase(draw.choose(nouns.of_class("adult", "job", "staff", "child")), p.THE)


def third_person(draw: Draw) -> NounPhrase:
    """Return a man or a woman who is not a pronoun, so that "he" or "she" can follow."""
    kind = draw.below(4)
    if kind == 0:
        return draw.choose(places.FIRST_NAMES)
    if kind == 1:
        return draw.choose(places.SURNAMES)
    return relative(draw, owners=(Person.I, Person.WE))


def fitting_adjective(draw: Draw, noun: Noun, plural: bool = False) -> Adjective | None:
    """Return an adjective that goes with the noun, if there is one."""
    options = adjectives.of_class(*noun.classes)
    if plural:
        options = tuple(option for option in options if "child" not in option.classes or "clothing" in option.classes)
    return draw.choose(options) if options else None


def described(draw: Draw, noun: Noun, determiner: Determiner, probability: float, plural: bool = False) -> NounPhrase:
    """Return a noun phrase with an adjective, with the given probability, where one goes with the noun."""
    adjective = fitting_adjective(draw, noun, plural) if draw.chance(probability) else None
    if adjective is None:
        return p.noun_phrase(noun, determiner, plural=plural)
    colours = adjectives.of_class("colour")
    if adjective.english in _BEFORE_COLOURS and "clothing" in noun.classes and draw.chance(0.2):
        return p.noun_phrase(noun, determiner, adjective, draw.choose(colours), plural=plural)
    return p.noun_phrase(noun, determiner, adjective, plural=plural)


def thing(draw: Draw, noun: Noun, classes: Sequence[str], owner: Person, negated: bool = False) -> NounPhrase:
    """Return a noun phrase for a thing, with the determiners that its class goes with."""
    kinds = set(noun.classes) & set(classes)
    if not noun.english:
        return p.noun_phrase(noun, p.THE)
    if kinds & _WITHOUT:
        return p.noun_phrase(noun, p.BARE)
    if "meal" in kinds:
        return p.noun_phrase(noun, _UNSAID_ARTICLE)
    if kinds & _DEFINITE:
        return described(draw, noun, p.THE, 0.15)
    if not noun.english_plural:
        options = ((p.BARE, 4), (p.SOME, 2), (p.THE, 3), (p.MUCH, 0 if negated else 1))
        determiner = draw.weighted(options)
        return described(draw, noun, determiner, 0.25)
    if all(kind.endswith("-plural") for kind in kinds) or (kinds & _SEVERAL and draw.chance(0.15)):
        several = p.counted(numbers.number_words(draw.between(2, 6)))
        counts = ((p.BARE, 3), (p.SOME, 2), (p.THE, 3), (p.THIS, 1), (several, 0 if negated else 3))
        return described(draw, noun, draw.weighted(counts), 0.3, plural=True)
    own = 3 if kinds & _OWNABLE else 0
    determiner = draw.weighted(((p.THE, 4), (p.A, 5), (p.THIS, 2), (p.possessive(owner), own)))
    return described(draw, noun, determiner, 0.4)


def object_for(draw: Draw, classes: Sequence[str], subject: NounPhrase, negated: bool = False) -> NounPhrase:
    """Return an object of one of the classes: somebody (by name, pronoun or relation) or something."""
    for _ in range(20):
        noun = draw.choose(nouns.of_class(*classes))
        if _OWNED.intersection(noun.classes):
            found = _somebody(draw, noun, subject)
        else:
            owner = draw.weighted(((_owner(subject), 4), (draw.choose(OWNERS), 1)))
            found = thing(draw, noun, classes, owner, negated)
        if found.key != subject.key:
            return found
    return found


def _owner(subject: NounPhrase) -> Person:
    return Person.I if subject.person is Person.IT else subject.person


def _somebody(draw: Draw, noun: Noun, subject: NounPhrase) -> NounPhrase:
    kind = draw.below(10)
    if kind < 2:
        others = [who for who in PRONOUNS if _may_meet(subject.person, who)]
        return p.pronoun(draw.choose(others))
    if kind < 4:
        return draw.choose(places.FIRST_NAMES + places.SURNAMES)
    return owned(draw, noun, owners=(_owner(subject), _owner(subject), draw.choose(OWNERS)))


def _may_meet(subject: Person, other: Person) -> bool:
    """Whether a pronoun as object is somebody else than the subject."""
    first = (Person.I, Person.WE)
    return not (subject in first and other in first) and other is not subject


def predicate(draw: Draw, verb: Verb, subject: NounPhrase, negated: bool = False) -> Predicate:
    """Return a verb with objects that it goes with."""
    built = Predicate(verb.english, verb.german)
    for slot in verb.frame:
        built = _fill(draw, built, verb, slot, subject, negated)
    return built


def _fill(draw: Draw, built: Predicate, verb: Verb, slot: FrameSlot, subject: NounPhrase, negated: bool) -> Predicate:
    match slot.kind:
        case "acc":
            return replace(built, accusative=object_for(draw, slot.classes, subject, negated))
        case "dat":
            return replace(built, dative=object_for(draw, slot.classes, subject), dative_with_to=slot.with_to)
        case "prep":
            # The English preposition is the verb's particle.
            phrase = p.prepositional("", slot.preposition, slot.case, object_for(draw, slot.classes, subject))
            return replace(built, complement=phrase)
        case "to":
            return replace(built, complement=draw.choose(places.directions(*verb.places)))
        case "at":
            return replace(built, complement=draw.choose(places.locations(*verb.places)))
        case "game":
            return replace(built, complement=draw.choose(GAMES))
        case _:
            return built


def place(draw: Draw, verb: Verb, probability: float) -> Phrase | None:
    """Return where the activity takes place, with the given probability, where the verb goes with places."""
    if not verb.places or set(verb.kinds) & {"to", "at"} or not draw.chance(probability):
        return None
    return draw.choose(places.locations(*verb.places))


def activity(draw: Draw, *, stative: bool = False, intended: bool = True) -> Verb:
    """Return a verb: not a stative one, unless `stative`; one that people do on purpose, unless not `intended`."""
    while True:
        verb = draw.choose(verbs.VERBS)
        if (stative or not verb.english.stative) and (verb.intended or not intended):
            return verb


def present_clause(
    draw: Draw, subject: NounPhrase | None = None, *, bare: bool = False, negated: bool = False
) -> Clause:
    """Return a clause in the present tense (a habit, something going on, or planned); `bare`: without time or place."""
    subject = subject or person(draw)
    verb = activity(draw, stative=True)
    said = predicate(draw, verb, subject, negated)
    if verb.english.stative:
        return Clause(subject, said, negated=negated)
    clause = Clause(subject, said, place=None if bare else place(draw, verb, 0.2), negated=negated)
    kind = draw.below(4)
    if kind == 0 and not negated:
        return replace(clause, adverb=draw.choose(times.FREQUENCIES))
    if kind == 1 and not negated and not bare:
        return replace(clause, time=times.habitual(draw, verb.planned))
    if kind == 2 and not bare:
        return replace(clause, tense=Tense.PROGRESSIVE, time=times.future(draw, verb.planned))
    return replace(clause, tense=Tense.PROGRESSIVE, time=None if bare else draw.choose(times.NOW))


def past_clause(draw: Draw, subject: NounPhrase | None = None, *, bare: bool = False, negated: bool = False) -> Clause:
    """Return a clause in the past tense."""
    subject = subject or person(draw)
    verb = activity(draw, intended=False)
    said = predicate(draw, verb, subject, negated)
    when = None if bare and draw.chance(0.6) else times.past(draw, verb.planned)
    return Clause(
        subject, said, Tense.PAST, negated=negated, time=when, place=None if bare else place(draw, verb, 0.25)
    )


def future_clause(
    draw: Draw, subject: NounPhrase | None = None, *, bare: bool = False, negated: bool = False
) -> Clause:
    """Return a clause in the future tense."""
    subject = subject or person(draw)
    verb = activity(draw)
    said = predicate(draw, verb, subject, negated)
    when = None if bare and draw.chance(0.5) else times.future(draw, verb.planned)
    return Clause(
        subject, said, Tense.FUTURE, negated=negated, time=when, place=None if bare else place(draw, verb, 0.15)
    )


MODALS = (c.CAN, c.CAN, c.CAN, c.MUST, c.MUST, c.MUST, c.SHOULD, c.SHOULD, c.WANT, c.WANT, c.WOULD_LIKE, c.ALLOWED)


def modal_clause(draw: Draw, subject: NounPhrase | None = None, *, bare: bool = False, negated: bool = False) -> Clause:
    """Return a clause with a modal verb in the present tense."""
    subject = subject or person(draw)
    verb = activity(draw)
    said = predicate(draw, verb, subject, negated)
    when = None
    if not bare and draw.chance(0.6):
        when = times.future(draw, verb.planned) if draw.chance(0.7) else draw.choose(times.NOW[:2])
    where = None if bare else place(draw, verb, 0.2)
    return Clause(subject, said, modal=draw.choose(MODALS), negated=negated, time=when, place=where)


def any_clause(draw: Draw, subject: NounPhrase | None = None) -> Clause:
    """Return a short clause of any tense."""
    maker = draw.choose((present_clause, past_clause, future_clause, modal_clause))
    return maker(draw, subject, bare=True, negated=draw.chance(0.2))
