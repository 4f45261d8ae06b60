"""Precision and recall of sentence boundaries."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate


@dataclass
class Counts:
    """Numbers of boundaries between the sentences of lines."""

    right: int = 0
    found: int = 0
    known: int = 0

    def add(self, found: Sequence[str], known: Sequence[str]) -> None:
        """Count the boundaries of one line from its sentences, as found and as known."""
        ours, theirs = _boundaries(found), _boundaries(known)
        self.right += len(ours & theirs)
        self.found += len(ours)
        self.known += len(theirs)

    @property
    def precision(self) -> float:
        """Share of the boundaries found that are right; 1 if none was found."""
        return self.right / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        """Share of the known boundaries that were found."""
        return self.right / self.known if self.known else 1.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def _boundaries(sentences: Sequence[str]) -> set[int]:
    """Return the boundaries inside a line as numbers of characters before them, without white space."""
    lengths = [len("".join(sentence.split())) for sentence in sentences]
    return set(accumulate(lengths)) - {sum(lengths), 0}
