"""Division of a line into sentences that are translated and text that is copied."""

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from pocketmt.sentences.boundaries import sentence_spans
from pocketmt.sentences.copied import LONGEST_WORD, WITHOUT_WORDS, Reason, long_words, reason_to_copy
from pocketmt.sentences.protected import protected_spans


class Span(NamedTuple):
    """A part of a line from `start` to `end`, without white space around it.

    Attributes:
        reason: why it is copied; its text is empty if there is nothing to warn about. None: it is to be translated.
    """

    start: int
    end: int
    reason: Reason | None


def translation_spans(line: str, language: str, *, split: bool, longest: int, protect: bool = False) -> Iterator[Span]:
    """Yield the sentences of a line and what is copied of it; between them is only white space.

    Args:
        line: of any length; the time is proportional to it.
        language: as in `sentence_spans`.
        split: whether the line is split into sentences; if not, it is one.
        longest: most characters of a sentence that is translated.
        protect: whether URLs, e-mail addresses, tags, placeholders and symbols are copied, and the text between them is
            translated piece by piece.
    """
    spans = _sentence_spans(line, language, split=split, longest=longest)
    return chain.from_iterable(_protected(line, span, longest) for span in spans) if protect else spans


def _sentence_spans(line: str, language: str, *, split: bool, longest: int) -> Iterator[Span]:
    for start, end in sentence_spans(line, language) if split else [(0, len(line))]:
        position = start
        if end - start > LONGEST_WORD and reason_to_copy(line[start:end], longest) is None:
            for first, last in long_words(line[start:end]):
                yield from _span(line, position, start + first, longest)
                position = start + last
                reason = Reason(f"a word has {last - first:,} characters; the limit is {LONGEST_WORD:,}")
                yield Span(start + first, position, reason)
        yield from _span(line, position, end, longest)


def _protected(line: str, span: Span, longest: int) -> Iterator[Span]:
    """Yield a span, divided at its protected parts if it is to be translated."""
    if span.reason is not None:
        yield span
        return
    position = span.start
    for first, last in protected_spans(line[span.start : span.end]):
        yield from _span(line, position, span.start + first, longest)
        position = span.start + last
        yield Span(span.start + first, position, WITHOUT_WORDS)
    yield from _span(line, position, span.end, longest)


def _span(line: str, start: int, end: int, longest: int) -> Iterator[Span]:
    text = line[start:end]
    start, end = end - len(text.lstrip()), start + len(text.rstrip())
    if start < end:
        yield Span(start, end, reason_to_copy(line[start:end], longest))
