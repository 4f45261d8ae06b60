"""Links between the characters of a text and of its translation, from the alignment of pieces."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from pocketmt.engine import Alignment
from pocketmt.sentences.protected import WORD_WITH_SPACES

_SPACE = "▁"


class Link(NamedTuple):
    """Characters of a source, from `source_start` to `source_end`, and those of the translation that belong to them."""

    source_start: int
    source_end: int
    target_start: int
    target_end: int

    def moved(self, source: int, target: int) -> "Link":
        """Return the link of texts with more characters before them."""
        return Link(
            self.source_start + source, self.source_end + source, self.target_start + target, self.target_end + target
        )


def word_links(source: str, target: str, alignment: Alignment) -> list[Link]:
    """Return a link for each word of a translation; none if the words of a text are not those of its pieces.

    A text without spaces between words is linked by its pieces.

    Args:
        source, target: the texts, as they are before and after the engine.
        alignment: of the pieces of both.
    """
    if len(alignment.source_word_starts) > 1 or len(alignment.target_word_starts) > 1:
        sources = _words(source, len(alignment.source_word_starts))
        targets = _words(target, len(alignment.target_word_starts))
        pairs = alignment.word_links()
    else:
        sources = _pieces(source, alignment.source_pieces)
        targets = _pieces(target, alignment.target_pieces)
        pairs = alignment.piece_links()
    if not sources or not targets:
        return []
    return [Link(*sources[first], *targets[second]) for first, second in pairs]


def compose_links(first: Sequence[Link], second: Sequence[Link]) -> list[Link]:
    """Return the links from a source to a translation of its translation.

    Each link of `second` is joined to the link of `first` with which it shares most characters of the text between; of
    several, to the earliest in `first`. It is left out if it shares none.

    Args:
        first: from the source to the text between.
        second: from the text between to the translation.
    """
    between = _Between(first)
    # All words of the translation may be linked to one long word.
    places = {(link.source_start, link.source_end) for link in second}
    found = {place: between.most_shared(*place) for place in places}
    composed = []
    for link in second:
        best = found[link.source_start, link.source_end]
        if best is not None:
            composed.append(Link(best.source_start, best.source_end, link.target_start, link.target_end))
    return composed


class _Between:
    """Links by their place in the text between a source and the second translation."""

    def __init__(self, links: Sequence[Link]) -> None:
        earliest: dict[tuple[int, int], int] = {}
        for number, link in enumerate(links):
            earliest.setdefault((link.target_start, link.target_end), number)
        places = sorted(earliest)
        self._links = [(earliest[place], links[earliest[place]]) for place in places]
        self._starts = [start for start, _ in places]
        self._largest_ends = list(accumulate((end for _, end in places), max))  # up to each place

    def most_shared(self, start: int, end: int) -> Link | None:
        """Return the link that shares most characters from `start` to `end`, the earliest of several; None if none."""
        near = self._links[bisect_right(self._largest_ends, start) : bisect_left(self._starts, end)]
        shared = [(min(end, link.target_end) - max(start, link.target_start), -number, link) for number, link in near]
        most, _, best = max(shared, default=(0, 0, None))
        return best if most > 0 else None


def _words(text: str, count: int) -> list[tuple[int, int]]:
    """Return where the words of a text are, if it has this number of them; else nothing."""
    words = [match.span() for match in WORD_WITH_SPACES.finditer(text)]
    return words if len(words) == count else []


def _pieces(text: str, pieces: Sequence[str]) -> list[tuple[int, int]]:
    """Return where the pieces are in a text that they spell; nothing if they do not."""
    surfaces = [piece.replace(_SPACE, " ") for piece in pieces]
    joined = "".join(surfaces)
    before = len(joined) - len(joined.lstrip())
    if joined.strip() != text:
        return []
    places = (max(0, min(len(text), end - before)) for end in accumulate(map(len, surfaces), initial=0))
    return list(pairwise(places))
