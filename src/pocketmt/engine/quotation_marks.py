"""Quotation marks that a vocabulary hardly knows, replaced by those that it knows."""

import re
from typing import Final

from pocketmt.engine.frequent_characters import frequent_characters
from pocketmt.text.language_tags import primary_subtag
from pocketmt.text.vocabulary import Vocabulary

_DOUBLE: Final = "“”„‟«»"
_MARKS: Final = re.compile(f"[{_DOUBLE}‘‚‹›´`]")
_SINGLE: Final = re.compile(r"(?<!\w)[‘‚‹›](?=\S)(?P<text>[^‘’‚‹›]{0,2000}[^\s‘’‚‹›])[’‘‹›](?!\w)")
_ACCENT: Final = re.compile(r"(?<=[^\W\d_])[´`](?=[^\W\d_])")
# Languages that quote „so“.
_LOW_OPENING: Final = frozenset(
    ("bg", "cs", "de", "et", "hr", "hu", "is", "lb", "lt", "mk", "pl", "ro", "sk", "sl", "sr")
)
_OPENS: Final = re.compile(r"(?:^|[\s(\[{–—-])$")


class QuotationMarks:
    """Replaces quotation marks of source text, for one vocabulary."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._frequent: frozenset[str] | None = None

    def replaced(self, text: str, language: str) -> str:
        """Return a text with quotation marks that the training text had.

        Double marks stay if the vocabulary has longer pieces with all of them: a mark that occurred often has such
        pieces. Others become „so“ in the languages that write it, or "so". Single marks around words become double ones
        if the text has no others and they are in no longer pieces, and an accent between letters becomes an apostrophe.

        Args:
            text: any text.
            language: its code.
        """
        if _MARKS.search(text) is None:
            return text
        marks = self._usual_marks(primary_subtag(language))
        if marks is not None and not self._are_usual(text, primary_subtag(language)):
            text = "".join(
                marks[_OPENS.search(text[max(place - 1, 0) : place]) is None] if character in _DOUBLE else character
                for place, character in enumerate(text)
            )
        if marks is not None and not self._is_frequent("‘") and not {*text} & {*_DOUBLE, '"'}:
            text = _SINGLE.sub(lambda match: f"{marks[0]}{match['text']}{marks[1]}", text)
        return _ACCENT.sub("’" if self._is_known("’") else "'", text)

    def _are_usual(self, text: str, language: str) -> bool:
        found = {character for character in text if character in _DOUBLE}
        if "“" in found and language not in _LOW_OPENING:
            found.add("”")  # “ may be known from another language, which quotes „so“.
        return all(map(self._is_frequent, found))

    def _usual_marks(self, language: str) -> tuple[str, str] | None:
        """Return the opening and the closing mark that the vocabulary knows; None: it knows no common ones."""
        if language in _LOW_OPENING and self._is_frequent("„") and self._is_frequent("“"):
            return "„", "“"
        return ('"', '"') if self._is_frequent('"') else None

    def _is_frequent(self, mark: str) -> bool:
        if self._frequent is None:
            self._frequent = frequent_characters(self._vocabulary)
        return mark in self._frequent

    def _is_known(self, mark: str) -> bool:
        return self._vocabulary.ids.unk not in self._vocabulary.encode(mark)
