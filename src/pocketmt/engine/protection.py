"""Lines whose translations lost a URL, a placeholder, an unknown word or the like, for another translation."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple

from pocketmt.engine.line_parts import DividedLine, LineDivider, copied, plain_spaces
from pocketmt.engine.options import Search
from pocketmt.sentences import (
    MOST_NAMES,
    TRIES,
    Numbers,
    Part,
    StandIn,
    kept_decimals,
    lost_numbers,
    lost_parts,
    may_help,
    with_stand_ins,
)


class ProtectedLine(NamedTuple):
    """A line, and the stand-ins for parts of its text that its translation has to have."""

    line: DividedLine
    stand_ins: Sequence[StandIn] = ()


class LineProtection:
    """Divides the lines of one translation for another one.

    Args:
        divider: of the model.
        lines: as they were given.
        search: options of the translation.
    """

    def __init__(self, divider: LineDivider, lines: Sequence[str], search: Search) -> None:
        self._divider = divider
        self._lines = lines
        self._search = search
        # A term would change the name that stands in.
        self._reserved = "" if search.terms is None else " ".join(chain.from_iterable(search.terms.given.items()))

    def is_lost(self, line: DividedLine, translation: str, *, whole: bool = True) -> bool:
        """Whether the translation of a line lacks a protected part, or a word that the vocabulary lacks.

        `whole` is False for a line that may be divided: at numbers, amounts and words it is not.
        """
        if not whole:
            return bool(self._lost_parts(line, translation, numbers="none"))
        return bool(self._lost_parts(line, translation) or self._lost_words(line.line, translation))

    def count_lost(self, line: DividedLine, translation: str) -> tuple[int, int]:
        """Return how many protected parts, and how many words of a line its translation lacks."""
        return len(self._lost_parts(line, translation)), len(self._lost_words(line.line, translation))

    def kept_decimals(self, line: DividedLine, translation: str) -> list[StandIn]:
        """Return the numbers of a translation whose decimals are as in the source, for those in the target's format."""
        return kept_decimals(line.line, translation, self._search.languages.number_formats)

    def names_in_another_case(self, line: DividedLine, translation: str) -> list[StandIn]:
        """Return the names that a translation has in another case than its line, but for suppressed texts."""
        names = self._divider.unknown_words.names_in_another_case(
            line.without_terms, translation, self._search.languages.source
        )
        suppressed = self._search.suppressed_texts
        return [StandIn(found, name) for found, name in names if not any(text in name for text in suppressed)]

    def _lost_parts(self, line: DividedLine, translation: str, *, numbers: Numbers = "exact") -> list[str]:
        formats = self._search.languages.number_formats
        return lost_parts(line.without_terms, translation, numbers=numbers, formats=formats)

    def _lost_words(self, text: str, translation: str) -> list[Part]:
        """Return the lost words of a text, without those of terms, which are to be replaced."""
        words = self._divider.unknown_words.lost(text, translation, self._search.languages.source)
        return self._outside_terms(text, words) if words else []

    def _outside_terms(self, text: str, parts: Sequence[Part]) -> list[Part]:
        """Return the parts of a text that have no character of a term of one of its sentences."""
        terms, search = self._search.terms, self._search
        if terms is None:
            return list(parts)
        places = self._divider.places_of_terms(text, search.languages, terms, split=search.split)
        return [part for part in parts if not any(start < part.end and part.start < end for start, end in places)]

    def sentences(self, index: int, line: DividedLine) -> tuple[DividedLine, list[str]] | None:
        """Return a line that joins the translations of its sentences, and these, which are lines by themselves.

        None: it has only one, and nothing that is copied beside it. `line` is its earlier form.
        """
        named, text = self._divider.named_and_text(self._lines[index])
        search = self._search
        spans = list(self._divider.spans(text, search.languages, split=search.split, terms=search.terms))
        sentences = [named + text[span.start : span.end] for span in spans if span.reason is None]
        if len(spans) < 2 or not sentences:
            return None
        parts: list[str | list[int]] = []
        end = spans[0].start
        for span in spans:
            if span.start > end:
                parts.append(plain_spaces(text[end : span.start]))
            parts += [[]] if span.reason is None else copied(text[span.start : span.end])
            end = span.end
        before, after = plain_spaces(text[: spans[0].start]), plain_spaces(text[end:])
        parts = [*([before] if before else []), *parts, *([after] if after else [])]
        joining = DividedLine(line.line, line.text, parts, line.copied, source_terms=line.source_terms)
        return joining, sentences

    def of_sentences(self, sentences: Sequence[str]) -> "tuple[list[DividedLine], LineProtection]":
        """Return sentences as lines, and the protection of these."""
        search = self._search._replace(split=False)
        lines = [self._divider.divide_for(sentence, search) for sentence in sentences]
        return lines, LineProtection(self._divider, sentences, search)

    @property
    def forms(self) -> "list[tuple[Callable[[int, DividedLine, str], ProtectedLine | None], bool]]":
        """What divides a line, whose index, earlier form and translation it takes, and whether the line stays whole.

        Each is tried if those before it do not help.
        """
        tries = [partial(self._with_stand_ins, attempt=attempt) for attempt in range(TRIES)]
        return [*((form, True) for form in tries), (self._in_parts, False)]

    def _with_stand_ins(self, index: int, line: DividedLine, translation: str, *, attempt: int) -> ProtectedLine | None:
        """Return a line with names and numbers in place of its URLs, placeholders, numbers and lost words."""
        named, text = self._divider.named_and_text(self._lines[index])
        formats = self._search.languages.number_formats
        numbers = self._outside_terms(text, lost_numbers(text, translation, formats))
        words = self._lost_words(text, translation)
        if words and not may_help(text, len(words), attempt) and not self._lost_parts(line, translation):
            return None
        replaced, stand_ins = text, list[StandIn]()
        outside_terms = partial(self._outside_terms, text)
        few = [*numbers, *words[:MOST_NAMES]] if attempt == 0 else []
        for some in ([*numbers, *words], few, []):  # All are perhaps too many.
            replaced, stand_ins = with_stand_ins(text, self._reserved, attempt, some, formats, outside_terms)
            if stand_ins:
                break
        if not stand_ins:
            return None
        divided = self._divider.divide_for(named + replaced, self._search)
        return ProtectedLine(divided._replace(line=line.line, source_terms=line.source_terms), stand_ins)

    def _in_parts(self, index: int, line: DividedLine, _: str) -> ProtectedLine | None:
        """Return a line in which protected parts are copied, and the text between them is translated.

        None: a term would be lost, because its source term has a protected part.
        """
        divided = self._divider.divide_for(self._lines[index], self._search, protect=True)
        kept = list(chain.from_iterable(divided.terms))
        if any(term not in kept for term in chain.from_iterable(line.terms)):
            return None
        return ProtectedLine(divided._replace(in_parts=True))
