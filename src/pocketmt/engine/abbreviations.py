"""Abbreviations that a vocabulary does not know, written as words: "etc." as "and so on"."""

import re
from functools import cache
from typing import Final

from pocketmt.lazy_pattern import lazy_pattern
from pocketmt.text.language_tags import primary_subtag
from pocketmt.text.vocabulary import Vocabulary

# A full stop after a single letter may be followed by a space; one after several letters may be left out for "~". The
# bundled models translate "for example" worse than "such as".
_WORDS: Final = {
    "en": {"e.g.": "such as", "i.e.": "that is", "etc.": "and so on", "vs~": "against", "approx.": "about"},
    "de": {
        "z.B.": "zum Beispiel",
        "d.h.": "das heißt",
        "u.a.": "auch",
        "i.d.R.": "normalerweise",
        "usw~": "und so weiter",
        "etc.": "und so weiter",
        "bzw~": "oder",
        "ca.": "etwa",
        "inkl.": "mit",
        "evtl.": "vielleicht",
        "ggf.": "wenn nötig",
    },
}
_MAY_END: Final = ("etc", "vs", "usw", "bzw")  # a text, or have no full stop
_NEVER_FIRST: Final = ("approx.",)  # "About 5" could become "Über 5", which is more than 5.
_END_LISTS: Final = ("etc.", "usw~")
_GAP: Final = "[ \u00a0\u202f]?"
# Signs of paths, options, code and variables.
_BEFORE: Final = r"(?<![\w./\\~$@#`{-])"
_AFTER: Final = r"(?![\w/\\~`}@-])"
_ENDS_TEXT: Final = lazy_pattern(r"[\s\"'“”’]*$")
_NEXT_SENTENCE: Final = lazy_pattern(r"\s+[A-ZÄÖÜ]")


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
        if "." not in text[:-1] and not any(each in text for each in _MAY_END):
            return text
        language = primary_subtag(language)
        if language not in _WORDS:
            return text
        return _pattern(language).sub(lambda match: self._words(match, language), text)

    def _words(self, match: re.Match[str], language: str) -> str:
        number = match.lastindex or 0
        abbreviation, words = list(_WORDS[language].items())[number - 1]
        begins = match[0][0].isupper()
        if self._is_known(abbreviation.rstrip(".~")) or (begins and abbreviation in _NEVER_FIRST):
            return match[0]
        if begins:
            words = words[0].upper() + words[1:]
        text, end = match.string, match.end()
        ends = _ENDS_TEXT.match(text, end) or (abbreviation in _END_LISTS and _NEXT_SENTENCE.match(text, end))
        return f"{words}." if ends and match[0].endswith(".") else words

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
        after = rest.replace(".", rf"\.{_GAP}") + (r"\.(?!\.)" if last == "." else r"(?:\.(?!\.))?")
        groups.append(f"([{first.upper()}{first}]{after})")
    return re.compile(f"{_BEFORE}(?:{'|'.join(groups)}){_AFTER}")
