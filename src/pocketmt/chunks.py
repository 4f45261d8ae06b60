"""Division of what is iterated over into chunks."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")


def in_chunks(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Return an iterator of lists of `size` items, the last one shorter; items are read when a list is asked for."""
    remaining = iter(items)
    return iter(lambda: list(islice(remaining, size)), [])
