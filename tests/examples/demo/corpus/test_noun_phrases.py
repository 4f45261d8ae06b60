"""Noun phrases against tables written by hand: every case, gender, number and kind of adjective ending."""

import pytest

from examples.demo.corpus.grammar import german as de
from examples.demo.corpus.grammar import phrases as p
from examples.demo.corpus.grammar.german import Agreement, Case
from examples.demo.corpus.grammar.numbers import number_words
from examples.demo.corpus.grammar.phrases import Determiner, NounPhrase, Person
from examples.demo.corpus.lexicon import adjectives, nouns


def phrase(determiner: Determiner, adjective: str, noun: str, plural: bool = False) -> NounPhrase:
    return p.noun_phrase(nouns.named(noun), determiner, adjectives.named(adjective), plural=plural)


# Nominative, accusative, dative, genitive.
@pytest.mark.parametrize(
    ("determiner", "adjective", "noun", "plural", "english", "german"),
    [
        # weak endings
        (p.THE, "big", "dog", False, "the big dog",
         "der große Hund|den großen Hund|dem großen Hund|des großen Hundes"),
        (p.THE, "big", "cat", False, "the big cat",
         "die große Katze|die große Katze|der großen Katze|der großen Katze"),
        (p.THE, "big", "horse", False, "the big horse",
         "das große Pferd|das große Pferd|dem großen Pferd|des großen Pferdes"),
        (p.THE, "big", "dog", True, "the big dogs",
         "die großen Hunde|die großen Hunde|den großen Hunden|der großen Hunde"),
        (p.THIS, "old", "coat", False, "this old coat",
         "dieser alte Mantel|diesen alten Mantel|diesem alten Mantel|dieses alten Mantels"),
        (p.THIS, "old", "jacket", False, "this old jacket",
         "diese alte Jacke|diese alte Jacke|dieser alten Jacke|dieser alten Jacke"),
        (p.THIS, "old", "car", False, "this old car",
         "dieses alte Auto|dieses alte Auto|diesem alten Auto|dieses alten Autos"),
        (p.THIS, "old", "car", True, "these old cars",
         "diese alten Autos|diese alten Autos|diesen alten Autos|dieser alten Autos"),
        (p.WHICH, "red", "skirt", False, "which red skirt",
         "welcher rote Rock|welchen roten Rock|welchem roten Rock|welches roten Rockes"),
        # mixed endings
        (p.A, "expensive", "table", False, "an expensive table",
         "ein teurer Tisch|einen teuren Tisch|einem teuren Tisch|eines teuren Tisches"),
        (p.A, "expensive", "lamp", False, "an expensive lamp",
         "eine teure Lampe|eine teure Lampe|einer teuren Lampe|einer teuren Lampe"),
        (p.A, "expensive", "bed", False, "an expensive bed",
         "ein teures Bett|ein teures Bett|einem teuren Bett|eines teuren Bettes"),
        (p.possessive(Person.I), "new", "suitcase", False, "my new suitcase",
         "mein neuer Koffer|meinen neuen Koffer|meinem neuen Koffer|meines neuen Koffers"),
        (p.possessive(Person.SHE), "new", "bag", False, "her new bag",
         "ihre neue Tasche|ihre neue Tasche|ihrer neuen Tasche|ihrer neuen Tasche"),
        (p.possessive(Person.WE), "new", "house", False, "our new house",
         "unser neues Haus|unser neues Haus|unserem neuen Haus|unseres neuen Hauses"),
        (p.possessive(Person.YOU), "new", "book", True, "your new books",
         "Ihre neuen Bücher|Ihre neuen Bücher|Ihren neuen Büchern|Ihrer neuen Bücher"),
        (p.NO, "good", "answer", True, "no good answers",
         "keine guten Antworten|keine guten Antworten|keinen guten Antworten|keiner guten Antworten"),
        # strong endings
        (p.BARE, "cold", "coffee", False, "cold coffee",
         "kalter Kaffee|kalten Kaffee|kaltem Kaffee|kalten Kaffees"),
        (p.BARE, "fresh", "milk", False, "fresh milk",
         "frische Milch|frische Milch|frischer Milch|frischer Milch"),
        (p.BARE, "cold", "water", False, "cold water",
         "kaltes Wasser|kaltes Wasser|kaltem Wasser|kalten Wassers"),
        (p.BARE, "sweet", "apple", True, "sweet apples",
         "süße Äpfel|süße Äpfel|süßen Äpfeln|süßer Äpfel"),
        (p.SOME, "fresh", "egg", True, "some fresh eggs",
         "einige frische Eier|einige frische Eier|einigen frischen Eiern|einiger frischer Eier"),
        (p.MANY, "old", "church", True, "many old churches",
         "viele alte Kirchen|viele alte Kirchen|vielen alten Kirchen|vieler alter Kirchen"),
        (p.counted(number_words(3)), "red", "apple", True, "three red apples",
         "drei rote Äpfel|drei rote Äpfel|drei roten Äpfeln|drei roter Äpfel"),
        # weak nouns
        (p.THE, "young", "student", False, "the young student",
         "der junge Student|den jungen Studenten|dem jungen Studenten|des jungen Studenten"),
        (p.A, "nice", "customer", False, "a nice customer",
         "ein netter Kunde|einen netten Kunden|einem netten Kunden|eines netten Kunden"),
        (p.THE, "clever", "boy", True, "the clever boys",
         "die klugen Jungen|die klugen Jungen|den klugen Jungen|der klugen Jungen"),
        # stems that change
        (p.THE, "dark", "room", False, "the dark room",
         "das dunkle Zimmer|das dunkle Zimmer|dem dunklen Zimmer|des dunklen Zimmers"),
    ],
)  # fmt: skip
def test_declension(determiner: Determiner, adjective: str, noun: str, plural: bool, english: str, german: str) -> None:
    built = phrase(determiner, adjective, noun, plural)
    assert built.english == english
    assert "|".join(built.german) == german


