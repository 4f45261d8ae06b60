"""Verbs that single constructions need, and clauses made with them."""

from examples.demo.corpus.grammar import german as de
from examples.demo.corpus.grammar import phrases as p
from examples.demo.corpus.grammar.clauses import Clause, Predicate
from examples.demo.corpus.grammar.english import EnglishVerb, Tense, english_verb
from examples.demo.corpus.grammar.german import GermanVerb, german_verb
from examples.demo.corpus.grammar.phrases import Noun, NounPhrase, Person, Phrase

BE = english_verb("be* was been")
HAVE = english_verb("have* had")
LIKE = (english_verb("like*"), GermanVerb("mögen", ("mag", "mag", "mögen"), "gemocht", de.HABEN))
BECOME = (english_verb("become became become"), german_verb("werden wird geworden sein"))
COST = (english_verb("cost* cost"), german_verb("kosten"))
VERY = Phrase("very", "sehr")
TOO = Phrase("too", "zu")
IT = NounPhrase("it", ("es", "es", "ihm", ""), Person.IT, de.Agreement.NEUTER, "it", key="it")
THERE = Phrase("there", "es")


def verb(english: str, german: str) -> tuple[EnglishVerb, GermanVerb]:
    """Return a verb of both languages from two rows of the lexicon's notation."""
    return english_verb(english), german_verb(german)


def simple(english: str, german: str, complement: Phrase | None = None) -> Predicate:
    """Return a predicate without objects."""
    return Predicate(*verb(english, german), complement=complement)


def is_(subject: NounPhrase, english: str, german: str, tense: Tense = Tense.PRESENT, negated: bool = False) -> Clause:
    """Return "subject is ..." with any complement."""
    return Clause(subject, Predicate(BE, de.SEIN, complement=Phrase(english, german)), tense, negated=negated)


def has(subject: NounPhrase, thing: NounPhrase, tense: Tense = Tense.PRESENT, negated: bool = False) -> Clause:
    """Return "subject has thing"."""
    return Clause(subject, Predicate(HAVE, de.HABEN, accusative=thing), tense, negated=negated)


def again(subject: NounPhrase) -> NounPhrase:
    """Return how somebody is named a second time: by a pronoun, where English and German agree on it."""
    return subject if subject.person is Person.IT else p.pronoun(subject.person)


def joined(first: Phrase, english: str, german: str, second: Phrase) -> Phrase:
    """Return two phrases with words between them."""
    return Phrase(f"{first.english}{english}{second.english}", f"{first.german}{german}{second.german}")


def after(english: str, german: str, phrase: Phrase) -> Phrase:
    """Return a phrase with words before it."""
    return Phrase(f"{english} {phrase.english}", f"{german} {phrase.german}")


def as_phrase(noun_phrase: NounPhrase, case: de.Case = de.Case.NOMINATIVE) -> Phrase:
    """Return a noun phrase in one case."""
    return Phrase(noun_phrase.object if case else noun_phrase.english, noun_phrase.german[case])


def profession(noun: Noun, subject: NounPhrase) -> str:
    """Return the German name of a profession for a man or a woman."""
    return noun.feminine if subject.person is Person.SHE else noun.german
