"""Verb forms of both languages against tables written by hand."""

import pytest

from examples.demo.corpus.grammar import english as en
from examples.demo.corpus.grammar.english import Tense
from examples.demo.corpus.grammar.german import german_verb
from examples.demo.corpus.lexicon import verbs


# Infinitive, ich, er, sie, participle, infinitive with zu.
@pytest.mark.parametrize(
    ("row", "forms"),
    [
        ("kaufen", "kaufen|kaufe|kauft|kaufen|gekauft|zu kaufen"),
        ("arbeiten", "arbeiten|arbeite|arbeitet|arbeiten|gearbeitet|zu arbeiten"),
        ("öffnen", "öffnen|öffne|öffnet|öffnen|geöffnet|zu öffnen"),
        ("lernen", "lernen|lerne|lernt|lernen|gelernt|zu lernen"),
        ("wohnen", "wohnen|wohne|wohnt|wohnen|gewohnt|zu wohnen"),
        ("regnen", "regnen|regne|regnet|regnen|geregnet|zu regnen"),
        ("reparieren", "reparieren|repariere|repariert|reparieren|repariert|zu reparieren"),
        ("besuchen", "besuchen|besuche|besucht|besuchen|besucht|zu besuchen"),
        ("erzählen", "erzählen|erzähle|erzählt|erzählen|erzählt|zu erzählen"),
        ("lesen liest gelesen", "lesen|lese|liest|lesen|gelesen|zu lesen"),
        ("gehen - gegangen sein", "gehen|gehe|geht|gehen|gegangen|zu gehen"),
        ("ein|laden lädt eingeladen", "einladen|lade|lädt|laden|eingeladen|einzuladen"),
        ("ab|holen", "abholen|hole|holt|holen|abgeholt|abzuholen"),
        ("vor|bereiten", "vorbereiten|bereite|bereitet|bereiten|vorbereitet|vorzubereiten"),
        ("spazieren_|gehen - spazieren_gegangen sein",
         "spazieren gehen|gehe|geht|gehen|spazieren gegangen|spazieren zu gehen"),
        ("sich kümmern", "kümmern|kümmere|kümmert|kümmern|gekümmert|zu kümmern"),
    ],
)  # fmt: skip
def test_german_forms(row: str, forms: str) -> None:
    verb = german_verb(row)
    assert "|".join((verb.whole, *verb.present, verb.participle, verb.with_zu)) == forms
    assert verb.reflexive == row.startswith("sich")
    assert verb.auxiliary is not None
    assert verb.auxiliary.infinitive == ("sein" if row.endswith("sein") else "haben")


@pytest.mark.parametrize(
    ("base", "third", "gerund", "past"),
    [
        ("watch", "watches", "watching", "watched"),
        ("carry", "carries", "carrying", "carried"),
        ("play", "plays", "playing", "played"),
        ("dance", "dances", "dancing", "danced"),
        ("plan", "plans", "planning", "planned"),
        ("travel", "travels", "travelling", "travelled"),
        ("open", "opens", "opening", "opened"),
        ("visit", "visits", "visiting", "visited"),
    ],
)
def test_english_forms(base: str, third: str, gerund: str, past: str) -> None:
    assert (en.third_person(base), en.gerund(base), en.regular_past(base)) == (third, gerund, past)


def test_irregular_english_third_person() -> None:
    assert [en.third_person(base) for base in ("have", "go", "do", "miss")] == ["has", "goes", "does", "misses"]


@pytest.mark.parametrize(
    ("following", "article"),
    [("old car", "an"), ("big apple", "a"), ("umbrella", "an"), ("hour", "an"), ("university", "a"), ("uniform", "a"),
     ("used car", "a"), ("one-way ticket", "a"), ("honest man", "an"), ("house", "a"), ("uncle", "an"),
     ("interesting book", "an")],
)  # fmt: skip
def test_a_or_an_by_sound(following: str, article: str) -> None:
    assert en.indefinite_article(following) == article


@pytest.mark.parametrize(
    ("noun", "plural"),
    [("cat", "cats"), ("box", "boxes"), ("church", "churches"), ("city", "cities"), ("boy", "boys"), ("bus", "buses")],
)
def test_english_plurals(noun: str, plural: str) -> None:
    assert en.regular_plural(noun) == plural


@pytest.mark.parametrize(
    ("tense", "supported", "expected"),
    [
        (Tense.PRESENT, False, [("", "go"), ("", "goes"), ("", "go")]),
        (Tense.PRESENT, True, [("do", "go"), ("does", "go"), ("do", "go")]),
        (Tense.PROGRESSIVE, False, [("am", "going"), ("is", "going"), ("are", "going")]),
        (Tense.PAST, False, [("", "went")] * 3),
        (Tense.PAST, True, [("did", "go")] * 3),
        (Tense.PERFECT, False, [("have", "gone"), ("has", "gone"), ("have", "gone")]),
        (Tense.FUTURE, False, [("will", "go")] * 3),
    ],
)
def test_do_support_and_auxiliaries(tense: Tense, supported: bool, expected: list[tuple[str, str]]) -> None:
    verb = en.english_verb("go went gone")
    assert [en.verb_words(verb, slot, tense, supported) for slot in range(3)] == expected


def test_be_is_its_own_auxiliary() -> None:
    verb = en.english_verb("be was been")
    assert [en.verb_words(verb, slot, Tense.PRESENT, True) for slot in range(3)] == [
        ("am", ""),
        ("is", ""),
        ("are", ""),
    ]
    assert [en.verb_words(verb, slot, Tense.PAST, True) for slot in range(3)] == [
        ("was", ""),
        ("was", ""),
        ("were", ""),
    ]


def test_contracted_negation() -> None:
    assert [en.negated(word) for word in ("can", "will", "am", "does")] == ["can't", "won't", "am not", "doesn't"]


def test_every_verb_of_the_lexicon_is_found_by_a_name_of_its_own() -> None:
    objects = {verb.name: verb for verb in reversed(verbs.VERBS)}
    assert all(verbs.named(name) is verb for name, verb in objects.items())
    # "answer" takes a person in the dative ("antworten") or a thing ("beantworten").
    assert len(objects) == len(verbs.VERBS) - 1
