"""Text in lower case and in capitals, by the rules of its language."""

import unicodedata
from typing import Final, Literal

from pocketmt.text.language_tags import primary_subtag

_DOTTED: Final = ("tr", "az")  # Languages with a dotted and a dotless I.
# Which letters of a text are capitals, whatever the others are.
Capitals = Literal["none", "first", "all"]
NO_CAPITALS: Final[Capitals] = "none"
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


def with_capitals(text: str, capitals: Capitals, language: str) -> str:
    """Return a text with its first character, or all of it, in capitals; `language` is its code.

    A first word with another capital, such as "iPhone", stays as it is.
    """
    if capitals == "all":
        return in_capitals(text, language)
    if capitals == NO_CAPITALS or any(map(str.isupper, text[1:].partition(" ")[0])):
        return text
    return in_capitals(text[:1], language) + text[1:]


def without_accents(text: str) -> str:
    """Return a text without the marks that belong to letters."""
    return "".join(each for each in unicodedata.normalize("NFD", text) if unicodedata.category(each) != "Mn")


def folded(text: str) -> str:
    """Return a text in which neither case nor accents count."""
    return without_accents(text).lower()
