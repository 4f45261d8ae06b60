"""German inflection: cases, articles, adjective endings, nouns, verbs in the three persons that the corpus uses."""

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Literal


class Case(IntEnum):
    """The four cases, in the order of every table here."""

    NOMINATIVE = 0
    ACCUSATIVE = 1
    DATIVE = 2
    GENITIVE = 3


class Agreement(IntEnum):
    """What articles, adjectives and pronouns agree with: a gender, or the plural, where genders fall together."""

    MASCULINE = 0
    FEMININE = 1
    NEUTER = 2
    PLURAL = 3


class Slot(IntEnum):
    """Forms of a German verb. "du" and "ihr" do not occur: "you" is always the polite "Sie", in the plural's form."""

    ICH = 0
    ER = 1
    SIE = 2


ArticleKind = Literal["definite", "dieser", "ein", "strong", "invariant"]
Table = tuple[tuple[str, ...], ...]


def _table(text: str) -> Table:
    """Rows are cases, columns agreements; "-" is no ending."""
    return tuple(tuple(cell.replace("-", "") for cell in row.split()) for row in text.split("|"))


_DEFINITE = _table("der die das die | den die das die | dem der dem den | des der des der")
_DIESER = _table("er e es e | en e es e | em er em en | es er es er")
_EIN = _table("- e - e | en e - e | em er em en | es er es er")
_STRONG = _table("er e es e | en e es e | em er em en | en er en er")
_WEAK = _table("e e e en | en e e en | en en en en | en en en en")
_MIXED = _table("er e es en | en e es en | en en en en | en en en en")
_RELATIVE = _table("der die das die | den die das die | dem der dem denen | dessen deren dessen deren")
_PERSONAL = _table("er sie es sie | ihn sie es sie | ihm ihr ihm ihnen | - - - -")


def article(stem: str, kind: ArticleKind, case: Case, agreement: Agreement) -> str:
    """Return a determiner's form; `stem` is "dies", "mein", "einig" or an invariant word such as "zwei" or ""."""
    match kind:
        case "definite":
            return _DEFINITE[case][agreement]
        case "dieser":
            return stem + _DIESER[case][agreement]
        case "ein":
            return stem + _EIN[case][agreement]
        case "strong":
            return stem + _STRONG[case][agreement]
        case "invariant":
            return stem


def adjective_ending(kind: ArticleKind, case: Case, agreement: Agreement) -> str:
    """Return the ending after a determiner: weak after der and dieser, mixed after ein and mein, else strong."""
    table = _WEAK if kind in ("definite", "dieser") else _MIXED if kind == "ein" else _STRONG
    return table[case][agreement]


def relative_pronoun(case: Case, agreement: Agreement) -> str:
    """Return der, die, das, ... as a relative pronoun."""
    return _RELATIVE[case][agreement]


def third_person_pronoun(case: Case, agreement: Agreement) -> str:
    """Return er, sie, es, ... in any case but the genitive."""
    return _PERSONAL[case][agreement]


_CONTRACTIONS = {
    ("an", "das"): "ans",
    ("an", "dem"): "am",
    ("bei", "dem"): "beim",
    ("in", "das"): "ins",
    ("in", "dem"): "im",
    ("von", "dem"): "vom",
    ("zu", "dem"): "zum",
    ("zu", "der"): "zur",
}


def join_preposition(preposition: str, noun_phrase: str) -> str:
    """Put a preposition before a noun phrase that begins with no pronoun, contracting it with a definite article."""
    first, _, rest = noun_phrase.partition(" ")
    contraction = _CONTRACTIONS.get((preposition, first))
    return f"{contraction} {rest}" if contraction and rest else f"{preposition} {noun_phrase}"


def plural_in_case(plural: str, case: Case) -> str:
    """Return a plural noun in a case: the dative adds -n, unless the plural ends in -n or -s."""
    return plural + "n" if case is Case.DATIVE and plural[-1] not in "ns" else plural


