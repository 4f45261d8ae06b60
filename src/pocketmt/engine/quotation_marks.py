"""Quotation marks that a vocabulary hardly knows, replaced by those that it knows."""

from typing import Final

from pocketmt.engine.frequent_characters import frequent_characters
from pocketmt.lazy_pattern import lazy_pattern
from pocketmt.text.language_tags import primary_subtag
from pocketmt.text.vocabulary import Vocabulary

_DOUBLE: Final = "“”„‟«»"
_MARKS: Final = lazy_pattern(f"[{_DOUBLE}‘‚‹›´`]")
_SINGLE: Final = lazy_pattern(
    r"(?<!\w)[‘‚‹›](?=\S)(?!(?:[Tt]is|[Tt]was|em|n)\b|\d)(?P<text>[^‘’‚‹›]{0,2000}[^\s‘’‚‹›])[’‘‹›](?!\w)"
)
_ACCENT: Final = lazy_pattern(r"(?<=[^\W\d_])[´`](?=[^\W\d_])")
# Languages that quote „so“.
_LOW_OPENING: Final = frozenset(
    ("bg", "cs", "de", "et", "hr", "hu", "is", "lb", "lt", "mk", "pl", "ro", "sk", "sl", "sr")
)
_OPENS: Final = lazy_pattern(r"(?:^|[\s(\[{:*_/–—-])$")


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
        language = primary_subtag(language)
        marks, found = self._usual_marks(language), _double_marks(text)
        if marks is not None and not self._are_usual(found, language):
            text = "".join(
                marks[_OPENS.search(text[max(place - 1, 0) : place]) is None] if character in found else character
                for place, character in enumerate(text)
            )
        if marks is not None and not any(map(self._is_frequent, {*text} & {*"‘‚‹›"})) and not {*text} & {*_DOUBLE, '"'}:
            text = _SINGLE.sub(lambda match: f"{marks[0]}{match['text']}{marks[1]}", text)
        apostrophe = "’" if self._is_known("’") else "'"
        return _ACCENT.sub(lambda match: match[0] if self._is_frequent(match[0]) else apostrophe, text)

    def _are_usual(self, found: set[str], language: str) -> bool:
        # “ may be known from another language, which quotes „so“.
        hidden = "”" if "“" in found and "„" not in found and language not in _LOW_OPENING else ""
        return all(map(self._is_frequent, found | {*hidden}))

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


def _double_marks(text: str) -> set[str]:
    """Return the double marks of a text, without « and » that are no pairs, as in "Home » News"."""
    found = {character for character in text if character in _DOUBLE}
    return found if text.count("«") == text.count("»") else found - {*"«»"}