def test_two_adjectives_have_the_same_ending() -> None:
    built = p.noun_phrase(nouns.named("car"), p.A, adjectives.named("old"), adjectives.named("red"))
    assert built.english == "an old red car"
    assert built.german[Case.DATIVE] == "einem alten roten Auto"


@pytest.mark.parametrize(
    ("person", "german"),
    [
        (Person.I, "ich mich mir"),
        (Person.HE, "er ihn ihm"),
        (Person.SHE, "sie sie ihr"),
        (Person.WE, "wir uns uns"),
        (Person.YOU, "Sie Sie Ihnen"),
        (Person.THEY, "sie sie ihnen"),
    ],
)
def test_pronouns(person: Person, german: str) -> None:
    assert " ".join(p.pronoun(person).german[:3]) == german


@pytest.mark.parametrize(
    ("noun", "plural", "german"),
    [
        ("table", False, "er ihn ihm"),
        ("lamp", False, "sie sie ihr"),
        ("bed", False, "es es ihm"),
        ("bed", True, "sie sie ihnen"),
    ],
)
def test_it_takes_the_gender_of_the_german_noun(noun: str, plural: bool, german: str) -> None:
    pronoun = p.pronoun_for(p.noun_phrase(nouns.named(noun), p.THE, plural=plural))
    assert (pronoun.english, " ".join(pronoun.german[:3])) == ("they" if plural else "it", german)


def test_negated_forms() -> None:
    coffee = p.noun_phrase(nouns.named("coffee"), p.SOME)
    assert coffee.negative is not None
    assert (coffee.negative.english, coffee.negative.german[Case.ACCUSATIVE]) == ("any coffee", "keinen Kaffee")
    apple = p.noun_phrase(nouns.named("apple"), p.A)
    assert apple.negative is not None
    assert (apple.negative.english, apple.negative.german[Case.ACCUSATIVE]) == ("an apple", "keinen Apfel")
    assert p.noun_phrase(nouns.named("apple"), p.THE).negative is None


@pytest.mark.parametrize(
    ("preposition", "case", "noun", "german"),
    [
        ("in", Case.DATIVE, "garden", "im Garten"),
        ("in", Case.ACCUSATIVE, "garden", "in den Garten"),
        ("in", Case.DATIVE, "kitchen", "in der Küche"),
        ("in", Case.ACCUSATIVE, "house", "ins Haus"),
        ("an", Case.DATIVE, "window", "am Fenster"),
        ("an", Case.ACCUSATIVE, "window", "ans Fenster"),
        ("auf", Case.ACCUSATIVE, "table", "auf den Tisch"),
        ("auf", Case.DATIVE, "table", "auf dem Tisch"),
        ("zu", Case.DATIVE, "train station", "zum Bahnhof"),
        ("zu", Case.DATIVE, "school", "zur Schule"),
        ("von", Case.DATIVE, "lake", "vom See"),
        ("bei", Case.DATIVE, "doctor", "beim Arzt"),
        ("mit", Case.DATIVE, "neighbour", "mit dem Nachbarn"),
        ("wegen", Case.GENITIVE, "storm", "wegen des Sturmes"),
    ],
)
def test_prepositions_contract_with_the_article(preposition: str, case: Case, noun: str, german: str) -> None:
    assert p.prepositional("", preposition, case, p.noun_phrase(nouns.named(noun), p.THE)).german == german


def test_prepositions_contract_with_nothing_else() -> None:
    this = p.noun_phrase(nouns.named("garden"), p.THIS)
    assert p.prepositional("in", "in", Case.DATIVE, this).german == "in diesem Garten"
    assert p.prepositional("to", "zu", Case.DATIVE, p.pronoun(Person.SHE)).german == "zu ihr"


def test_possession() -> None:
    car = p.noun_phrase(nouns.named("car"), p.THE)
    brother = p.noun_phrase(nouns.named("brother"), p.possessive(Person.I))
    built = p.genitive(car, brother)
    assert built.english == "my brother's car"
    assert built.german == (
        "das Auto meines Bruders", "das Auto meines Bruders", "dem Auto meines Bruders", "des Autos meines Bruders"
    )  # fmt: skip


def test_names() -> None:
    weber = p.proper_name("Mr Weber", Person.HE, "Herr Weber", "Herrn Weber")
    assert weber.german == ("Herr Weber", "Herrn Weber", "Herrn Weber", "Herr Webers")
    assert p.proper_name("Jonas", Person.HE).german[Case.GENITIVE] == "Jonas'"


@pytest.mark.parametrize(
    ("noun", "genitive"),
    [("Hund", "Hundes"), ("Haus", "Hauses"), ("Fluss", "Flusses"), ("Vater", "Vaters"), ("Auto", "Autos"),
     ("Tee", "Tees"), ("Platz", "Platzes"), ("Garten", "Gartens"), ("Tisch", "Tisches")],
)  # fmt: skip
def test_regular_genitives(noun: str, genitive: str) -> None:
    assert de.regular_genitive(noun) == genitive


def test_relative_pronouns() -> None:
    table = [[de.relative_pronoun(case, agreement) for agreement in Agreement] for case in (0, 1, 2)]  # type: ignore[arg-type]
    assert table == [["der", "die", "das", "die"], ["den", "die", "das", "die"], ["dem", "der", "dem", "denen"]]
