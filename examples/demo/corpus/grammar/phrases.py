"""Phrases in both languages at once: determiners, adjectives, nouns, pronouns, prepositions."""

from dataclasses import dataclass, replace
from enum import Enum

from examples.demo.corpus.grammar import english as en
from examples.demo.corpus.grammar import german as de
from examples.demo.corpus.grammar.german import Agreement, ArticleKind, Case, Slot


@dataclass(frozen=True)
class Phrase:
    """The same words in both languages, inflected and ready."""

    english: str
    german: str


class Person(Enum):
    """Persons: English subject, object and possessive; German possessive stem, reflexive pronoun and verb form."""

    I = ("I", "me", "my", "mein", "mich", Slot.ICH)  # noqa: E741  (the pronoun is written so)
    HE = ("he", "him", "his", "sein", "sich", Slot.ER)
    SHE = ("she", "her", "her", "ihr", "sich", Slot.ER)
    IT = ("it", "it", "its", "sein", "sich", Slot.ER)
    WE = ("we", "us", "our", "unser", "uns", Slot.SIE)
    YOU = ("you", "you", "your", "Ihr", "sich", Slot.SIE)
    THEY = ("they", "them", "their", "ihr", "sich", Slot.SIE)

    @property
    def subject(self) -> str:
        """The English subject pronoun."""
        return self.value[0]

    @property
    def possessive(self) -> str:
        """The English possessive."""
        return self.value[2]

    @property
    def german_possessive(self) -> str:
        """The stem of the German possessive."""
        return self.value[3]

    @property
    def reflexive(self) -> str:
        """The German accusative reflexive pronoun."""
        return self.value[4]

    @property
    def slot(self) -> Slot:
        """The form of the verb."""
        return self.value[5]


@dataclass(frozen=True)
class NounPhrase:
    """A noun phrase or pronoun in both languages."""

    english: str
    german: tuple[str, str, str, str]  # by case
    person: Person
    agreement: Agreement
    english_object: str = ""  # of pronouns; else the same as english
    negative: "NounPhrase | None" = None  # what stands in a negated clause: "any milk", "keine Milch"
    key: str = ""  # the English noun, to tell whether two phrases name the same thing
    is_name: bool = False
    is_definite: bool = False

    @property
    def is_pronoun(self) -> bool:
        """Whether this is a personal pronoun, which stands early in a German clause."""
        return bool(self.english_object)

    @property
    def object(self) -> str:
        """The English object form."""
        return self.english_object or self.english


@dataclass(frozen=True)
class Noun:
    """A noun in both languages. No English plural: it is not counted; no English singular: it is plural only."""

    english: str
    english_plural: str
    german: str
    agreement: Agreement
    german_plural: str
    genitive: str  # singular
    oblique: str  # accusative and dative singular; differs from `german` in weak nouns
    feminine: str  # a woman of that profession, singular ("Ärztin")
    classes: tuple[str, ...]

    def german_form(self, case: Case, plural: bool) -> str:
        """Return the noun in a case and number."""
        if plural:
            return de.plural_in_case(self.german_plural, case)
        return {Case.NOMINATIVE: self.german, Case.GENITIVE: self.genitive}.get(case, self.oblique)


@dataclass(frozen=True)
class Adjective:
    """An adjective in both languages. `stem` takes the endings: "teur" of "teuer"."""

    english: str
    english_comparative: str
    english_superlative: str
    german: str
    stem: str
    german_comparative: str
    german_superlative: str  # without ending: "größt"
    classes: tuple[str, ...]


@dataclass(frozen=True)
class Determiner:
    """An article or what stands in its place; the English forms are "" for none, "a" becomes "an" by sound."""

    english: str
    english_plural: str
    german: str
    german_plural: str
    kind: ArticleKind
    plural_kind: ArticleKind
    negative: tuple[str, str] | None = None  # English singular, plural before which "kein" is the negation


THE = Determiner("the", "the", "", "", "definite", "definite")
THIS = Determiner("this", "these", "dies", "dies", "dieser", "dieser")
EVERY = Determiner("every", "", "jed", "", "dieser", "dieser")
WHICH = Determiner("which", "which", "welch", "welch", "dieser", "dieser")
NO = Determiner("no", "no", "kein", "kein", "ein", "ein")
A = Determiner("a", "", "ein", "", "ein", "invariant", ("a", ""))
BARE = Determiner("", "", "", "", "invariant", "invariant", ("", ""))
SOME = Determiner("some", "some", "etwas", "einig", "invariant", "strong", ("any", "any"))
MUCH = Determiner("a lot of", "a lot of", "viel", "viel", "invariant", "strong")
MANY = Determiner("", "many", "", "viel", "strong", "strong")


def possessive(person: Person) -> Determiner:
    """Return my, his, ... as a determiner."""
    stem = person.german_possessive
    return Determiner(person.possessive, person.possessive, stem, stem, "ein", "ein")


def counted(words: Phrase) -> Determiner:
    """Return a number of at least two as a determiner."""
    return Determiner("", words.english, "", words.german, "invariant", "invariant")


