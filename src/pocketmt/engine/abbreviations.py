"""Abbreviations that a vocabulary does not know, written as words: "e.g." as "for example"."""

import re
from functools import cache
from typing import Final

from pocketmt.text.language_tags import primary_subtag
from pocketmt.text.vocabulary import Vocabulary

# A full stop after a single letter may be followed by a space; one after several letters may be left out after "~".
_WORDS: Final = {
    "en": {
        "e.g.": "for example",
        "i.e.": "that is",
        "etc~": "and so on",
        "vs~": "against",
        "approx.": "about",
        "incl.": "including",
    },
    "de": {
        "z.B.": "zum Beispiel",
        "d.h.": "das heißt",
        "u.a.": "unter anderem",
        "i.d.R.": "normalerweise",
        "usw~": "und so weiter",
        "etc~": "und so weiter",
        "bzw~": "oder",
        "ca.": "etwa",
        "inkl.": "mit",
        "evtl.": "vielleicht",
        "ggf.": "wenn nötig",
    },
}
_WITHOUT_STOP: Final = ("etc", "vs", "usw", "bzw")  # as they may be written
_GAP: Final = "[ \u00a0\u202f]?"
_ENDS_TEXT: Final = re.compile(r"[\s\"'“”’]*$")


class Abbreviations:
    """Writes abbreviations of source text as words, for one vocabulary."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._known: dict[str, bool] = {}

    def written_out(self, text: str, language: str) -> str:
        """Return a text whose abbreviations are words, unless the vocabulary has each as one piece.

        The full stop of one that ends the text stays.

        Args:
            text: any text.
            language: its code.
        """
        # Few sentences have a full stop before their end.
        if "." not in text[:-1] and not any(each in text for each in _WITHOUT_STOP):
            return text
        language = primary_subtag(language)
        if language not in _WORDS:
            return text
        return _pattern(language).sub(lambda match: self._words(match, language), text)

    def _words(self, match: re.Match[str], language: str) -> str:
        number = match.lastindex or 0
        abbreviation, words = list(_WORDS[language].items())[number - 1]
        if self._is_known(abbreviation.rstrip(".~")):
            return match[0]
        if match[0][0].isupper():
            words = words[0].upper() + words[1:]
        ends = match[0].endswith(".") and _ENDS_TEXT.match(match.string, match.end()) is not None
        return f"{words}." if ends else words

    def _is_known(self, abbreviation: str) -> bool:
        known = self._known.get(abbreviation)
        if known is None:
            known = self._known[abbreviation] = len(self._vocabulary.encode(abbreviation)) == 1
        return known


@cache
def _pattern(language: str) -> re.Pattern[str]:
    """Return the pattern of a language's abbreviations, a group each, also with a first capital."""
    groups = []
    for abbreviation in _WORDS[language]:
        first, rest, last = abbreviation[0], abbreviation[1:-1], abbreviation[-1]
        after = rest.replace(".", rf"\.{_GAP}") + (r"\." if last == "." else r"\.?")
        groups.append(f"([{first.upper()}{first}]{after})")
    return re.compile(rf"(?<![\w.])(?:{'|'.join(groups)})(?!\w)")
