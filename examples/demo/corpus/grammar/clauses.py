"""Clauses in both languages at once.

English keeps subject, verb, object in that order. German puts the finite verb second in a statement (whatever stands
first), first in a yes-or-no question and in a request, and last in a subordinate clause; the rest of the verb stands at
the end.
"""

from dataclasses import dataclass, replace
from typing import Literal

from examples.demo.corpus.grammar import english as en
from examples.demo.corpus.grammar import german as de
from examples.demo.corpus.grammar.english import EnglishVerb, Tense
from examples.demo.corpus.grammar.german import Case, GermanVerb
from examples.demo.corpus.grammar.phrases import NounPhrase, Person, Phrase, pronoun


@dataclass(frozen=True)
class Modal:
    """A modal verb. In English an auxiliary ("can"), or a verb ("have to"), which takes auxiliaries itself."""

    auxiliary: tuple[str, str]  # present, past; empty for a verb with "to"
    verb: EnglishVerb | None
    link: str  # between the modal and the infinitive
    present: tuple[str, str, str]  # German forms by slot
    past: tuple[str, str, str]


def modal(english: str, link: str, present: str, past: str = "") -> Modal:
    """Build a modal verb from its English form, what links it to the infinitive, and its German forms.

    `past` is the German preterite's first form ("konnte"); without it, the past is the present's form.
    """
    first, third, plural = present.split()
    imperfect = (past, past, past + "n") if past else (first, third, plural)
    if link.endswith("to") and english != "would":
        return Modal(("", ""), en.english_verb(english), link, (first, third, plural), imperfect)
    return Modal((english, {"can": "could"}.get(english, english)), None, link, (first, third, plural), imperfect)


CAN = modal("can", "", "kann kann können", "konnte")
SHOULD = modal("should", "", "sollte sollte sollten")
MUST = modal("have had", "to", "muss muss müssen", "musste")
WANT = modal("want", "to", "will will wollen", "wollte")
ALLOWED = modal("be", "allowed to", "darf darf dürfen", "durfte")
MAY = modal("may", "", "darf darf dürfen")
COULD = modal("could", "", "könnte könnte könnten")
WOULD_LIKE = modal("would", "like to", "möchte möchte möchten")
WOULD = modal("would", "", "würde würde würden")


@dataclass(frozen=True)
class Predicate:
    """A verb with its objects and complements."""

    english: EnglishVerb
    german: GermanVerb
    dative: NounPhrase | None = None
    accusative: NounPhrase | None = None
    complement: Phrase | None = None  # prepositional object, direction, predicative: stands last in both languages
    manner: Phrase | None = None
    dative_with_to: bool = False  # "explain the rule to him", not "explain him the rule"


@dataclass(frozen=True)
class Clause:
    """A predicate said of a subject."""

    subject: NounPhrase
    predicate: Predicate
    tense: Tense = Tense.PRESENT
    modal: Modal | None = None
    negated: bool = False
    not_yet: bool = False  # with `negated`: "not ... yet", "noch nicht"
    adverb: Phrase | None = None  # "often": in English before the main verb
    time: Phrase | None = None
    place: Phrase | None = None


Front = Literal["time", "place"]


def statement(clause: Clause, front: Front | None = None) -> Phrase:
    """Return a main clause; with `front`, that phrase stands first in both languages."""
    if front is None:
        finite, last, _ = _german_verbs(clause)
        subject = clause.subject.german[Case.NOMINATIVE]
        german = _join(subject, finite, *_german_middle(clause), last)
        return Phrase(_english_statement(clause), german)
    phrase = clause.time if front == "time" else clause.place
    assert phrase is not None
    return fronted(phrase, replace(clause, time=None) if front == "time" else replace(clause, place=None))


def fronted(first: Phrase, clause: Clause) -> Phrase:
    """Return a main clause after what takes the first place: a phrase, or a subordinate clause (ending in a comma)."""
    finite, last, _ = _german_verbs(clause)
    subject = clause.subject.german[Case.NOMINATIVE]
    english = f"{first.english}, {_english_statement(clause)}"
    return Phrase(english, _join(first.german, finite, subject, *_german_middle(clause), last))


def question(clause: Clause, asked: Phrase | None = None) -> Phrase:
    """Return a question without its mark; `asked` ("where", "what") is not the subject: for that, use `statement`."""
    auxiliary, main = _english_verbs(clause, supported=True)
    if clause.negated:
        auxiliary = en.negated(auxiliary)
    english = _join(
        asked.english if asked else "",
        auxiliary,
        clause.subject.english,
        _english_adverb(clause),
        *_english_rest(clause, main),
    )
    finite, last, _ = _german_verbs(clause)
    subject = clause.subject.german[Case.NOMINATIVE]
    return Phrase(english, _join(asked.german if asked else "", finite, subject, *_german_middle(clause), last))


def subordinate(clause: Clause) -> Phrase:
    """Return a clause with the German verb last; what begins it ("because", "weil") is put before by the caller."""
    subject = clause.subject.german[Case.NOMINATIVE]
    _, _, cluster = _german_verbs(clause)
    return Phrase(_english_statement(clause), _join(subject, *_german_middle(clause), cluster))


def infinitive(clause: Clause) -> Phrase:
    """Return "to buy a car" / "ein Auto zu kaufen"; the subject is not said, but reflexive pronouns agree with it."""
    predicate = clause.predicate
    english = _join("not" if clause.negated else "", "to", *_english_rest(clause, predicate.english.base))
    return Phrase(english, _join(*_german_middle(clause), predicate.german.with_zu))


