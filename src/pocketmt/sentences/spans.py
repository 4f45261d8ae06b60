"""Division of a line into sentences that are translated and text that is copied."""

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from pocketmt.sentences.boundaries import sentence_spans
from pocketmt.sentences.copied import LONGEST_WORD, WITHOUT_WORDS, Reason, long_words, reason_to_copy
from pocketmt.sentences.layout import cells, marker_end, marks_around
from pocketmt.sentences.protected import protected_spans


class Span(NamedTuple):
    """A part of a line from `start` to `end`, without white space around it.

    Attributes:
        reason: why it is copied; its text is empty if there is nothing to warn about. None: it is to be translated.
    """

    start: int
    end: int
    reason: Reason | None


def translation_spans(
    line: str, language: str, *, split: bool, longest: int, protect: bool = False, marks: bool = True
) -> Iterator[Span]:
    """Yield the sentences of a line and what is copied of it; between them is only white space.

    If the line is split, tabs and the bars of a table's row end sentences. Markers of lists, headings and quotations,
    and brackets and signs of emphasis around a sentence, are copied, unless `marks` is False.

    Args:
        line: of any length; the time is proportional to it.
        language: as in `sentence_spans`.
        split: whether the line is split into sentences; if not, it is one.
        longest: most characters of a sentence that is translated.
        protect: whether URLs, e-mail addresses, tags, placeholders and symbols are copied, and the text between them is
            translated piece by piece.
    """
    spans = _sentence_spans(line, language, split=split, marks=marks, longest=longest)
    return chain.from_iterable(_protected(line, span, longest) for span in spans) if protect else spans


def _sentence_spans(line: str, language: str, *, split: bool, marks: bool, longest: int) -> Iterator[Span]:
    if not split or not marks:
        for start, end in sentence_spans(line, language) if split else [(0, len(line))]:
            yield from _without_long_words(line, start, end, longest)
        return
    for start, end, is_mark in sentences_and_marks(line, language):
        if is_mark:
            yield Span(start, end, WITHOUT_WORDS)
        else:
            yield from _without_long_words(line, start, end, longest)


def sentences_and_marks(line: str, language: str) -> Iterator[tuple[int, int, bool]]:
    """Yield start and end of the sentences of a line, and of the marks around them, and whether it is such a mark.

    Between them is only white space. See `translation_spans`.
    """
    for first, last, is_bar in cells(line):
        if is_bar:
            yield first, last, True
            continue
        start = marker_end(line, first, last, language)
        yield from _trimmed(line, first, start, is_mark=True)
        for begin, end in sentence_spans(line[start:last], language):
            position = start + begin
            for mark_start, mark_end in marks_around(line[position : start + end]):
                yield from _trimmed(line, position, start + begin + mark_start, is_mark=False)
                position = start + begin + mark_end
                yield start + begin + mark_start, position, True
            yield from _trimmed(line, position, start + end, is_mark=False)


def _trimmed(line: str, start: int, end: int, *, is_mark: bool) -> Iterator[tuple[int, int, bool]]:
    text = line[start:end]
    start, end = end - len(text.lstrip()), start + len(text.rstrip())
    if start < end:
        yield start, end, is_mark


def _without_long_words(line: str, start: int, end: int, longest: int) -> Iterator[Span]:
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
    for first, last, _ in _trimmed(line, start, end, is_mark=False):
        yield Span(first, last, reason_to_copy(line[first:last], longest))
