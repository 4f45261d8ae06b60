"""Nouns in simple sentences, with the German forms of articles, adjectives and pronouns that go with them."""

import random
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from examples.everyday.phrase_book.tables import read_table

Pair = tuple[str, str]  # An English and a German line.

SENTENCES: Final = 20  # of each noun
MASS_SENTENCES: Final = 14
_GENDERS: Final = "mfn"
# Endings by case (nominative, accusative, dative), for masculine, feminine and neuter nouns.
_DEFINITE: Final = {"n": ("der", "die", "das"), "a": ("den", "die", "das"), "d": ("dem", "der", "dem")}
_AFTER_INDEFINITE: Final = {"n": ("er", "e", "es"), "a": ("en", "e", "es"), "d": ("en", "en", "en")}
_AFTER_DEFINITE: Final = {"n": ("e", "e", "e"), "a": ("en", "e", "e"), "d": ("en", "en", "en")}
_OF_INDEFINITE: Final = {"n": ("", "e", ""), "a": ("en", "e", ""), "d": ("em", "er", "em")}
_OF_DEMONSTRATIVE: Final = {"n": ("er", "e", "es"), "a": ("en", "e", "es"), "d": ("em", "er", "em")}
_DEMONSTRATIVES: Final = {"dies", "welch", "jed"}
_SLOT: Final = re.compile(r"\{(\w+)(?::(\w))?\}")
# Words before which "a" becomes "an": those that begin with the sound of a vowel.
_VOWEL: Final = re.compile(r"(?i)(?!uni|uri|use|usb|euro|ewe|one)[aeiou]|hour|honest|herb|x-ray|mri\b|sms")


class Noun(NamedTuple):
    """A noun in both languages; one without a plural, such as "milk", has empty ones."""

    english: str
    english_plural: str
    german: str
    gender: str
    german_plural: str

    def english_form(self, slot: str) -> str:
        """Return what stands for {a}, {noun} or {nouns} in an English sentence."""
        if slot == "a":
            return article_before(self.english)
        return {"noun": self.english, "nouns": self.english_plural}[slot]

    def german_form(self, slot: str, case: str) -> str:
        """Return what stands for a slot in a German sentence: {noun}, {nouns}, or a word with its ending in a case."""
        if slot == "noun":
            return self.german
        if slot == "nouns":
            needs_n = case == "d" and not self.german_plural.endswith(("n", "s"))
            return self.german_plural + ("n" if needs_n else "")
        gender = _GENDERS.index(self.gender)
        if slot == "der":
            return _DEFINITE[case][gender]
        if slot in ("mixed", "weak"):
            return (_AFTER_INDEFINITE if slot == "mixed" else _AFTER_DEFINITE)[case][gender]
        return slot + (_OF_DEMONSTRATIVE if slot in _DEMONSTRATIVES else _OF_INDEFINITE)[case][gender]


def article_before(word: str) -> str:
    """Return the English indefinite article before a word: "a" or "an"."""
    return "an" if _VOWEL.match(word) else "a"


def filled(sentence: Pair, noun: Noun) -> Pair:
    """Return a pair with a noun in its slots, such as ("I need {a} {noun}.", "Ich brauche {ein:a} {noun}.")."""
    english = _SLOT.sub(lambda slot: noun.english_form(slot[1]), sentence[0])
    german = _SLOT.sub(lambda slot: noun.german_form(slot[1], slot[2] or "n"), sentence[1])
    if not sentence[0].endswith((".", "?", "!")) and not sentence[0][0].isupper():
        return english, german  # A phrase in lower case, neither a sentence nor a label.
    return english[0].upper() + english[1:], german[0].upper() + german[1:]


def nouns() -> list[Noun]:
    """Return the nouns of the phrase book that have a plural."""
    return [Noun(*row) for row in read_table("nouns", 5)]


def mass_nouns() -> list[Noun]:
    """Return the nouns without a plural."""
    return [Noun(english, "", german, gender, "") for english, german, gender in read_table("mass_nouns", 3)]


def noun_pairs(draw: random.Random) -> Iterator[Pair]:
    """Yield each noun in some of the sentences."""
    sentences = [(english, german) for english, german in read_table("carriers", 2)]
    for noun in nouns():
        yield from (filled(sentence, noun) for sentence in draw.sample(sentences, SENTENCES))
    sentences = [(english, german) for english, german in read_table("mass_carriers", 2)]
    for noun in mass_nouns():
        yield from (filled(sentence, noun) for sentence in draw.sample(sentences, MASS_SENTENCES))
