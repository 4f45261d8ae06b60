"""Text in lower case and in capitals, by the rules of its language."""

import unicodedata
from typing import Final

from pocketmt.text.language_tags import primary_subtag

_DOTTED: Final = ("tr", "az")  # Languages with a dotted and a dotless I.
_ACUTE: Final = "\u0301"


def in_lower_case(text: str, language: str) -> str:
    """Return a text in lower case; `language` is its code."""
    if primary_subtag(language) in _DOTTED:
        text = text.replace("I", "ı").replace("İ", "i")
    return text.lower()


def in_capitals(text: str, language: str) -> str:
    """Return a text in capitals, in Greek without acute accents; `language` is its code."""
    if primary_subtag(language) in _DOTTED:
        text = text.replace("i", "İ")
    elif primary_subtag(language) == "el":
        text = unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).replace(_ACUTE, ""))
    return text.upper()
