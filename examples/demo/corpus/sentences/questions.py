"""Questions and requests. Whoever is spoken to is "Sie"."""

from dataclasses import replace

from examples.demo.corpus.draw import Draw
from examples.demo.corpus.grammar import clauses as c
from examples.demo.corpus.grammar import german as de
from examples.demo.corpus.grammar import phrases as p
from examples.demo.corpus.grammar.clauses import Clause, Predicate, sentence
from examples.demo.corpus.grammar.english import Tense
from examples.demo.corpus.grammar.phrases import NounPhrase, Person, Phrase
from examples.demo.corpus.lexicon import nouns, places, times, verbs
from examples.demo.corpus.sentences import choices, words

YOU = p.pronoun(Person.YOU)
WHO = NounPhrase("who", ("wer", "wen", "wem", ""), Person.HE, de.Agreement.MASCULINE, key="who")
_WHERE, _WHEN, _WHY, _WHAT = (
    Phrase(*pair) for pair in (("where", "wo"), ("when", "wann"), ("why", "warum"), ("what", "was"))
)
# Verbs whose object can be asked for by "what": a thing.
_ASKED = (
    "buy",
    "eat",
    "drink",
    "cook",
    "read",
    "repair",
    "order",
    "bake",
    "look for",
    "need",
    "learn",
    "wash",
    "write",
)


def asked_about(draw: Draw) -> NounPhrase:
    """Return whom a question is about: mostly the one spoken to, and never the one who asks."""
    while not draw.chance(0.5):
        someone = choices.person(draw)
        if someone.person is not Person.I:
            return someone
    return YOU


def yes_or_no(draw: Draw) -> tuple[str, str]:
    """Return a yes-or-no question."""
    maker = draw.choose((choices.present_clause, choices.past_clause, choices.modal_clause))
    return sentence(c.question(maker(draw, asked_about(draw), bare=draw.chance(0.5))), "?")


def where_when_why(draw: Draw) -> tuple[str, str]:
    """Return a question for the place, the time or the reason."""
    asked = draw.choose((_WHERE, _WHEN, _WHY))
    while True:
        maker = draw.choose((choices.present_clause, choices.past_clause, choices.modal_clause))
        clause = maker(draw, asked_about(draw), bare=True)
        if clause.predicate.english.stative:
            continue
        if asked is not _WHY:
            clause = replace(clause, time=None, adverb=None)
        if asked is not _WHERE or verbs_with_place(clause):
            return sentence(c.question(clause, asked), "?")


def verbs_with_place(clause: Clause) -> bool:
    """Whether it makes sense to ask where somebody does this."""
    return any(
        verb.english is clause.predicate.english and verb.places and not set(verb.kinds) & {"to", "at"}
        for verb in verbs.VERBS
    )


def what(draw: Draw) -> tuple[str, str]:
    """Return a question for a thing."""
    verb = verbs.named(draw.choose(_ASKED))
    subject = asked_about(draw)
    said = replace(choices.predicate(draw, verb, subject), accusative=None)
    where = choices.place(draw, verb, 0.3)
    clause = Clause(subject, said, place=where)
    kind = draw.below(3)
    if kind == 0:
        clause = replace(clause, tense=Tense.PAST, time=times.past(draw))
    elif kind == 1:
        clause = replace(clause, modal=draw.choose((c.WANT, c.WOULD_LIKE, c.MUST, c.SHOULD)), time=times.future(draw))
    elif not verb.english.stative:
        clause = replace(clause, tense=Tense.PROGRESSIVE, time=draw.choose(times.NOW))
    return sentence(c.question(clause, _WHAT), "?")


def who(draw: Draw) -> tuple[str, str]:
    """Return a question for the subject."""
    maker = draw.choose((choices.present_clause, choices.past_clause, choices.modal_clause))
    clause = maker(draw, WHO)
    return sentence(c.statement(clause), "?")


