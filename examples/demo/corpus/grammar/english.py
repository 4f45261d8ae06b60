"""English inflection: a and an, plurals, verb forms, auxiliaries with and without not."""

from dataclasses import dataclass
from enum import Enum

_DOUBLED = frozenset(
    ("cancel", "cut", "drop", "forget", "get", "plan", "put", "run", "shop", "sit", "stop", "swim", "travel", "win")
)
_AN = ("hour", "honest")
_NOT_AN = ("uni", "use", "euro", "one")


def indefinite_article(following: str) -> str:
    """Return "a" or "an" for the words that follow, by sound."""
    vowel = following[0].lower() in "aeiou" and not following.lower().startswith(_NOT_AN)
    return "an" if (vowel and not following.startswith("unif")) or following.startswith(_AN) else "a"


def regular_plural(noun: str) -> str:
    """Return the plural of a noun without an irregular one."""
    if noun.endswith(("s", "x", "ch", "sh")):
        return noun + "es"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + "s"


def third_person(base: str) -> str:
    """Return the third person singular of the present tense."""
    if base == "have":
        return "has"
    return base + "es" if base.endswith("o") else regular_plural(base)


def gerund(base: str) -> str:
    """Return the -ing form."""
    if base.endswith("ie"):
        return base[:-2] + "ying"
    if base.endswith("e") and not base.endswith("ee") and base != "be":
        return base[:-1] + "ing"
    return (base + base[-1] if base in _DOUBLED else base) + "ing"


def regular_past(base: str) -> str:
    """Return the past tense of a regular verb."""
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ied"
    return (base + base[-1] if base in _DOUBLED else base) + "ed"


@dataclass(frozen=True)
class EnglishVerb:
    """An English verb; a `particle` follows it ("up", "for"), behind a pronoun where `movable` ("picks him up")."""

    base: str
    past: str
    participle: str
    particle: str = ""
    movable: bool = False
    stative: bool = False  # has no progressive


def english_verb(row: str) -> EnglishVerb:
    """Build a verb from "base[*] [past participle] [+particle or ~particle]".

    "*" marks a stative verb, "~" a movable particle; "_" stands for a space.
    """
    words = row.split()
    particle, movable = "", False
    if words[-1][0] in "+~":
        movable = words[-1][0] == "~"
        particle = words.pop()[1:].replace("_", " ")
    base = words[0].removesuffix("*")
    past = words[1] if len(words) > 1 else regular_past(base)
    participle = words[2] if len(words) > 2 else past
    return EnglishVerb(base, past, participle, particle, movable, words[0].endswith("*"))


class Tense(Enum):
    """Tenses, named by their English form. In German: present, present, perfect (or preterite), perfect, future."""

    PRESENT = "present"
    PROGRESSIVE = "progressive"
    PAST = "past"
    PERFECT = "perfect"
    FUTURE = "future"


_BE_PRESENT = ("am", "is", "are")
_BE_PAST = ("was", "was", "were")
_IRREGULAR_NOT = {"am": "am not", "can": "can't", "will": "won't"}


def verb_words(verb: EnglishVerb, slot: int, tense: Tense, supported: bool) -> tuple[str, str]:
    """Return (auxiliary, main verb), either of which may be empty.

    Args:
        verb: the verb; "be" is its own auxiliary.
        slot: 0 for I, 1 for he, she, it, 2 for we, you, they.
        tense: the tense.
        supported: whether an auxiliary is needed (negation, question), so that "do" is added if there is none.
    """
    base = verb.base
    match tense:
        case Tense.FUTURE:
            return "will", base
        case Tense.PERFECT:
            return ("has" if slot == 1 else "have"), verb.participle
        case Tense.PROGRESSIVE:
            return _BE_PRESENT[slot], gerund(base)
        case Tense.PRESENT if base == "be":
            return _BE_PRESENT[slot], ""
        case Tense.PAST if base == "be":
            return _BE_PAST[slot], ""
        case Tense.PRESENT if supported:
            return ("does" if slot == 1 else "do"), base
        case Tense.PRESENT:
            return "", third_person(base) if slot == 1 else base
        case _:
            return ("did", base) if supported else ("", verb.past)


def negated(auxiliary: str) -> str:
    """Return an auxiliary with not, contracted."""
    return _IRREGULAR_NOT.get(auxiliary, auxiliary + "n't")
