"""Sentences in capitals, of which most vocabularies have only single letters; models know them in lower case."""

from collections.abc import Iterator, Sequence
from typing import Final

from pocketmt.sentences.protected import protected_matches
from pocketmt.text.letter_case import in_lower_case
from pocketmt.text.vocabulary import Vocabulary

_LEAST_PIECES: Final = 0.75  # of a letter, on average, where a vocabulary spells words by letters


def without_capitals(vocabulary: Vocabulary, sentence: str, language: str) -> str | None:
    """Return a sentence in capitals in lower case, with its first letter as it is; None if it is to stay.

    It stays if it has other letters than capitals, fewer than two of these, or if the vocabulary has pieces of several
    capitals for it. URLs, tags, placeholders and the like stay in any case, and their letters are not looked at.

    Args:
        vocabulary: of the source.
        sentence: any text.
        language: code of the source.
    """
    matches = protected_matches(sentence)
    if not matches and not sentence.isupper():  # quick, since most sentences are not
        return None
    ends = [0, *(match.end() for match in matches)]
    starts = [*(match.start() for match in matches), len(sentence)]
    around = [sentence[end:start] for end, start in zip(ends, starts, strict=True)]
    text = " ".join(around)
    words = "".join(character if character.isalpha() else " " for character in text).split()
    letters = "".join(words)
    if len(letters) < 2 or not text.isupper() or not all(map(str.isupper, letters)):
        return None
    ids = vocabulary.encode(" ".join(words))
    if len(ids) < _LEAST_PIECES * len(letters) and vocabulary.ids.unk not in ids:
        return None
    parts = [*(match[0] for match in matches), ""]
    return "".join(before + part for before, part in zip(_lowered(around, language), parts, strict=True))


def _lowered(texts: Sequence[str], language: str) -> Iterator[str]:
    """Yield texts in lower case, all but the first letter."""
    is_first = True
    for text in texts:
        places = [place for place, character in enumerate(text) if character.isalpha()] if is_first else []
        start = places[0] + 1 if places else 0
        is_first = is_first and not places
        yield text[:start] + in_lower_case(text[start:], language)
