"""Subtitles, as SubRip (.srt) and WebVTT (.vtt): the text of cues; a sentence of several cues is translated as one."""

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from pocketmt.text.formats.format import Unit, decode

_MOST_CUES: Final = 4  # of a sentence
_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")
_TIMES: Final = re.compile(r"\s*(?:\d+:)?\d+:\d+[.,]\d+\s*-->")
_TAG: Final = r"(?:<[^<>]*>|\{\\[^{}]*\})"  # of HTML or WebVTT, or a position such as {\an8}
_LEADING_TAGS: Final = re.compile(rf"(?:{_TAG}\s*)*")
_TRAILING_TAGS: Final = re.compile(rf"(?:\s*{_TAG})*$")
_TIME_TAG: Final = re.compile(r"<[\d:.]+>")  # of words, which have no place in a translation
_REPEATED_TAG: Final = re.compile(r"</(\w+)>\s*<\1>")  # ends with a line, and begins again with the next
_DASH: Final = re.compile(r"\s*[-–—•]")
_WITHOUT_SPACES: Final = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
_ENDS_PART: Final = frozenset(",;:–—，、；：")
_DETOUR: Final = 0.15  # of the text
_ENDS_SENTENCE: Final = re.compile(r"[.!?…:;。！？♪)\]\"”»]$")


@dataclass(slots=True)
class _Cue:
    """A cue: what stands before its text in the file, and the text.

    Attributes:
        before: since the text of the cue before, line breaks included.
        lines: of its text, without line breaks.
        line_break: of its lines.
        number: of its first line of text, counted from 1.
    """

    before: str
    lines: list[str] = field(default_factory=list)
    line_break: str = "\n"
    number: int = 0

    def add(self, line: str, line_break: str, number: int) -> None:
        """Add a line of text, and say what ends it and which line of the file it is."""
        self.lines.append(line)
        self.line_break = line_break or self.line_break
        self.number = self.number or number

    @property
    def is_dialogue(self) -> bool:
        """Whether each line is what someone says."""
        return len(self.lines) > 1 and all(_DASH.match(_without_tags(line)) for line in self.lines)


class _Text:
    """The text of a cue, and the tags before and after it."""

    def __init__(self, lines: Sequence[str], *, escaped: bool) -> None:
        joined = " ".join(line.replace("\r", " ").strip() for line in lines)
        joined = _REPEATED_TAG.sub(" ", _TIME_TAG.sub("", joined)).strip()
        start = _LEADING_TAGS.match(joined)
        self._before = "" if start is None else start[0]
        joined = joined[len(self._before) :]
        end = _TRAILING_TAGS.search(joined)
        self._after = "" if end is None else end[0]
        text = joined[: len(joined) - len(self._after)]
        self._escaped = escaped and "<" not in text
        self.text = html.unescape(text) if self._escaped else text

    def encode(self, translation: str) -> str:
        """Return a translation with the tags."""
        text = html.escape(translation, quote=False) if self._escaped else translation
        return self._before + text + self._after


def read_units(blocks: Iterable[bytes | None], name: str) -> Iterator[Unit]:
    """Yield the cues of a file; several with one sentence are a unit. All else is copied.

    The translation of a sentence is divided among its cues by the length of their texts, and has as many lines as they.
    Raises DataError if the file is not UTF-8.
    """
    content = b"".join(block for block in blocks if block is not None)
    text = "\n".join(decode(line, name, number) for number, line in enumerate(content.split(b"\n"), 1))
    escaped = text.startswith("WEBVTT")
    cues = list(_cues(text))
    waiting: list[_Cue] = []
    for cue in cues[:-1]:
        if waiting and not (len(waiting) < _MOST_CUES and _continues(waiting[-1], cue)):
            yield _unit(waiting, escaped=escaped)
            waiting = []
        waiting.append(cue)
    if waiting:
        yield _unit(waiting, escaped=escaped)
    yield Unit(("",), cues[-1].before.encode(), lambda translation: b"", b"", 0)


def _cues(text: str) -> Iterator[_Cue]:
    """Yield the cues, and then what stands after the last one."""
    before: list[str] = []
    cue: _Cue | None = None  # whose text is read
    for number, line in enumerate(_LINE.findall(text), 1):
        content = line.rstrip("\r\n")
        if cue is not None and content.strip() and not _TIMES.match(line):
            cue.add(content, line[len(content) :], number)
            continue
        if cue is not None and cue.lines:
            # Some files have no blank line before the number of the next cue.
            own = cue.lines.pop() + cue.line_break if content.strip() and cue.lines[-1].strip().isdecimal() else ""
            if cue.lines:
                yield cue
                before = [cue.line_break]
            before.append(own)
        cue = None
        before.append(line)
        if _TIMES.match(line):
            cue = _Cue("".join(before))
    if cue is not None and cue.lines:
        yield cue
        before = [cue.line_break] if text.endswith("\n") else []
    yield _Cue("".join(before))


def _without_tags(text: str) -> str:
    return re.sub(_TAG, "", text).strip()


def _continues(before: _Cue, cue: _Cue) -> bool:
    """Tell whether a sentence goes on from one cue to the next."""
    if before.is_dialogue or cue.is_dialogue:
        return False
    end, start = _without_tags(before.lines[-1]), _without_tags(cue.lines[0])
    return bool(end) and not _ENDS_SENTENCE.search(end) and start[:1].islower()


def _unit(cues: Sequence[_Cue], *, escaped: bool) -> Unit:
    first = cues[0]
    if first.is_dialogue:
        texts = [_Text([line], escaped=escaped) for line in first.lines]

        def encode_lines(translation: str) -> bytes:
            parts = zip(texts, translation.split("\n"), strict=True)
            return first.line_break.join(text.encode(part) for text, part in parts).encode()

        return Unit(tuple(text.text for text in texts), first.before.encode(), encode_lines, b"", first.number)
    parts = [_Text(cue.lines, escaped=escaped) for cue in cues]

    def encode(translation: str) -> bytes:
        divided = _divide(translation, [len(part.text) for part in parts])
        written = []
        for cue, part, text in zip(cues, parts, divided, strict=True):
            lines = _divide(text, [1] * len(cue.lines))
            wrapped = cue.line_break.join(line for line in lines if line)
            written.append((cue.before if cue is not first else "") + part.encode(wrapped))
        return "".join(written).encode()

    return Unit((" ".join(part.text for part in parts),), first.before.encode(), encode, b"", first.number)


def _divide(text: str, shares: Sequence[int]) -> list[str]:
    """Return a text in parts whose lengths are about as the shares; it is divided at spaces, if it has any.

    A text of too few words has empty parts at the end.
    """
    parts: list[str] = []
    total = sum(shares)
    for count, share in zip(range(len(shares), 1, -1), shares, strict=False):
        places = [match.start() for match in re.finditer(r"\s+", text)]
        if not places and _WITHOUT_SPACES.search(text):
            places = list(range(1, len(text)))
        places = places[: len(places) - (count - 2)] or places[:1]  # The other parts need the rest.
        place = _best_place(text, places, len(text) * share / max(1, total))
        parts.append(text[:place].rstrip())
        text = text[place:].lstrip()
        total -= share
    return [*parts, text]


def _best_place(text: str, places: Sequence[int], wanted: float) -> int:
    """Return the place nearest to the wanted one, or one after a comma that is not much farther away."""

    def distance(place: int) -> float:
        after_comma = text[place - 1] in _ENDS_PART
        return abs(place - wanted) - (_DETOUR * len(text) if after_comma else 0.0)

    return min(places, key=distance, default=len(text))
