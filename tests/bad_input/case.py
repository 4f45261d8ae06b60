"""A try of bad input, and what must hold for each."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

# Words by which a message says what to do or what is allowed.
WORDS = """
    add, align, allowed, ask, at least, at most, check, choose, convert, correct, create, download, expected, export,
    fetch, fewer, free, from \\d, give, go with, goes with, in the range, install, it has, known, leave it out, larger
    than, learn, list, lower, make, missing argument, missing option, must, name, needs?, no such option, not a
    valid, omit, one of, raise, remove, requires, restore, see, set, smaller, such as, train, translate, try,
    unexpected, use, write
"""
REMEDIES = re.compile(rf"\b({'|'.join(' '.join(WORDS.split()).split(', '))})\b", re.IGNORECASE)


@dataclass(frozen=True)
class Case:
    """A command line that must be refused.

    Attributes:
        command: arguments of `pocketmt`, as in a shell, in a folder with the files of `world`.
        names: what the message must name, such as the file and the key.
        status: the exit status: 1 after an error, 2 after wrong usage.
        files: files to write first, by name.
        stdin: text on stdin.
    """

    command: str
    names: tuple[str, ...]
    status: int = 1
    files: Mapping[str, str | bytes] = field(default_factory=lambda: MappingProxyType({}))
    stdin: bytes = b""

    @property
    def arguments(self) -> list[str]:
        """The command line as separate arguments."""
        return shlex.split(self.command)


def listing(folder: Path) -> dict[str, tuple[int, int]]:
    """Return size and time of the last change of everything in a folder, by its path."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        found[str(path.relative_to(folder))] = (
            0 if path.is_dir() else status.st_size,
            0 if path.is_dir() else status.st_mtime_ns,
        )
    return found
