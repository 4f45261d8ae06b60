"""Division of a line into parts: text that is copied, and the piece ids of sentences to translate."""

import re
from collections.abc import Sequence
from typing import Final

from pocketmt.engine.segmentation import encode_line
from pocketmt.sentences import sentence_spans
from pocketmt.text.vocabulary import Vocabulary

# A string is copied to the translation; a list of piece ids is translated.
Part = str | list[int]

# All but tabs and spaces: a program could take it for the end of a line.
_UNUSUAL: Final = re.compile(r"[^\t \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")


def divide_line(
    vocabulary: Vocabulary, line: str, *, language: str, split: bool, longest_segment: int
) -> Sequence[Part]:
    """Return the parts of a line, in order; none for a line without text.

    The white space around sentences is a part, too, so it stays as it is. But line breaks at the end are left out, and
    others become a space, so that one line gives one line.

    Args:
        vocabulary: of the model.
        line: of any length; a line break in it ends a sentence.
        language: of the line, as its ISO 639-1 code.
        split: whether the line is split into sentences; if not, it is translated as one sentence.
        longest_segment: in pieces; a longer sentence is translated in segments, as `encode_line` divides it.
    """
    line = line.rstrip("\r\n")
    parts: list[Part] = []
    end = 0
    for start, stop in sentence_spans(line, language) if split else _whole(line):
        segments = encode_line(vocabulary, line[start:stop], longest_segment)
        if segments and start > end:
            parts.append(_UNUSUAL.sub(" ", line[end:start]))
        for index, segment in enumerate(segments):
            parts.extend((" ", segment) if index else (segment,))
        end = stop if segments else end
    if parts and end < len(line):
        parts.append(_UNUSUAL.sub(" ", line[end:]))
    return parts


def _whole(line: str) -> list[tuple[int, int]]:
    return [(len(line) - len(line.lstrip()), len(line.rstrip()))]
