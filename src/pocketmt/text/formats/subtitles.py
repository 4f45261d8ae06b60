"""Subtitles, as SubRip (.srt) and WebVTT (.vtt): the text of cues; a sentence of several cues is translated as one."""

import codecs
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from pocketmt.errors import DataError
from pocketmt.text.formats.format import Unit, decode, unit_of_bytes
from pocketmt.text.formats.subtitle_cues import Cue, Part, read_cues

_MOST_CUES: Final = 4  # of a sentence
_LONGEST_PAUSE: Final = 3.0  # seconds between cues of a sentence
_LONGEST_OVERLAP: Final = 1.0
_ENDS_SENTENCE: Final = re.compile(r"(?:[.!?:;。！？♪♫)\]\"”»]|[-–—])$")
_ELLIPSIS: Final = re.compile(r"(?<!\s)\s*(?:(?<!\.)\.{2,}|…)$")
_ELLIPSIS_BEFORE: Final = re.compile(r"^(?:\.{2,}|…)\s*")
_COMMA: Final = ",，、،"  # that an ellipsis replaces
_COMMAS: Final = frozenset(",;:–—，、；：")
_NEAR: Final = 8  # places on either side
_DETOUR: Final = 0.15  # of a part, to divide after a comma
# Scripts without spaces: Thai, Lao, Burmese, Khmer, Japanese and Chinese.
_WITHOUT_SPACES: Final = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
_MARKS: Final = frozenset(("Mn", "Mc"))


class _Piece(NamedTuple):
    """A part of a cue in a sentence.

    Attributes:
        cue: number of the cue in its unit.
        part: the part.
        text: what is translated of it.
        head, tail: ellipses around it, which show that the sentence goes on.
    """

    cue: int
    part: Part
    text: str
    head: str = ""
    tail: str = ""


def read_units(blocks: Iterable[bytes | None], name: str) -> Iterator[Unit]:
    """Yield the cues of a file; several with one sentence are a unit. All else is copied.

    Each part of a cue is a line of the unit (`subtitle_cues`). A sentence of several cues is one line: its translation
    is divided among them by the length of their texts. A translation has as many lines as the text, if it has as many
    words. Raises DataError if the file is not UTF-8, or has text but no times.
    """
    content = b"".join(block for block in blocks if block is not None)
    text = "\n".join(decode(line, name, number) for number, line in enumerate(content.split(b"\n"), 1))
    if not text.strip():
        yield unit_of_bytes(content)
        return
    cues, rest = read_cues(text)
    if not cues and not text.startswith("WEBVTT") and "-->" not in text:
        raise DataError(f"{name}: no times such as 00:00:01,000 --> 00:00:04,000: give a file of subtitles")
    if content.startswith(codecs.BOM_UTF8):
        yield unit_of_bytes(codecs.BOM_UTF8)
    waiting: list[Cue] = []
    for cue in cues:
        if waiting and not _continues(waiting[-1], cue):
            yield _unit(waiting)
            waiting = []
        waiting.append(cue)
    if waiting:
        yield _unit(waiting)
    yield unit_of_bytes(rest.encode())


def _continues(before: Cue, cue: Cue) -> bool:
    """Tell whether a sentence goes on from one cue to the next."""
    last, first = before.parts[-1], cue.parts[0]
    if not last.text or not first.text or first.has_voice:
        return False
    if (
        before.end is not None
        and cue.start is not None
        and not (-_LONGEST_OVERLAP <= cue.start - before.end <= _LONGEST_PAUSE)
    ):
        return False
    end, start = _ELLIPSIS.sub("", last.text), _ELLIPSIS_BEFORE.sub("", first.text)
    goes_on = start[:1].islower() or start.startswith(("I ", "I'", "I’")) or end.endswith(",")
    if last.text != end:
        return start[:1].islower()
    in_capitals = last.text.isupper() and first.text.isupper()
    without_case = start[:1].isalpha() and start[:1].lower() == start[:1].upper()
    return not _ENDS_SENTENCE.search(end) and (goes_on or in_capitals or without_case)


