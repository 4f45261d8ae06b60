"""The lexicon holds together: every class that is asked for exists, every word can occur, forms are complete."""

import re

import pytest

from examples.demo.corpus import generate
from examples.demo.corpus.grammar.german import Agreement, Case
from examples.demo.corpus.lexicon import adjectives, nouns, places, verbs
from examples.demo.corpus.lexicon.adjectives import ADJECTIVES
from examples.demo.corpus.lexicon.nouns import NOUNS
from examples.demo.corpus.lexicon.verbs import VERBS

CLASSES = {name for noun in NOUNS for name in noun.classes}


def test_it_is_of_several_hundred_words() -> None:
    assert len(NOUNS) + len(VERBS) + len(ADJECTIVES) > 300


def test_objects_of_verbs_exist() -> None:
    wanted = {name for verb in VERBS for slot in verb.frame for name in slot.classes}
    assert wanted <= CLASSES


def test_adjectives_go_with_nouns() -> None:
    for adjective in ADJECTIVES:
        assert adjective.classes, adjective.english
        assert set(adjective.classes) <= CLASSES | {"colour", "state", "trait"}, adjective.english


def test_verbs_go_with_places() -> None:
    wanted = {name for verb in VERBS for name in verb.places}
    assert wanted <= {name for place in places.PLACES for name in place.classes}
    for verb in VERBS:
        if verb.kinds == ("to",):
            assert places.directions(*verb.places), verb.name
        if verb.kinds == ("at",):
            assert places.locations(*verb.places), verb.name


def test_every_noun_occurs_in_the_corpus() -> None:
    words = set(re.findall(r"[\w-]+", " ".join(pair.german for pair in generate().training)))
    for noun in NOUNS:
        singular = {noun.german_form(case, False) for case in Case}
        plural = {noun.german_form(case, True) for case in Case} if noun.german_plural else set()
        assert words & (singular | plural), noun.english


def test_every_noun_has_a_singular_or_a_plural() -> None:
    for noun in NOUNS:
        assert bool(noun.english_plural) == bool(noun.german_plural), noun
        assert noun.english or noun.english_plural, noun


def test_feminine_nouns_do_not_change_in_the_singular() -> None:
    for noun in NOUNS:
        if noun.agreement is Agreement.FEMININE:
            assert len({noun.german_form(case, False) for case in Case}) == 1, noun.german


def test_weak_nouns_end_in_n_outside_the_nominative() -> None:
    weak = {noun.german for noun in NOUNS if noun.oblique != noun.german}
    assert weak == {
        "Nachbar", "Kollege", "Junge", "Polizist", "Student", "Journalist", "Bauer", "Pilot", "Kunde", "Tourist"
    }  # fmt: skip
    for noun in NOUNS:
        if noun.german in weak:
            assert (
                noun.german_form(Case.ACCUSATIVE, False) == noun.german_form(Case.GENITIVE, False) == noun.german_plural
            )


def test_unknown_words_and_classes_are_errors() -> None:
    with pytest.raises(KeyError, match="unicorn"):
        nouns.named("unicorn")
    with pytest.raises(KeyError, match="unicorns"):
        nouns.of_class("unicorns")
    with pytest.raises(KeyError, match="levitate"):
        verbs.named("levitate")
    with pytest.raises(KeyError, match="purple"):
        adjectives.named("purple")
