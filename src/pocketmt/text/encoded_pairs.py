"""Sentence pairs as piece ids that take four bytes for each id."""

from array import array
from collections.abc import Iterable, Sequence
from typing import overload

EncodedPair = tuple[list[int], list[int]]


class EncodedPairs(Sequence[EncodedPair]):
    """Sentence pairs in one array; lists of integers would take ten times as much memory."""

    def __init__(self, pairs: Iterable[tuple[Sequence[int], Sequence[int]]]) -> None:
        """Take the ids of the two sides of each pair; OverflowError if an id does not fit in 32 bits."""
        self._ids = array("i")
        self._ends = array("q", (0,))  # Of all sides, those of a pair one after the other.
        for pair in pairs:
            for side in pair:
                self._ids.extend(side)
                self._ends.append(len(self._ids))

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self._ends) // 2

    @overload
    def __getitem__(self, index: int) -> EncodedPair: ...

    @overload
    def __getitem__(self, index: slice) -> list[EncodedPair]: ...

    def __getitem__(self, index: int | slice) -> EncodedPair | list[EncodedPair]:
        """Return a pair, or a list of some; IndexError if there is no such pair."""
        place = range(len(self))[index]
        if isinstance(place, range):
            return [self[each] for each in place]
        start, middle, end = self._ends[2 * place : 2 * place + 3]
        return self._ids[start:middle].tolist(), self._ids[middle:end].tolist()

    @property
    def bytes(self) -> int:
        """Memory of the ids and their places."""
        return sum(each.itemsize * len(each) for each in (self._ids, self._ends))
