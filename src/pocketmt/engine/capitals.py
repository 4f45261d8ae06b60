"""Text in capitals, of which most vocabularies have only single letters, and labels; models know both in lower case."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from pocketmt.sentences.protected import protected_matches
from pocketmt.text.language_tags import primary_subtag
from pocketmt.text.letter_case import Capitals, in_lower_case
from pocketmt.text.vocabulary import Vocabulary

_LONGEST_LABEL: Final = 3  # words
_WITH_NOUNS_IN_CAPITALS: Final = ("de", "lb")
_CAPITALIZED: Final = re.compile(r"[^\W\d_]+(?=[^.!?…。！？]*$)")  # the first word of a text without marks
_LEAST_PIECES: Final = 0.75  # of a letter, on average, where a vocabulary spells words by letters


def lowered(vocabulary: Vocabulary, text: str, language: str) -> tuple[str, Capitals]:
    """Return a text in the letter case in which it is translated, and which capitals its translation is to have.

    `language` is the code of the source.
    """
    lower = without_capitals(vocabulary, text, language)
    if lower is not None:
        return lower, "all"
    lower = without_first_capital(vocabulary, text, language)
    return (text, "none") if lower is None else (lower, "first")


def without_first_capital(vocabulary: Vocabulary, text: str, language: str) -> str | None:
    """Return a text of at most three words with its first letter in lower case; None if it is to stay.

    It stays if it has a final mark, or if the first word is no piece of the vocabulary in lower case. If it is a piece
    with the capital as well, only a single word is put in lower case, and in German only one that is then more
    frequent, as the order of the pieces tells: nouns have capitals. Of most words, models have seen the capital at the
    beginning of whole sentences only, and not in labels.
    """
    if not text[:1].isupper():
        return None
    words = len(text.split(maxsplit=_LONGEST_LABEL))
    if words > _LONGEST_LABEL:
        return None
    match = _CAPITALIZED.match(text)
    if match is None or not match[0][1:].islower():
        return None
    lower = in_lower_case(match[0], language)
    ids, lower_ids = vocabulary.encode(match[0]), vocabulary.encode(lower)
    if len(lower_ids) > 1 or vocabulary.ids.unk in lower_ids:
        return None
    if len(ids) == 1 and (words > 1 or (primary_subtag(language) in _WITH_NOUNS_IN_CAPITALS and ids < lower_ids)):
        return None
    return lower + text[match.end() :]


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
