"""Numbers of words, also of scripts without spaces between words, and the comparison of source and translation."""

import re
from functools import cache
from typing import Final

from pocketmt.lazy_pattern import lazy_pattern
from pocketmt.sentences.scripts import WITHOUT_SPACES

_WORD: Final = lazy_pattern(r"\w+")
_CHARACTERS_OF_WORD: Final = 2  # Mean of a word in a script without spaces.

# A translation is suspicious if its number of words is below FEWEST x source words - MARGIN_BELOW, or above
# MOST x source words + MARGIN_ABOVE. docs/appendices/sentences.md says how often that is so for human translations.
FEWEST: Final = 0.5
MARGIN_BELOW: Final = 2
MOST: Final = 2.5
MARGIN_ABOVE: Final = 10


def count_words(text: str) -> float:
    """Return the number of words; two characters of a script without spaces count as one word."""
    if max(text, default="") < WITHOUT_SPACES[0]:
        return len(_WORD.findall(text))
    word, unspaced_character = _patterns()
    unspaced = len(unspaced_character.findall(text))
    return len(word.findall(text)) - unspaced + unspaced / _CHARACTERS_OF_WORD


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of a word or a character without spaces, and of the latter; compiling takes milliseconds."""
    return re.compile(rf"[^\W{WITHOUT_SPACES}]+|[{WITHOUT_SPACES}]"), re.compile(rf"[{WITHOUT_SPACES}]")


def is_too_short(source: float, translation: float) -> bool:
    """Whether a translation has fewer words, compared with its source, than a complete one."""
    return translation < FEWEST * source - MARGIN_BELOW


def is_too_long(source: float, translation: float) -> bool:
    """Whether a translation has more words, compared with its source, than one that does not repeat itself."""
    return translation > MOST * source + MARGIN_ABOVE