def which(draw: Draw) -> tuple[str, str]:
    """Return a question that chooses: "welcher", in the accusative."""
    noun = draw.choose(nouns.of_class("clothing", "printed", "furniture", "vehicle", "show", "sight", "fruit"))
    asked = words.as_phrase(choices.described(draw, noun, p.WHICH, 0.2, draw.chance(0.3)), de.Case.ACCUSATIVE)
    subject = asked_about(draw)
    if draw.chance(0.4):
        return sentence(c.question(Clause(subject, Predicate(*words.LIKE)), asked), "?")
    verb = verbs.named("see" if {"show", "sight"} & set(noun.classes) else "buy")
    clause = Clause(subject, Predicate(verb.english, verb.german), Tense.PAST, time=times.past(draw))
    if draw.chance(0.4):
        clause = replace(clause, tense=Tense.PRESENT, modal=draw.choose((c.WANT, c.WOULD_LIKE)), time=None)
    return sentence(c.question(clause, asked), "?")


def how_many(draw: Draw) -> tuple[str, str]:
    """Return a question for a number or an amount."""
    if draw.chance(0.6):
        noun = draw.choose(nouns.of_class("fruit", "clothing", "printed", "pet", "several", "thing"))
        asked = Phrase(f"how many {noun.english_plural}", f"wie viele {noun.german_form(de.Case.ACCUSATIVE, True)}")
    else:
        noun = draw.choose(nouns.of_class("drink", "need", "language")[:10])
        asked = Phrase(f"how much {noun.english}", f"wie viel {noun.german}")
    subject = asked_about(draw)
    verb = "need" if draw.chance(0.5) and "several" not in noun.classes else "have"
    needs = verbs.named("need")
    said = Predicate(words.HAVE, de.HABEN) if verb == "have" else Predicate(needs.english, needs.german)
    return sentence(c.question(Clause(subject, said), asked), "?")


def request(draw: Draw) -> tuple[str, str]:
    """Return a polite request: "please", "don't", or "could you"."""
    kind = draw.below(4)
    verb = choices.activity(draw)
    while kind != 1 and verb.name == "smoke":
        verb = choices.activity(draw)
    said = choices.predicate(draw, verb, YOU, negated=kind == 1)
    time = draw.choose((times.NOW[0], times.future(draw))) if draw.chance(0.25) else None
    if kind == 1:
        return sentence(c.request(said, negated=True, time=time), ".")
    if kind == 2:
        please = Phrase("please", "bitte")
        return sentence(c.question(Clause(YOU, said, modal=c.COULD, adverb=please, time=time)), "?")
    if kind == 3 and not said.german.reflexive:
        name = draw.choose(places.SURNAMES)
        return sentence(words.joined(words.as_phrase(name), ", please ", ", bitte ", c.request(said, time=time)), ".")
    return sentence(words.after("please", "bitte", c.request(said, time=time)), ".")


def may_i(draw: Draw) -> tuple[str, str]:
    """Return a question for permission or an offer."""
    subject = p.pronoun(draw.choose((Person.I, Person.I, Person.WE)))
    modal = draw.choose((c.MAY, c.CAN))
    clause = choices.modal_clause(draw, subject)
    return sentence(c.question(replace(clause, modal=modal)), "?")


def way(draw: Draw) -> tuple[str, str]:
    """Return a question for the way or a place."""
    goal = choices.described(draw, draw.choose(nouns.of_class("town", "sight", "eatery")), p.THE, 0.2)
    kind = draw.below(3)
    polite = draw.chance(0.5)
    if kind == 0:
        asked = Phrase(
            f"how do I get to {goal.english}", f"wie komme ich {p.prepositional('', 'zu', de.Case.DATIVE, goal).german}"
        )
    elif kind == 1:
        asked = Phrase(f"where is {goal.english}", f"wo ist {goal.german[0]}")
    else:
        asked = Phrase(f"is {goal.english} far from here", f"ist {goal.german[0]} weit von hier")
    return sentence(words.joined(Phrase("excuse me", "Entschuldigung"), ", ", ", ", asked) if polite else asked, "?")


CONSTRUCTIONS = (
    ("yes or no", yes_or_no, 3),
    ("where, when, why", where_when_why, 3),
    ("what", what, 2),
    ("who", who, 2),
    ("which", which, 2),
    ("how many", how_many, 2),
    ("request", request, 3),
    ("may I", may_i, 1),
    ("way", way, 1),
)
