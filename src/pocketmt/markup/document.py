"""An HTML document whose sentences are translated in chunks."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from pocketmt.engine import DetailedHypothesis
from pocketmt.markup.division import DividedLine, divide_line, linked_translations
from pocketmt.markup.encoding import DocumentEncoding
from pocketmt.markup.placing import render_segment
from pocketmt.markup.segments import Segment, divide_document


class _Part(NamedTuple):
    segment: Segment
    line: DividedLine
    number: int  # of the line of the document on which it begins, from 1


class HtmlDocument:
    """The segments of a document, with the sentences of each. Tags are placed by the alignment of the translations."""

    def __init__(self, document: str, language: str, *, split: bool, encoding: DocumentEncoding) -> None:
        """Divide a document.

        Args:
            document: HTML.
            language: ISO 639-1 code of its text.
            split: whether the text of a segment is divided into sentences.
            encoding: of the translated document.
        """
        self._encoding = encoding
        number = 1
        self._parts: list[_Part] = []
        for segment in divide_document(document):
            markup = segment.markup
            first = number + markup[: len(markup) - len(markup.lstrip())].count("\n")
            self._parts.append(_Part(segment, divide_line(segment.text, language, split=split), first))
            number += markup.count("\n")

    def chunks(self, size: int) -> Iterator[list[str]]:
        """Yield the sentences in order, in chunks of at least `size`, in which those of a segment are together."""
        chunk: list[str] = []
        for part in self._parts:
            chunk += part.line.sentences
            if len(chunk) >= size:
                yield chunk
                chunk = []
        if chunk:
            yield chunk

    def render(
        self, chunks: Iterable[tuple[Sequence[str], Sequence[Sequence[DetailedHypothesis]]]]
    ) -> Iterator[tuple[bytes, int]]:
        """Yield the translated document in parts, with the number of sentences of each.

        Args:
            chunks: sentences and their translations, aligned, for each of the `chunks`.
        """
        waiting = deque(self._parts)
        yield self._encoding.mark, 0
        for sentences, results in chunks:
            translations = deque(linked_translations(sentences, results))
            written = []
            while waiting and len(translations) >= len(waiting[0].line.spans):
                part = waiting.popleft()
                own = [translations.popleft() for _ in part.line.spans]
                written.append(render_segment(part.segment, part.line.join(own)))
            yield self._encoding.encode("".join(written)), len(sentences)
        yield self._encoding.encode("".join(part.segment.markup for part in waiting)), 0

    def line_in_file(self, number: int) -> int:
        """Return the number of the document's line where the segment of a sentence begins.

        Args:
            number: of the sentence among those of all chunks, from 1.
        """
        for part in self._parts:
            number -= len(part.line.spans)
            if number <= 0:
                return part.number
        raise IndexError(f"there are {-number} sentences too few")
