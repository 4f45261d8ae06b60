"""Seeded choices that are the same on every platform and Python version."""

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Draw:
    """A stream of choices.

    It uses `random.Random(seed).random()` alone, the only sequence that the standard library promises to keep;
    `choice` and `shuffle` may change between versions.
    """

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def below(self, count: int) -> int:
        """Return an integer in [0, count)."""
        return int(self._random.random() * count)

    def between(self, first: int, last: int) -> int:
        """Return an integer in [first, last]."""
        return first + self.below(last - first + 1)

    def chance(self, probability: float) -> bool:
        """Return true with the given probability."""
        return self._random.random() < probability

    def choose(self, options: Sequence[T]) -> T:
        """Return one of `options`, all equally likely."""
        return options[self.below(len(options))]

    def weighted(self, options: Sequence[tuple[T, int]]) -> T:
        """Return one of the (option, weight) pairs' options."""
        remaining = self.below(sum(weight for _, weight in options))
        for option, weight in options:
            remaining -= weight
            if remaining < 0:
                return option
        raise ValueError("weights must be positive")

    def shuffle(self, items: list[T]) -> None:
        """Shuffle `items` in place (Fisher-Yates)."""
        for last in range(len(items) - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]
