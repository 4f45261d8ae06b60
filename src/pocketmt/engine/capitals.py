"""Text in capitals, of which most vocabularies have only single letters, and labels; models know both in lower case."""

from collections.abc import Iterator, Sequence
from typing import Final

from pocketmt.lazy_pattern import lazy_pattern
from pocketmt.sentences.protected import protected_matches
from pocketmt.text.language_tags import primary_subtag
from pocketmt.text.letter_case import NO_CAPITALS, Capitals, in_lower_case
from pocketmt.text.vocabulary import Vocabulary

_LONGEST_LABEL: Final = 3  # words
_LONGEST_ACRONYM: Final = 5  # letters
_WITH_NOUNS_IN_CAPITALS: Final = ("de", "lb")
_FIRST_WORD: Final = lazy_pattern(r"[^\W\d_]+")
_FINAL_MARK: Final = lazy_pattern(r"[.!?…。！？][\"'”’»)]*$")
# Names of people that are words as well.
_NAME: Final = lazy_pattern(
    r"(?:Amber|Bill|Carter|Chase|Christian|Clay|Cliff|Dale|Daisy|Dawn|Dean|Dick|Drew|Ernst|Eve|Faith|Frank|Gene|Glen|"
    r"Grace|Grant|Guy|Hans|Heath|Holly|Hope|Hunter|Iris|Ivy|Jack|Jasmine|Joy|June|Lang|Lily|Mark|Mason|Max|May|Miles|"
    r"Nick|Parker|Pat|Penny|Ray|Rich|Rob|Robin|Rose|Ruby|Sandy|Stark|Sue|Taylor|Tiffany|Wade|Will|Wolf)(?!\w)"
)
_LEAST_PIECES: Final = 0.75  # of a letter, on average, where a vocabulary spells words by letters


def lowered(vocabulary: Vocabulary, text: str, language: str, *, begins: bool = True) -> tuple[str, Capitals]:
    """Return a text in the letter case in which it is translated, and which capitals its translation is to have.

    Args:
        vocabulary: of the source.
        text: a sentence, or a part of one.
        language: code of the source.
        begins: whether it begins a sentence, so that its first capital tells nothing about its first word.
    """
    lower = without_capitals(vocabulary, text, language)
    if lower is not None:
        return lower, "all"
    words = _words_of_label(text) if begins else 0
    if words == 0:
        return text, NO_CAPITALS
    lower = without_first_capital(vocabulary, text, language)
    if lower is None and words == 1 and primary_subtag(language) in _WITH_NOUNS_IN_CAPITALS:
        return text, NO_CAPITALS  # perhaps a noun, which would not have a capital in other languages
    return lower or text, "first"


def without_first_capital(vocabulary: Vocabulary, text: str, language: str) -> str | None:
    """Return a text of at most three words with its first letter in lower case; None if it is to stay.

    It stays if it has a final mark, if the first word is no piece of the vocabulary in lower case, or if that may be a
    name and other words follow. If it is a piece with the capital as well, only a single word is put in lower case, and
    none in German, whose nouns have capitals. Of most words, models have seen the capital at the beginning of whole
    sentences only, and not in labels.
    """
    words = _words_of_label(text)
    match = _FIRST_WORD.match(text)
    if words == 0 or match is None or not match[0][1:].islower() or (words > 1 and _NAME.match(text)):
        return None
    lower = in_lower_case(match[0], language)
    lower_ids = vocabulary.encode(lower)
    if len(lower_ids) > 1 or vocabulary.ids.unk in lower_ids:
        return None
    if len(vocabulary.encode(match[0])) == 1 and (words > 1 or primary_subtag(language) in _WITH_NOUNS_IN_CAPITALS):
        return None
    return lower + text[match.end() :]


def _words_of_label(text: str) -> int:
    """Return the number of words of a text with a first capital and no final mark; 0 for others and above 3."""
    words = len(text.split(maxsplit=_LONGEST_LABEL))
    is_label = text[:1].isupper() and words <= _LONGEST_LABEL and _FINAL_MARK.search(text) is None
    return words if is_label else 0


def without_capitals(vocabulary: Vocabulary, sentence: str, language: str) -> str | None:
    """Return a sentence in capitals in lower case, with its first letter as it is; None if it is to stay.

    It stays if it has other letters than capitals, fewer than two of these, if the vocabulary has pieces of several
    capitals for it, or if it is several acronyms: short words, none of them a piece in lower case. URLs, tags,
    placeholders and the like stay in any case, and their letters are not looked at.

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
    if len(words) > 1 and all(_is_acronym(vocabulary, word, language) for word in words):
        return None
    parts = [*(match[0] for match in matches), ""]
    return "".join(before + part for before, part in zip(_lowered(around, language), parts, strict=True))


def _is_acronym(vocabulary: Vocabulary, word: str, language: str) -> bool:
    return len(word) <= _LONGEST_ACRONYM and len(vocabulary.encode(in_lower_case(word, language))) > 1


def _lowered(texts: Sequence[str], language: str) -> Iterator[str]:
    """Yield texts in lower case, all but the first letter."""
    is_first = True
    for text in texts:
        places = [place for place, character in enumerate(text) if character.isalpha()] if is_first else []
        start = places[0] + 1 if places else 0
        is_first = is_first and not places
        yield text[:start] + in_lower_case(text[start:], language)
