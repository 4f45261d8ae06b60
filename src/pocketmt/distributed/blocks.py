"""Blocks: consecutive rows of a text, which one worker handles at once and whose result is one shard."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Final, Protocol

Row = tuple[str, ...]  # A line of text, or the lines of several sides.
# 16 cores translate this number of lines with a small model in seconds, and 100 million lines make 10,000 shards.
LINES: Final = 10_000


@dataclass(frozen=True)
class Block:
    """Consecutive rows of a text.

    Attributes:
        number: of the block in the text, from 0.
        first_line: number of its first line, from 1.
        rows: the rows.
    """

    number: int
    first_line: int
    rows: tuple[Row, ...]

    @property
    def lines(self) -> str:
        """The numbers of the lines, for messages."""
        return f"lines {self.first_line:,} to {self.first_line + len(self.rows) - 1:,}"

    @cached_property
    def sha256(self) -> str:
        """Hexadecimal SHA-256 of the rows, each with its sides separated by a tab, and a line feed."""
        return hashlib.sha256("".join("\t".join(row) + "\n" for row in self.rows).encode()).hexdigest()


@dataclass(frozen=True)
class Result:
    """What a worker makes of a block.

    Attributes:
        content: bytes of the shard.
        messages: warnings about single lines, the first few only.
        warned: number of lines with warnings.
    """

    content: bytes
    messages: tuple[str, ...] = field(default=())
    warned: int = 0


class Work(Protocol):
    """What is done with each block. It is pickled and sent to every worker."""

    def start(self, threads: int) -> Callable[[Block], Result]:
        """Load on the worker what the work needs, and return a function that handles a block with some threads."""
        ...


def cut(rows: Iterable[Row], lines: int = LINES) -> Iterator[Block]:
    """Yield blocks of a number of rows, the last one smaller; rows are read when a block is asked for."""
    remaining = iter(rows)
    for number, block in enumerate(iter(lambda: tuple(islice(remaining, lines)), ())):
        yield Block(number, number * lines + 1, block)
