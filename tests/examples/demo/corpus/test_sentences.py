"""Sentences with words in them that single constructions add, against what is right by hand."""

from collections.abc import Iterator

import pytest

from examples.demo.corpus.draw import Draw
from examples.demo.corpus.generation import CONSTRUCTIONS
from examples.demo.corpus.sentences import situations, subordinate, surroundings

MAKERS = {name: make for name, make, _ in CONSTRUCTIONS}


def drawn(construction: str, count: int = 3000) -> Iterator[tuple[str, str]]:
    draw = Draw(11)
    return (MAKERS[construction](draw) for _ in range(count))


# A sentence that the construction must find among its first few thousand, word for word in both languages.
@pytest.mark.parametrize(
    ("construction", "english", "german"),
    [
        ("profession", "She is a doctor.", "Sie ist Ärztin."),
        ("profession", "He isn't a doctor.", "Er ist kein Arzt."),
        ("profession", "She isn't a teacher.", "Sie ist keine Lehrerin."),
        ("weather", "It is raining today.", "Es regnet heute."),
        ("health", "My back hurts.", "Mein Rücken tut weh."),
        ("health", "Her feet hurt.", "Ihre Füße tun weh."),
        ("health", "I have a headache.", "Ich habe Kopfschmerzen."),
        ("health", "She has a cold.", "Sie hat eine Erkältung."),
        ("there is", "There is a hotel here.", "Es gibt ein Hotel hier."),
        ("meeting people", "Good morning, Anna!", "Guten Morgen, Anna!"),
        ("meeting people", "Do you come from Spain?", "Kommen Sie aus Spanien?"),
        ("pastime", "He likes to swim.", "Er schwimmt gern."),
        ("pastime", "They prefer to play chess.", "Sie spielen lieber Schach."),
        ("liking", "Do you like music?", "Mögen Sie Musik?"),
        ("how many", "How much money do you need?", "Wie viel Geld brauchen Sie?"),
        ("way", "How do I get to the museum?", "Wie komme ich zum Museum?"),
        ("daily routine", "When do you get up?", "Wann stehen Sie auf?"),
        ("before, while, until", "I will wait until Anna comes.", "Ich werde warten, bis Anna kommt."),
        ("perfect", "She has just swum.", "Sie ist gerade geschwommen."),
    ],
)
def test_construction_makes(construction: str, english: str, german: str) -> None:
    assert (english, german) in drawn(construction, 12_000)


def test_unreal_conditions_agree() -> None:
    found = {
        tuple(sentence.split(",")[0] for sentence in subordinate.would(draw)) for draw in [Draw(3)] for _ in range(4000)
    }
    assert ("If I had a car", "Wenn ich ein Auto hätte") in found
    assert ("If we were rich", "Wenn wir reich wären") in found
    assert ("If they were not ill", "Wenn sie nicht krank wären") in found


def test_amounts_follow_their_container_without_a_preposition() -> None:
    draw = Draw(5)
    amounts = {situations.amount(draw, served) for served in (True, False) for _ in range(2000)}
    found = {(amount.english, *amount.german[1:3]) for amount in amounts}
    assert ("a cup of tea", "eine Tasse Tee", "einer Tasse Tee") in found
    assert ("two glasses of water", "zwei Gläser Wasser", "zwei Gläsern Wasser") in found
    assert ("three kilos of apples", "drei Kilo Äpfel", "drei Kilo Äpfel") in found
    assert ("a piece of cake", "ein Stück Kuchen", "einem Stück Kuchen") in found


def test_things_are_put_somewhere_in_the_accusative_and_are_there_in_the_dative() -> None:
    draw = Draw(7)
    put = {surroundings.put(draw)[1].rstrip(".") for _ in range(4000)}
    are = {surroundings.where_things_are(draw)[1].rstrip(".?") for _ in range(4000)}
    assert any(" auf den Tisch" in sentence for sentence in put)
    assert not any(" auf dem Tisch" in sentence for sentence in put)
    assert any(" auf dem Tisch" in sentence for sentence in are)
    assert not any(" auf den Tisch" in sentence for sentence in are)


def test_for_and_since_are_perfect_in_english_and_present_in_german() -> None:
    for english, german in drawn("for and since", 300):
        assert " has " in english or " have " in english
        assert " for " in english or " since " in english
        assert " seit " in german
        assert not german.endswith(("gewohnt.", "gearbeitet.", "gelernt.", "gewartet.", "gehabt.", "gewesen."))
