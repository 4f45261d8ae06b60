"""Division of a line into parts: text that is copied, and the piece ids of sentences to translate."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from pocketmt.engine.segmentation import encode_line
from pocketmt.sentences import sentence_spans
from pocketmt.text.vocabulary import Vocabulary

# All but tabs and spaces: a program could take it for the end of a line.
_UNUSUAL: Final = re.compile(r"[^\t \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")


@dataclass(frozen=True, slots=True)
class DividedLine:
    """A line of text as parts.

    Attributes:
        text: what is translated of the line.
        parts: in order; a string is copied to the translation, a list of piece ids is translated. None for a line
            without text.
    """

    text: str
    parts: list[str | list[int]]

    @property
    def sentences(self) -> list[list[int]]:
        """Piece ids of the parts that are translated."""
        return [part for part in self.parts if not isinstance(part, str)]

    def join(self, translations: Iterable[str]) -> str:
        """Return the translation of the line from those of its sentences."""
        remaining = iter(translations)
        return "".join(part if isinstance(part, str) else next(remaining) for part in self.parts)


class LineDivider:
    """Divides lines for one model.

    Args:
        vocabulary: of the model.
        language: source language of the model; it selects the abbreviations that end no sentence.
        longest_segment: in pieces; a longer sentence is translated in segments, as `encode_line` divides it.
    """

    def __init__(self, vocabulary: Vocabulary, language: str, longest_segment: int) -> None:
        self._vocabulary = vocabulary
        self._language = language
        self._longest_segment = longest_segment

    def divide(self, line: str, *, split: bool) -> DividedLine:
        """Divide a line into sentences, or take it for one sentence if it is not to be split.

        The white space around sentences is a part, too, so it stays as it is. But line breaks at the end are left out,
        and others become a space, so that one line gives one line.
        """
        line = line.rstrip("\r\n")
        parts: list[str | list[int]] = []
        texts: list[str] = []
        end = 0
        for start, stop in sentence_spans(line, self._language) if split else _whole(line):
            segments = encode_line(self._vocabulary, line[start:stop], self._longest_segment)
            if not segments:
                continue
            if start > end:
                parts.append(_UNUSUAL.sub(" ", line[end:start]))
            for index, segment in enumerate(segments):
                parts.extend((" ", segment) if index else (segment,))
            texts.append(line[start:stop])
            end = stop
        if parts and end < len(line):
            parts.append(_UNUSUAL.sub(" ", line[end:]))
        return DividedLine(" ".join(texts), parts)


def _whole(line: str) -> list[tuple[int, int]]:
    return [(len(line) - len(line.lstrip()), len(line.rstrip()))]
