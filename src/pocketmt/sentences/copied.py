"""Sentences that are copied instead of translated: those without words, and what is no text."""

import re
import unicodedata
from functools import cache
from typing import Final, NamedTuple

from pocketmt.sentences.protected import has_words
from pocketmt.sentences.scripts import WITHOUT_SPACES

LONGEST_WORD: Final = 1000  # characters
_LEAST_UNREADABLE: Final = 8  # characters
_MOST_UNREADABLE: Final = 0.3  # of the characters that are not white space
_UNREADABLE: Final = ("Cc", "Co", "Cn", "Cs")


class Reason(NamedTuple):
    """Why a text is copied although it may have words.

    Attributes:
        text: of a warning.
        argument: of Python that sets the limit which the text exceeds; empty: no argument sets one.
    """

    text: str
    argument: str = ""


WITHOUT_WORDS: Final = Reason("")  # Nothing to warn about.


def reason_to_copy(sentence: str, longest: int) -> Reason | None:
    """Return why a sentence is not translated: WITHOUT_WORDS if it has none, else a reason to warn about.

    None: it is to be translated. `longest` is the most characters of a sentence.
    """
    if len(sentence) > longest:
        return Reason(f"a sentence has {len(sentence):,} characters; the limit is {longest:,}", "longest_sentence")
    if not sentence.isprintable() or "\ufffd" in sentence:
        visible = [character for character in sentence if not character.isspace()]
        unreadable = sum(each == "\ufffd" or unicodedata.category(each) in _UNREADABLE for each in visible)
        if unreadable >= _LEAST_UNREADABLE and unreadable > _MOST_UNREADABLE * len(visible):
            return Reason(f"{unreadable:,} of {len(visible):,} characters are not text")
    return None if has_words(sentence) else WITHOUT_WORDS


def long_words(sentence: str) -> list[tuple[int, int]]:
    """Return start and end of the words that are too long to be words."""
    return [match.span() for match in _long_word().finditer(sentence)] if len(sentence) > LONGEST_WORD else []


@cache
def _long_word() -> re.Pattern[str]:
    """Return the pattern of a word that is too long; few texts need it, and it takes milliseconds to compile."""
    return re.compile(rf"(?<![^\s{WITHOUT_SPACES}])[^\s{WITHOUT_SPACES}]{{{LONGEST_WORD + 1},}}")
