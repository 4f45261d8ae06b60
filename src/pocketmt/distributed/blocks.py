"""Blocks: consecutive rows of a text, which one worker handles at once and whose result is one shard."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Protocol

from pocketmt.chunks import in_chunks
from pocketmt.line_digest import LineDigest

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
        digest = LineDigest()
        for row in self.rows:
            digest.add("\t".join(row))
        return digest.hexdigest()


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
    for number, block in enumerate(in_chunks(rows, lines)):
        yield Block(number, number * lines + 1, tuple(block))
