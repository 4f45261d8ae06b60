"""Sentences in capitals, of which most vocabularies have only single letters; models know them in lower case."""

from typing import Final

from pocketmt.text.letter_case import in_lower_case
from pocketmt.text.vocabulary import Vocabulary

_LEAST_PIECES: Final = 0.75  # of a letter, on average, where a vocabulary spells words by letters


def without_capitals(vocabulary: Vocabulary, sentence: str, language: str) -> str | None:
    """Return a sentence in capitals in lower case, with its first letter as it is; None if it is to stay.

    It stays if it has other letters than capitals, fewer than two of these, or if the vocabulary has pieces of several
    capitals for it.

    Args:
        vocabulary: of the source.
        sentence: any text.
        language: code of the source.
    """
    if not sentence.isupper():  # quick, since most sentences are not
        return None
    letters = [place for place, character in enumerate(sentence) if character.isalpha()]
    if len(letters) < 2 or not all(sentence[place].isupper() for place in letters):
        return None
    ids = vocabulary.encode(sentence)
    if len(ids) < _LEAST_PIECES * len(letters) and vocabulary.ids.unk not in ids:
        return None
    start = letters[0] + 1
    return sentence[:start] + in_lower_case(sentence[start:], language)