def bare_infinitive(clause: Clause) -> Phrase:
    """Return "buy a car" / "ein Auto kaufen"."""
    predicate = clause.predicate
    return Phrase(
        _join(*_english_rest(clause, predicate.english.base)), _join(*_german_middle(clause), predicate.german.whole)
    )


def request(predicate: Predicate, negated: bool = False, time: Phrase | None = None) -> Phrase:
    """Return a polite request, without please: "open the window" / "öffnen Sie das Fenster"."""
    clause = Clause(pronoun(Person.YOU), predicate, negated=negated, time=time)
    english = _join("don't" if negated else "", *_english_rest(clause, predicate.english.base))
    return Phrase(english, question(clause).german)


def sentence(phrase: Phrase, mark: str = ".") -> tuple[str, str]:
    """Return (English, German) with a capital at the beginning and a mark at the end."""
    return _finish(phrase.english, mark), _finish(phrase.german, mark)


def _finish(text: str, mark: str) -> str:
    # A relative clause ends in a comma, which any other punctuation replaces.
    text = f"{text}{mark}".replace(",,", ",").replace(f",{mark}", mark)
    return text[0].upper() + text[1:]


def _join(*words: str) -> str:
    return " ".join(word for word in words if word)


def _english_verbs(clause: Clause, supported: bool) -> tuple[str, str]:
    """Return (auxiliary, rest of the verb)."""
    slot, modal, verb = clause.subject.person.slot, clause.modal, clause.predicate.english
    if modal is None:
        return en.verb_words(verb, slot, clause.tense, supported)
    if modal.verb is None:
        return modal.auxiliary[clause.tense is Tense.PAST], _join(modal.link, verb.base)
    auxiliary, main = en.verb_words(modal.verb, slot, clause.tense, supported)
    return auxiliary, _join(main, modal.link, verb.base)


def _english_adverb(clause: Clause) -> str:
    return clause.adverb.english if clause.adverb else ""


def _english_statement(clause: Clause) -> str:
    auxiliary, main = _english_verbs(clause, supported=clause.negated)
    if clause.negated:
        auxiliary = en.negated(auxiliary)
    return _join(clause.subject.english, auxiliary, _english_adverb(clause), *_english_rest(clause, main))


def _english_rest(clause: Clause, main: str) -> list[str]:
    """Return main verb, particle, objects, complement, manner, place, time."""
    predicate = clause.predicate
    particle = predicate.english.particle
    accusative = ""
    if predicate.accusative:
        accusative = _negatable(clause, predicate.accusative).object
        if predicate.english.movable and predicate.accusative.is_pronoun:
            accusative, particle = f"{accusative} {particle}", ""
    dative = predicate.dative.object if predicate.dative else ""
    objects = [accusative, f"to {dative}"] if predicate.dative_with_to else [dative, accusative]
    adverbials = (predicate.complement, predicate.manner, clause.place, clause.time)
    rest = [phrase.english for phrase in adverbials if phrase]
    return [main, particle, *objects, *rest, "yet" if clause.not_yet else ""]


def _negatable(clause: Clause, phrase: NounPhrase) -> NounPhrase:
    return phrase.negative if clause.negated and phrase.negative else phrase


def _german_verbs(clause: Clause) -> tuple[str, str, str]:
    """Return (finite verb of a main clause, what stands at that clause's end, whole cluster of a verb-last clause)."""
    slot, verb = clause.subject.person.slot, clause.predicate.german
    if clause.modal is not None:
        forms = clause.modal.past if clause.tense is Tense.PAST else clause.modal.present
        return forms[slot], verb.whole, f"{verb.whole} {forms[slot]}"
    match clause.tense:
        case Tense.FUTURE:
            finite, last = de.WERDEN_PRESENT[slot], verb.whole
        case Tense.PAST if verb.preterite:
            return verb.preterite[slot], "", verb.preterite[slot]
        case Tense.PAST | Tense.PERFECT:
            auxiliary = verb.auxiliary or (de.SEIN if verb is de.SEIN else de.HABEN)
            finite, last = auxiliary.present[slot], verb.participle
        case _:
            return verb.present[slot], verb.prefix.strip(), verb.prefix + verb.present[slot]
    return finite, last, f"{last} {finite}"


def _german_middle(clause: Clause) -> list[str]:
    """Return what stands between the subject (or finite verb) and the words at the end.

    What is known stands first, what is new last: pronouns and names, dative, adverb, time, accusative, nicht, manner,
    place, complement. An indefinite accusative is negated by "kein"; a definite one that is denied, or already done,
    stands early.
    """
    predicate, accusative = clause.predicate, clause.predicate.accusative
    known, new = [], []
    negation = ("noch nicht" if clause.not_yet else "nicht") if clause.negated else ""
    if accusative and clause.negated and accusative.negative:
        new = [negation.removesuffix("nicht").strip(), accusative.negative.german[Case.ACCUSATIVE]]
        negation = ""
    elif accusative and (accusative.is_pronoun or (accusative.is_name and not predicate.dative)):
        known.append(accusative.german[Case.ACCUSATIVE])
    elif accusative:
        new.append(accusative.german[Case.ACCUSATIVE])
    if predicate.german.reflexive:
        known.append(clause.subject.person.reflexive)
    if predicate.dative:
        known.append(predicate.dative.german[Case.DATIVE])
    if negation or (accusative and accusative.is_definite and clause.tense is Tense.PERFECT):
        known, new = known + new, []
    early = [phrase.german for phrase in (clause.adverb, clause.time) if phrase]
    late = [phrase.german for phrase in (predicate.manner, clause.place, predicate.complement) if phrase]
    return [*known, *early, *new, negation, *late]