def regular_genitive(noun: str) -> str:
    """Return the genitive of a masculine or neuter noun, not weak: -es after a hiss or one syllable, else -s."""
    if noun.endswith(("s", "ß", "x", "z", "sch")):
        return noun + "es"
    return noun + ("es" if _syllables(noun) == 1 and noun[-1] not in "aeiouy" else "s")


def _syllables(word: str) -> int:
    count, in_vowel = 0, False
    for letter in word.lower():
        vowel = letter in "aeiouyäöü"
        count += vowel and not in_vowel
        in_vowel = vowel
    return count


@dataclass(frozen=True)
class GermanVerb:
    """A German verb in the forms that the corpus uses."""

    infinitive: str  # without a separable prefix: "stehen"
    present: tuple[str, str, str]  # ich, er, sie: "stehe", "steht", "stehen"
    participle: str  # "aufgestanden"
    auxiliary: "GermanVerb | None" = None  # of the perfect tense
    prefix: str = ""  # separable: "auf"; with a space if written as a separate word: "spazieren "
    reflexive: bool = False
    preterite: tuple[str, str, str] | None = None  # given for verbs whose everyday past is the preterite

    @cached_property
    def whole(self) -> str:
        """The infinitive with its prefix: "aufstehen"."""
        return self.prefix + self.infinitive

    @cached_property
    def with_zu(self) -> str:
        """The infinitive with zu: "zu stehen", "aufzustehen", "spazieren zu gehen"."""
        if self.prefix and not self.prefix.endswith(" "):
            return f"{self.prefix}zu{self.infinitive}"
        return f"{self.prefix}zu {self.infinitive}"


HABEN = GermanVerb("haben", ("habe", "hat", "haben"), "gehabt", preterite=("hatte", "hatte", "hatten"))
SEIN = GermanVerb("sein", ("bin", "ist", "sind"), "gewesen", preterite=("war", "war", "waren"))
WERDEN_PRESENT = ("werde", "wird", "werden")
WUERDE = ("würde", "würde", "würden")
_INSEPARABLE = ("be", "emp", "ent", "er", "ge", "miss", "ver", "zer")


def german_verb(row: str) -> GermanVerb:
    """Build a verb from "[sich ][prefix|]infinitive [er-form or -] [participle or -] [sein]".

    What is missing or "-" is regular. "_" stands for a space inside a prefix.
    """
    words = row.split()
    reflexive = words[0] == "sich"
    words = words[reflexive:]
    with_sein = words[-1] == "sein" and len(words) > 1
    words = words[: len(words) - with_sein]
    prefix, _, infinitive = words[0].rpartition("|")
    prefix = prefix.replace("_", " ")
    if infinitive in ("haben", "sein"):
        return HABEN if infinitive == "haben" else SEIN
    given = dict(enumerate(words[1:]))
    stem = infinitive.removesuffix("en") if infinitive.endswith("en") else infinitive.removesuffix("n")
    third = given.get(0, "-")
    participle = given.get(1, "-")
    return GermanVerb(
        infinitive=infinitive,
        present=(stem + "e", _third_person(stem) if third == "-" else third, infinitive),
        participle=_weak_participle(prefix, stem) if participle == "-" else participle.replace("_", " "),
        auxiliary=SEIN if with_sein else HABEN,
        prefix=prefix,
        reflexive=reflexive,
    )


def _third_person(stem: str) -> str:
    """-et after d, t, and m or n that follow a consonant other than l, r, h, m, n; else -t."""
    nasal = stem[-1] in "mn" and stem[-2] not in "aeiouäöülrhmn"
    return stem + ("et" if stem[-1] in "dt" or nasal else "t")


def _weak_participle(prefix: str, stem: str) -> str:
    without_ge = stem.endswith("ier") or stem.startswith(_INSEPARABLE) or (prefix and stem.startswith("bereit"))
    return f"{prefix}{'' if without_ge else 'ge'}{_third_person(stem)}"
