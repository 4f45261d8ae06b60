"""Division of long lines into segments, since models are trained on short ones; nothing is dropped."""

import re
from collections.abc import Iterator
from typing import Final

from pocketmt.text.normalization import replace_surrogates
from pocketmt.text.vocabulary import Vocabulary

SENTENCE_END: Final = (".", "!", "?", "…")
CLOSING: Final = "\"'”’»)]"
# An ideographic full stop ends a sentence without white space. The pattern reads each character once.
UNSPACED: Final = re.compile(r"[^。]+。*|。+")


def encode_line(vocabulary: Vocabulary, line: str, limit: int) -> list[list[int]]:
    """Return the piece ids of a line's segments, at most `limit` ids each; an empty list for a line without text.

    A line within the limit is one segment. A longer line is cut at ends of sentences, as rarely as possible, a longer
    sentence between words, and a longer word between pieces. Lone surrogates become U+FFFD.
    """
    line = replace_surrogates(line)
    ids = vocabulary.encode(line)
    if len(ids) <= limit:
        return [ids] if ids else []
    segments: list[list[int]] = []
    for text in _pack(vocabulary, _sentences(vocabulary.normalize(line)), limit):
        ids = vocabulary.encode(text)
        segments.extend(ids[start : start + limit] for start in range(0, len(ids), limit))
    return segments


def _sentences(text: str) -> Iterator[list[str]]:
    """Yield the sentences of a normalized text, each as a list of words with the space that follows."""
    words: list[str] = []
    for spaced in text.split(" "):
        parts = UNSPACED.findall(spaced)
        parts[-1] += " "
        for part in parts:
            words.append(part)
            if part.endswith("。") or part[:-1].rstrip(CLOSING).endswith(SENTENCE_END):
                yield words
                words = []
    if words:
        yield words


def _pack(vocabulary: Vocabulary, sentences: Iterator[list[str]], limit: int) -> Iterator[str]:
    """Join sentences, or the words of a sentence that is too long, into texts of at most `limit` pieces."""
    text, size = "", 0
    for words in sentences:
        sentence = "".join(words)
        pieces = len(vocabulary.encode(sentence))
        units = [(sentence, pieces)]
        if pieces > limit:
            units = [(word, len(vocabulary.encode(word))) for word in words]
        for unit, pieces in units:
            if text and size + pieces > limit:
                yield text
                text, size = "", 0
            text += unit
            size += pieces
    yield text