def _sentences(cues: Sequence[Cue]) -> list[list[_Piece]]:
    """Return the parts of cues that have text, those of a sentence together."""
    sentences: list[list[_Piece]] = []
    for number, cue in enumerate(cues):
        for part in cue.parts:
            if not part.text:
                continue
            piece = _Piece(number, part, part.text)
            joins = number > 0 and part is cue.parts[0] and len({each.cue for each in sentences[-1]}) < _MOST_CUES
            if joins:
                sentences[-1][-1] = _without_ellipsis_after(sentences[-1][-1])
                sentences[-1].append(_without_ellipsis_before(piece))
            else:
                sentences.append([piece])
    return sentences


def _without_ellipsis_after(piece: _Piece) -> _Piece:
    match = _ELLIPSIS.search(piece.text)
    return piece if match is None else piece._replace(text=piece.text[: match.start()], tail=match[0])


def _without_ellipsis_before(piece: _Piece) -> _Piece:
    match = _ELLIPSIS_BEFORE.match(piece.text)
    return piece if match is None else piece._replace(text=piece.text[match.end() :], head=match[0])


def _unit(cues: Sequence[Cue]) -> Unit:
    sentences = _sentences(cues)
    texts = tuple(" ".join(piece.text for piece in sentence) for sentence in sentences)

    def encode(translation: str) -> bytes:
        written = {id(part): part.raw for cue in cues for part in cue.parts}
        lines = translation.split("\n") if sentences else []
        for sentence, text, translated in zip(sentences, texts, lines, strict=True):
            if translated != text:
                written |= _written(sentence, translated)
        return "".join(
            (cue.before if number > 0 else "")
            + cue.line_break.join(line for part in cue.parts for line in written[id(part)])
            for number, cue in enumerate(cues)
        ).encode()

    return Unit(texts or ("",), cues[0].before.encode(), encode, b"", cues[0].number)


def _written(sentence: Sequence[_Piece], translation: str) -> dict[int, list[str]]:
    """Return the lines of each part of a sentence, by the part's id."""
    divided = divide(translation, [len(piece.text) for piece in sentence])
    written = {}
    for piece, text in zip(sentence, divided, strict=True):
        text = text.rstrip(_COMMA) if piece.tail else text
        lines = divide(piece.head + text + piece.tail, [1] * len(piece.part.raw))
        written[id(piece.part)] = piece.part.encode([line for line in lines if line])
    return written


def divide(text: str, shares: Sequence[int]) -> list[str]:
    """Return a text in parts whose lengths are about as the shares; it is divided at spaces, if it has any.

    A text of too few words has empty parts at the end.
    """
    places = _places(text)
    bounds = [0]
    total, given = max(1, sum(shares)), 0
    for number, share in enumerate(shares[:-1]):
        given += share
        left = len(shares) - 2 - number  # divisions after this one
        first = bisect_left(places, bounds[-1] + 1)
        last = max(first, len(places) - left - 1)
        reach = range(first, min(last + 1, len(places)))
        bounds.append(_place(text, places, reach, len(text) * given / total, len(text) * share / total))
    bounds.append(len(text))
    return [text[start:end].strip() for start, end in pairwise(bounds)]


def _places(text: str) -> list[int]:
    """Return where a text may be divided, in order."""
    places = [match.start() for match in re.finditer(r"\s+", text)]
    if places or not _WITHOUT_SPACES.search(text):
        return places
    return [place for place in range(1, len(text)) if _may_divide(text[place - 1], text[place])]


def _may_divide(before: str, after: str) -> bool:
    return unicodedata.category(after) not in _MARKS and not (before.isascii() and after.isascii())


def _place(text: str, places: Sequence[int], reach: range, wanted: float, length: float) -> int:
    """Return the place nearest to the wanted one, or one after a comma that is not much farther away.

    Args:
        text: to divide.
        places: where it may be divided.
        reach: the numbers of those to choose from; none: the text ends.
        wanted: place.
        length: of the part before it.
    """
    nearest = bisect_left(places, wanted, reach.start, reach.stop) if reach else 0
    near = range(max(reach.start, nearest - _NEAR), min(reach.stop, nearest + _NEAR))

    def distance(number: int) -> float:
        after_comma = text[places[number] - 1] in _COMMAS
        return abs(places[number] - wanted) - (_DETOUR * length if after_comma else 0.0)

    return places[min(near, key=distance)] if near else len(text)
