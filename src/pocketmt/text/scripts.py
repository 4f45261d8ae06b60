"""Which letters a language is written with, and how much of a text they are."""

import unicodedata
from collections.abc import Sequence
from typing import Final

from pocketmt.errors import ConfigurationError

# Beginnings of Unicode names of characters -> ISO 639-1 codes of the languages that are written with them.
_LANGUAGES: Final[dict[tuple[str, ...], str]] = {
    ("LATIN",): (
        "af an az br bs ca co cs cy da de en eo es et eu fi fo fr fy ga gd gl ha hr ht hu id ig is it jv ku la lb lt "
        "lv mg mi ms mt nb nl nn no oc pl pt qu ro rw se sk sl sm sn so sq st su sv sw tk tl tr uz vi wa xh yo zu"
    ),
    ("CYRILLIC",): "ba be bg ce cv kk ky mk mn os ru tg tt uk",
    ("CYRILLIC", "LATIN"): "sr",
    ("GREEK",): "el",
    ("ARABIC",): "ar fa ps sd ug ur",
    ("HEBREW",): "he yi",
    ("DEVANAGARI",): "hi mr ne sa",
    ("BENGALI",): "as bn",
    ("GURMUKHI",): "pa",
    ("GUJARATI",): "gu",
    ("ORIYA",): "or",
    ("TAMIL",): "ta",
    ("TELUGU",): "te",
    ("KANNADA",): "kn",
    ("MALAYALAM",): "ml",
    ("SINHALA",): "si",
    ("THAI",): "th",
    ("LAO",): "lo",
    ("KHMER",): "km",
    ("MYANMAR",): "my",
    ("TIBETAN",): "bo dz",
    ("GEORGIAN",): "ka",
    ("ARMENIAN",): "hy",
    ("ETHIOPIC",): "am ti",
    ("HANGUL",): "ko",
    ("CJK UNIFIED", "CJK COMPATIBILITY"): "zh",
    ("CJK UNIFIED", "CJK COMPATIBILITY", "HIRAGANA", "KATAKANA"): "ja",
}
_SCRIPTS: Final = {language: script for script, languages in _LANGUAGES.items() for language in languages.split()}


class Letters(dict[str, bool]):
    """Character -> whether it is a letter, or a sign above or below one, of a language's script; filled as asked."""

    def __init__(self, language: str) -> None:
        """Know a language by its ISO 639-1 code; ConfigurationError where its script is not known."""
        if language not in _SCRIPTS:
            known = ", ".join(sorted(_SCRIPTS))
            raise ConfigurationError(f"no script is known for the language {language!r}: give one of {known}")
        self._script = _SCRIPTS[language]

    def __missing__(self, character: str) -> bool:
        named = unicodedata.name(character, "").startswith(self._script)
        self[character] = belongs = named and unicodedata.category(character)[0] in "LM"
        return belongs

    def count(self, words: Sequence[str]) -> int:
        """Return how many characters of words are the script's."""
        return sum(sum(map(self.__getitem__, word)) for word in words)
