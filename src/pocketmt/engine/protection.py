"""Lines whose translations lost a URL, a placeholder or the like, divided so that another translation keeps it."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple

from pocketmt.engine.line_parts import DividedLine, LineDivider, plain_spaces
from pocketmt.engine.options import Search
from pocketmt.sentences import TRIES, Numbers, Part, StandIn, lost_parts, with_stand_ins


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

    def is_lost(self, line: DividedLine, translation: str, numbers: Numbers = "exact") -> bool:
        """Whether the translation of a line lacks a protected part, or a word that the vocabulary lacks.

        `numbers` is that of `lost_parts`; these words are looked at if exact numbers are.
        """
        if lost_parts(line.line, translation, numbers=numbers):
            return True
        language = self._search.languages.source
        return numbers == "exact" and self._divider.unknown_words.is_lost(line.line, translation, language)

    def _unknown(self, text: str) -> list[Part]:
        return self._divider.unknown_words.find(text, self._search.languages.source)

    def sentences(self, index: int, line: DividedLine) -> tuple[DividedLine, list[str]] | None:
        """Return a line that joins the translations of its sentences, and these, which are lines by themselves.

        None: it has only one. `line` is its earlier form.
        """
        named, text = self._divider.named_and_text(self._lines[index])
        spans = list(self._divider.spans(text, self._search.languages, split=self._search.split))
        if len(spans) < 2:
            return None
        parts: list[str | list[int]] = []
        end = spans[0].start
        for span in spans:
            parts += [plain_spaces(text[end : span.start]), []] if span.start > end else [[]]
            end = span.end
        before, after = plain_spaces(text[: spans[0].start]), plain_spaces(text[end:])
        parts = [*([before] if before else []), *parts, *([after] if after else [])]
        joining = DividedLine(line.line, line.text, parts, line.copied)
        return joining, [named + text[span.start : span.end] for span in spans]

    def of_sentences(self, sentences: Sequence[str]) -> "tuple[list[DividedLine], LineProtection]":
        """Return sentences as lines, and the protection of these."""
        search = self._search._replace(split=False)
        lines = [self._divider.divide_for(sentence, search) for sentence in sentences]
        return lines, LineProtection(self._divider, sentences, search)

    @property
    def forms(self) -> "list[tuple[Callable[[int, DividedLine], ProtectedLine | None], Numbers]]":
        """What divides a line, whose index and earlier form it takes, and of which lost numbers it is for.

        Each is tried if those before it do not help.
        """
        tries = [partial(self._with_stand_ins, attempt=attempt) for attempt in range(TRIES)]
        return [*((form, "exact") for form in tries), (self._in_parts, "none")]

    def _with_stand_ins(self, index: int, line: DividedLine, *, attempt: int) -> ProtectedLine | None:
        """Return a line with names and numbers in place of its URLs, placeholders and numbers."""
        named, text = self._divider.named_and_text(self._lines[index])
        replaced, stand_ins = with_stand_ins(text, self._reserved, attempt, self._unknown(text))
        if not stand_ins:
            return None
        divided = self._divider.divide_for(named + replaced, self._search)
        return ProtectedLine(divided._replace(line=line.line), stand_ins)

    def _in_parts(self, index: int, _: DividedLine) -> ProtectedLine:
        """Return a line in which protected parts are copied, and the text between them is translated."""
        divided = self._divider.divide_for(self._lines[index], self._search, protect=True)
        return ProtectedLine(divided._replace(in_parts=True))
