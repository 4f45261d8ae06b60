"""Division of long lines into segments, since models are trained on short ones; nothing is dropped."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain, pairwise
from typing import Final

from pocketmt.lazy_pattern import lazy_pattern
from pocketmt.sentences.boundaries import SPACED_MARKS
from pocketmt.sentences.scripts import CHINESE_JAPANESE, WITHOUT_SPACES
from pocketmt.text.normalization import replace_surrogates
from pocketmt.text.vocabulary import Vocabulary

_CLOSING: Final = r"[\"'”’»)\]」』）】》〉]*"
_OPENING: Final = "「『（【《〈"
_LATIN: Final = "A-Za-z\u00c0-\u024f\uff21-\uff3a\uff41-\uff5a"
_WORD: Final = lazy_pattern("[^ ]+ ?")


def encode_line(vocabulary: Vocabulary, line: str, limit: int) -> list[list[int]]:
    """Return the piece ids of a line's segments, at most `limit` ids each; an empty list for a line without text.

    A line within the limit is one segment. A longer line is cut at ends of sentences, as rarely as possible, a longer
    sentence between words, and a longer word between pieces. Lone surrogates become U+FFFD.
    """
    line = replace_surrogates(line)
    ids = vocabulary.encode(line)
    if len(ids) <= limit:
        return [ids] if ids else []
    segments: list[list[int]] = []
    for text in _joined(vocabulary, list(_units(vocabulary, line, limit)), limit):
        ids = vocabulary.encode(text)
        segments.extend(ids[start : start + limit] for start in range(0, len(ids), limit))
    return segments


@cache
def _sentence_end() -> re.Pattern[str]:
    """Return the pattern of a sentence's end with the space after it; compiling takes milliseconds, few lines need it.

    No run of the same characters is searched from more than its start, so that the time is proportional to the text.
    """
    # Chinese and Japanese marks need no space after them, nor do those of other scripts before letters of such scripts.
    # Full stops are also those of initials ("U.S."), decimals ("３．１４") and Thai abbreviations ("พ.ศ.").
    not_initial = rf"(?<!(?<![{_LATIN}])[{_LATIN}])"
    stop = rf"{not_initial}(?:．(?!(?<=\d．)\d)|\.(?={_CLOSING}[{CHINESE_JAPANESE}{_OPENING}]))"
    unspaced = rf"(?:[。！？｡]|{stop}|[!?](?={_CLOSING}[{WITHOUT_SPACES}{_OPENING}]))+{_CLOSING}\s*"
    return re.compile(rf"{unspaced}|[{SPACED_MARKS}]{_CLOSING}\s+")


def _units(vocabulary: Vocabulary, line: str, limit: int) -> Iterator[str]:
    """Yield the sentences of a line, normalized, and the words of a sentence that is too long; spaces follow them."""
    line = line.strip()
    # Normalization makes "！" the same as "!", so the ends are found before.
    ends = (match.end() for match in _sentence_end().finditer(line))
    for start, end in pairwise(chain((0,), ends, (len(line),))):
        sentence = vocabulary.normalize(line[start:end])
        if line[start:end][-1:].isspace():
            sentence += " "
        yield from [sentence] if len(vocabulary.encode(sentence)) <= limit else _WORD.findall(sentence)


def _joined(vocabulary: Vocabulary, units: Sequence[str], limit: int) -> Iterator[str]:
    """Join units into texts of at most `limit` pieces, as few as possible; a unit that has more is a text alone."""
    start = 0
    while start < len(units):
        end = _last_that_fits(vocabulary, units, start, limit)
        yield "".join(units[start:end])
        start = end


def _last_that_fits(vocabulary: Vocabulary, units: Sequence[str], start: int, limit: int) -> int:
    """Return the end of the most units from `start` on that have at most `limit` pieces together; at least one.

    Joined units can have more pieces than each of them alone, so the joined text is encoded, but not for each unit.
    """

    def fits(end: int) -> bool:
        return len(vocabulary.encode("".join(units[start:end]))) <= limit

    fitting, size = start + 1, 2
    while start + size <= len(units) and fits(start + size):
        fitting, size = start + size, 2 * size
    excess = min(start + size, len(units) + 1)
    while excess - fitting > 1:
        middle = (fitting + excess) // 2
        if fits(middle):
            fitting = middle
        else:
            excess = middle
    return fitting
