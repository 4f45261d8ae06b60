"""Division of lines into sentences, and lines from translated sentences, as the engine makes them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pocketmt.engine import DetailedHypothesis
from pocketmt.engine.line_parts import plain_spaces
from pocketmt.markup.links import Link, word_links
from pocketmt.sentences import sentences_and_marks
from pocketmt.text.language_tags import primary_subtag
from pocketmt.text.normalization import remove_invisible, visible_places


@dataclass(frozen=True, slots=True)
class Translation:
    """A translation of a sentence or line.

    Attributes:
        texts: the best, and then the alternatives that were asked for.
        links: of the characters of the source and the best translation, in the order of the source's sentences.
    """

    texts: tuple[str, ...]
    links: tuple[Link, ...] = ()


@dataclass(slots=True)
class DividedLine:
    """A line, and where its sentences are.

    Attributes:
        line: without invisible characters, as the engine translates it.
        spans: start and end of each sentence; between them are white space and marks that are copied.
        given: the line with them; links are those of its characters.
    """

    line: str
    spans: list[tuple[int, int]]
    given: str

    @property
    def sentences(self) -> list[str]:
        """The texts of its sentences."""
        return [self.line[start:end] for start, end in self.spans]

    def _has_marks(self) -> bool:
        ends = [0, *(end for _, end in self.spans)]
        starts = [*(start for start, _ in self.spans), len(self.line)]
        return any(self.line[end:start].strip() for end, start in zip(ends, starts, strict=True))

    def join(self, translations: Sequence[Translation]) -> Translation:
        """Return the translation of the line from those of its sentences; white space and marks between these stay.

        A sentence without translation becomes spaces; a line without any translation or mark is empty.
        """
        count = max((len(each.texts) for each in translations), default=1)
        if not any(text for each in translations for text in each.texts) and not self._has_marks():
            return Translation(("",) * count)
        parts: list[list[str]] = [[] for _ in range(count)]
        links: list[Link] = []
        end = length = 0
        for (start, stop), translation in zip(self.spans, translations, strict=True):
            space = _between(self.line[end:start])
            links += _links_of_marks(self.line[end:start], end, length)
            for place, part in enumerate(parts):
                text = translation.texts[min(place, len(translation.texts) - 1)]
                part.append(space + (text or " " * (stop - start)))
            links += (link.moved(start, length + len(space)) for link in translation.links)
            length += len(parts[0][-1])
            end = stop
        links += _links_of_marks(self.line[end:], end, length)
        if len(self.line) != len(self.given):
            places = [*visible_places(self.given), len(self.given)]
            links = [_moved_source(link, places) for link in links]
        tail = _between(self.line[end:])
        return Translation(tuple("".join(part) + tail for part in parts), tuple(links))


def _between(text: str) -> str:
    """Return the text between sentences: marks as they are, and plain white space."""
    return "".join(plain_spaces(character) if character.isspace() else character for character in text)


def _links_of_marks(text: str, source: int, target: int) -> list[Link]:
    """Return links of the marks of a text between sentences, which begins at these places of source and translation."""
    places = (match.span() for match in re.finditer(r"\S+", text))
    return [Link(source + start, source + end, target + start, target + end) for start, end in places]


def _moved_source(link: Link, places: Sequence[int]) -> Link:
    """Return a link whose source is at the places of its characters; that of an empty piece stays empty."""
    start = places[link.source_start]
    is_empty = link.source_start == link.source_end
    return link._replace(source_start=start, source_end=start if is_empty else places[link.source_end - 1] + 1)


def divide_lines(lines: Sequence[str], language: str, *, split: bool) -> list[DividedLine]:
    """Return the sentences of lines, see `divide_line`, in a language that any of its codes names."""
    primary = primary_subtag(language)
    return [divide_line(line, primary, split=split) for line in lines]


def divide_line(line: str, language: str, *, split: bool) -> DividedLine:
    """Return the sentences of a line in a language; the whole line, if it is not to be split.

    The language is given by its ISO 639-1 code.
    """
    given, line = line, remove_invisible(line)
    if split:
        spans = [(start, end) for start, end, is_mark in sentences_and_marks(line, language) if not is_mark]
        return DividedLine(line, spans, given)
    start = len(line) - len(line.lstrip())
    return DividedLine(line, [(start, len(line.rstrip()))] if line.strip() else [], given)


def linked_translations(sentences: Sequence[str], results: Sequence[Sequence[DetailedHypothesis]]) -> list[Translation]:
    """Return the translations of sentences, best first, with the links of the best if they have an alignment."""
    translations = []
    for sentence, hypotheses in zip(sentences, results, strict=True):
        best = hypotheses[0]
        links = () if best.alignment is None else tuple(word_links(sentence, best.text, best.alignment))
        others = (each.text for each in hypotheses[1:] if each.text)
        translations.append(Translation((best.text, *others), links))
    return translations