def noun_phrase(
    noun: Noun, determiner: Determiner, *adjectives: Adjective, plural: bool = False, intensifier: Phrase | None = None
) -> NounPhrase:
    """Build a noun phrase; an intensifier ("very", "sehr") stands before the first adjective."""
    plural = plural or not noun.english
    negative = None
    if determiner.negative is not None:
        single, several = determiner.negative
        negation = Determiner(single, several, "kein", "kein", "ein", "ein")
        negative = noun_phrase(noun, negation, *adjectives, plural=plural, intensifier=intensifier)
    agreement = Agreement.PLURAL if plural else noun.agreement
    return NounPhrase(
        english=_english_noun_phrase(noun, determiner, adjectives, plural, intensifier),
        german=_german_noun_phrase(noun, determiner, adjectives, plural, intensifier),
        person=_person(noun, plural),
        agreement=agreement,
        negative=negative,
        key=noun.english or noun.english_plural,
        is_definite=determiner.negative is None and determiner.kind in ("definite", "dieser", "ein"),
    )


def _person(noun: Noun, plural: bool) -> Person:
    if plural:
        return Person.THEY
    if "person" not in noun.classes or noun.agreement is Agreement.NEUTER:
        return Person.IT
    return Person.HE if noun.agreement is Agreement.MASCULINE else Person.SHE


def _english_noun_phrase(
    noun: Noun, determiner: Determiner, adjectives: tuple[Adjective, ...], plural: bool, intensifier: Phrase | None
) -> str:
    words = [adjective.english for adjective in adjectives] + [noun.english_plural if plural else noun.english]
    if intensifier:
        words.insert(0, intensifier.english)
    rest = " ".join(words)
    article = determiner.english_plural if plural else determiner.english
    if article == "a":
        article = en.indefinite_article(rest)
    return f"{article} {rest}".strip()


def _german_noun_phrase(
    noun: Noun, determiner: Determiner, adjectives: tuple[Adjective, ...], plural: bool, intensifier: Phrase | None
) -> tuple[str, str, str, str]:
    agreement = Agreement.PLURAL if plural else noun.agreement
    kind = determiner.plural_kind if plural else determiner.kind
    stem = determiner.german_plural if plural else determiner.german

    def form(case: Case) -> str:
        words = [de.article(stem, kind, case, agreement)]
        if intensifier:
            words.append(intensifier.german)
        words += [adjective.stem + de.adjective_ending(kind, case, agreement) for adjective in adjectives]
        return " ".join(filter(None, [*words, noun.german_form(case, plural)]))

    return form(Case.NOMINATIVE), form(Case.ACCUSATIVE), form(Case.DATIVE), form(Case.GENITIVE)


_PRONOUNS = {
    Person.I: ("ich", "mich", "mir"),
    Person.HE: ("er", "ihn", "ihm"),
    Person.SHE: ("sie", "sie", "ihr"),
    Person.WE: ("wir", "uns", "uns"),
    Person.YOU: ("Sie", "Sie", "Ihnen"),
    Person.THEY: ("sie", "sie", "ihnen"),
}


def pronoun(person: Person) -> NounPhrase:
    """Return a personal pronoun, other than "it"."""
    subject, accusative, dative = _PRONOUNS[person]
    agreement = Agreement.FEMININE if person is Person.SHE else Agreement.MASCULINE
    if person.slot is Slot.SIE:
        agreement = Agreement.PLURAL
    return NounPhrase(
        person.value[0], (subject, accusative, dative, ""), person, agreement, person.value[1], key=subject
    )


def pronoun_for(antecedent: NounPhrase) -> NounPhrase:
    """Return the pronoun that stands for a noun phrase of the third person; "it" takes the German noun's gender."""
    german = [de.third_person_pronoun(case, antecedent.agreement) for case in (0, 1, 2)]  # type: ignore[arg-type]
    person = antecedent.person
    forms = (german[0], german[1], german[2], "")
    return NounPhrase(person.value[0], forms, person, antecedent.agreement, person.value[1], key=antecedent.key)


def proper_name(english: str, person: Person, german: str = "", oblique: str = "") -> NounPhrase:
    """Return a name; "Mr Schmidt" is "Herr Schmidt", "Herrn Schmidt" in the accusative and dative."""
    german = german or english
    oblique = oblique or german
    agreement = {Person.SHE: Agreement.FEMININE, Person.HE: Agreement.MASCULINE}.get(person, Agreement.NEUTER)
    genitive = german + ("'" if german.endswith(("s", "ß", "x", "z")) else "s")
    return NounPhrase(english, (german, oblique, oblique, genitive), person, agreement, key=english, is_name=True)


def prepositional(english: str, german: str, case: Case, phrase: NounPhrase) -> Phrase:
    """Put a preposition before a noun phrase or pronoun, in both languages."""
    inflected = phrase.german[case]
    joined = f"{german} {inflected}" if phrase.is_pronoun else de.join_preposition(german, inflected)
    return Phrase(f"{english} {phrase.object}".strip(), joined)


def genitive(owned: NounPhrase, owner: NounPhrase) -> NounPhrase:
    """Return "my brother's car" / "das Auto meines Bruders"; `owned` has a definite article, `owner` ends in no s."""
    forms = [f"{form} {owner.german[Case.GENITIVE]}" for form in owned.german]
    english = f"{owner.english}'s {owned.english.removeprefix('the ')}"
    return replace(owned, english=english, german=(forms[0], forms[1], forms[2], forms[3]), negative=None)
