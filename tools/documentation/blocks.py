"""The fenced blocks of a page, in order: programs that a reader would run, and files that a reader would save.

Programs are blocks in `sh`, `console`, `python` and `js`. A block with a title, as in `toml title="captions.toml"`, is
a file. `json` and `text` are the output of the program before them, or only shown.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

FENCED: Final = re.compile(
    r'^(?P<indent> *)```(?P<language>\w*)(?: title="(?P<title>[^"]+)")?\n(?P<text>.*?)^(?P=indent)```$',
    re.DOTALL | re.MULTILINE,
)
HEADING: Final = re.compile(r"^#+ (.+)$", re.MULTILINE)
SHELL: Final = ("sh", "console")
PROGRAMS: Final = (*SHELL, "python", "js")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    language: str  # "" if none is named
    title: str | None  # Name of the file that the block is.
    text: str
    section: str  # Heading above the block.

    @property
    def runs(self) -> bool:
        """Whether the block is a program and not a file."""
        return self.title is None and self.language in PROGRAMS


def blocks_of(page: Path) -> list[Block]:
    """Return the blocks of a page; ValueError if a fence cannot be read."""
    text = page.read_text(encoding="utf-8")
    found = list(FENCED.finditer(text))
    if len(re.findall(r"^ *```", text, flags=re.MULTILINE)) != 2 * len(found):
        raise ValueError(f"{page}: a fence is not closed, or its first line has more than a language and a title")
    return [
        Block(match["language"], match["title"], match["text"], _section(text, match.start(), found)) for match in found
    ]


def _section(text: str, position: int, fences: list[re.Match[str]]) -> str:
    """Return the last heading before a position; lines within fences are not headings."""
    headings = [
        match
        for match in HEADING.finditer(text, 0, position)
        if not any(fence.start() < match.start() < fence.end() for fence in fences)
    ]
    return headings[-1][1] if headings else ""
