"""Lines whose translations lost a URL, a placeholder or the like, divided so that another translation keeps it."""

from collections.abc import Callable, Sequence
from itertools import chain
from typing import NamedTuple

from pocketmt.engine.line_parts import DividedLine, LineDivider
from pocketmt.engine.options import Search
from pocketmt.sentences import StandIn, with_stand_ins
from pocketmt.text.normalization import remove_invisible


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
        self._languages = search.languages
        self._split = search.split
        # A term would change the name that stands in.
        self._reserved = "" if search.terms is None else " ".join(chain.from_iterable(search.terms.given.items()))

    @property
    def forms(self) -> "tuple[Callable[[int, DividedLine], ProtectedLine | None], ...]":
        """What divides a line, whose index and earlier form it takes: each is tried if those before it do not help."""
        return self._with_stand_ins, self._in_parts

    def _with_stand_ins(self, index: int, line: DividedLine) -> ProtectedLine | None:
        """Return a line with names and numbers in place of its URLs, e-mail addresses and placeholders."""
        text, stand_ins = with_stand_ins(remove_invisible(self._lines[index]), self._reserved)
        if not stand_ins:
            return None
        divided = self._divider.divide(text, self._languages, split=self._split)
        return ProtectedLine(divided._replace(line=line.line), stand_ins)

    def _in_parts(self, index: int, line: DividedLine) -> ProtectedLine:
        """Return a line in which protected parts are copied, and the text between them is translated."""
        divided = self._divider.divide(self._lines[index], self._languages, split=self._split, protect=True)
        return ProtectedLine(divided._replace(in_parts=True))
