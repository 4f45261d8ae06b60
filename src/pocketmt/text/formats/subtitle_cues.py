"""The cues of subtitles: their times, and their text in parts, one for each speaker or paragraph."""

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from pocketmt.text.character_references import unescape

_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_TIME: Final = (
    r"(?:-\s*)?(?:(?P<{0}_hours>\d+)\s*:\s*)?(?P<{0}_minutes>\d+)\s*:\s*"
    r"(?P<{0}_seconds>\d+(?:\s*[.,:]\s*\d+)?)"
)
_TIMES: Final = re.compile(rf"\s*{_TIME.format('start')}\s*-{{1,2}}>(?:\s*{_TIME.format('end')})?")
# Of HTML or WebVTT, a time of a word, or a style such as {\an8}.
_TAG: Final = re.compile(r"(</?[A-Za-z][^<>]*>|<\d[\d:.]*>|\{\\[^{}]*\})")
_TAG_NAME: Final = re.compile(r"<(/?)([A-Za-z]+)")
_STYLE: Final = re.compile(r"\{\\([ibus])(\d+)\}")  # Such as {\i1}, which {\i0} ends.
_BREAK: Final = re.compile(r"\\[Nh]|[\r\n\t]")  # \N and \h stand for a line break and a space.
_ENTITY: Final = re.compile(r"&(?:amp|lt|gt|quot|nbsp|#\d+);")
_DASH: Final = re.compile(r"[-–—•]")
# A label of a speaker, a song, a noise, or an item of a list.
_BEGINS_PART: Final = re.compile(r"[A-Z][A-Z0-9 .'’-]+:|[♪♫#\[(]|\d{1,3}[.)]\s")
_ENDS_PART: Final = re.compile(r"(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bDr)[.!?…。！？♪♫)\]]$")
_LABEL: Final = re.compile(r"[A-Z][A-Z0-9 .'’#-]+:\s+(?=\S)")
_VOICE: Final = re.compile(r"\s*<v[ .>]")


@dataclass(slots=True)
class Part:
    """Lines of a cue that are translated together.

    Attributes:
        raw: the lines as they are written.
        text: as one line without tags; empty: the lines are copied.
        before, after: tags around the text.
        has_voice: whether the tags name who speaks.
        escaped: whether special characters are written as entities.
    """

    raw: list[str]
    text: str = ""
    before: str = ""
    after: str = ""
    has_voice: bool = False
    escaped: bool = False

    def encode(self, lines: Sequence[str]) -> list[str]:
        """Return lines of a translation as they are written, with the tags around all of them."""
        written = [html.escape(line, quote=False) if self.escaped else line for line in lines] or [""]
        written[0] = self.before + written[0]
        written[-1] += self.after
        return written


@dataclass(slots=True)
class Cue:
    """A cue.

    Attributes:
        before: what is written since the text of the cue before, with its own times.
        start, end: in seconds; None: unknown.
        line_break: of its lines.
        number: of the first line of its text in the file, from 1.
        parts: its text.
    """

    before: str
    start: float | None = None
    end: float | None = None
    line_break: str = "\n"
    number: int = 0
    parts: list[Part] = field(default_factory=list)


def read_cues(text: str) -> tuple[list[Cue], str]:
    """Return the cues of a file that have text, and what is written after the last one."""
    is_webvtt = text.startswith("WEBVTT")
    lines = _LINE.findall(text)
    times = [(number, match) for number, line in enumerate(lines) if (match := _TIMES.match(line))]
    cues: list[Cue] = []
    done = 0  # lines before it are in cues
    for place, (number, match) in enumerate(times):
        following = times[place + 1][0] if place + 1 < len(times) else len(lines)
        end = _end_of_text(lines, number + 1, following, is_webvtt=is_webvtt, is_last=following == len(lines))
        if end == number + 1:
            continue
        content = [line.rstrip("\r\n") for line in lines[number + 1 : end]]
        cue = Cue("".join(lines[done : number + 1]), _seconds(match, "start"), _seconds(match, "end"))
        if cues:  # The last line break of the text is not one of its lines.
            cue.before = cues[-1].line_break + cue.before
        cue.line_break = lines[number + 1][len(content[0]) :] or "\n"
        cue.number = number + 2
        cue.parts = list(_parts(content, escaped=is_webvtt))
        cues.append(cue)
        done = end
    ended = done > 0 and lines[done - 1][-1] in "\r\n"
    return cues, (cues[-1].line_break if ended else "") + "".join(lines[done:])


def _end_of_text(lines: Sequence[str], start: int, following: int, *, is_webvtt: bool, is_last: bool) -> int:
    """Return the end of the lines of a cue's text, which may go on up to the line of the `following` times."""
    if is_webvtt:  # An empty line ends a cue.
        end = next((number for number in range(start, following) if not lines[number].strip("\r\n")), following)
        return end if any(line.strip() for line in lines[start:end]) else start
    end = following
    if not is_last and end > start and lines[end - 1].strip().isdecimal():
        end -= 1  # the number of the next cue
    while end > start and not lines[end - 1].strip():
        end -= 1
    return end


def _seconds(match: re.Match[str], which: str) -> float | None:
    minutes = match[f"{which}_minutes"]
    if minutes is None:
        return None
    seconds = re.sub(r"\s*[.,:]\s*", ".", match[f"{which}_seconds"])
    # Unlike int, float takes any number of digits.
    return 3600 * float(match[f"{which}_hours"] or 0) + 60 * float(minutes) + float(seconds)


def without_tags(line: str) -> str:
    """Return a line without tags and the white space around it."""
    return _TAG.sub("", line).strip()


def _parts(lines: Sequence[str], *, escaped: bool) -> Iterator[Part]:
    """Yield the parts of a cue's text: those of a speaker, songs, noises, items, sentences, and blank lines."""
    plain = [without_tags(line) for line in lines]
    has_dashes = any(map(_DASH.match, plain[1:]))
    waiting: list[str] = []
    for number, line in enumerate(lines):
        if waiting and _begins_part(plain[number - 1], plain[number], line, has_dashes=has_dashes):
            yield _part(waiting, escaped=escaped)
            waiting = []
        if plain[number]:
            waiting.append(line)
        else:
            yield Part([line])
    if waiting:
        yield _part(waiting, escaped=escaped)


def _begins_part(before: str, plain: str, line: str, *, has_dashes: bool) -> bool:
    begins = _BEGINS_PART.match(plain) or _VOICE.match(line) or (has_dashes and _DASH.match(plain))
    return not plain or bool(begins) or bool(_ENDS_PART.search(before))


def _part(lines: list[str], *, escaped: bool) -> Part:
    """Return lines as a part. Tags around its text are kept, those within it are left out."""
    tokens: list[str] = []
    for line in lines:  # A tag ends on its line: what looks like a longer one is text.
        tokens += [*([" "] if tokens else []), *filter(None, _TAG.split(line.strip()))]
    texts = [number for number, token in enumerate(tokens) if token.strip() and not _TAG.fullmatch(token)]
    first, last = texts[0], texts[-1]
    text = " ".join(_BREAK.sub(" ", "".join(map(_without_tag, tokens[first : last + 1]))).split())
    label = _LABEL.match(text)
    if label is not None:
        text = text[label.end() :]
    before, after = _kept(tokens[:first], tokens[first:last], tokens[last + 1 :])
    escaped = escaped or _ENTITY.search(text) is not None
    voice = any(map(_VOICE.match, tokens[:first]))
    start = "".join(before).lstrip() + ("" if label is None else label[0])
    if escaped:  # Even a reference may be a line break.
        text = " ".join(unescape(text).split())
    return Part(lines, text, start, "".join(after), voice, escaped)


def _without_tag(token: str) -> str:
    if _TAG.fullmatch(token) is None:
        return token
    return " " if token.lower().startswith("<br") else ""


def _kept(before: Sequence[str], within: Sequence[str], after: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the tags before and after a text, without those whose other half is within it."""
    closed_within = [half.name for token in within if (half := _half(token)) and half.ends]
    opened = [half.name for token in before if (half := _half(token)) and not half.ends]
    closed_after = [half.name for token in after if (half := _half(token)) and half.ends]
    kept_before = [
        token
        for token in before
        if not (half := _half(token)) or half.name in closed_after or half.name not in closed_within
    ]
    kept_after = [token for token in after if not (half := _half(token)) or half.name in opened]
    return kept_before, kept_after


class _Half(NamedTuple):
    """A tag that begins or ends something."""

    name: str
    ends: bool


def _half(token: str) -> _Half | None:
    if tag := _TAG_NAME.match(token):
        return _Half(tag[2], bool(tag[1]))
    style = _STYLE.fullmatch(token)
    return None if style is None else _Half(f"\\{style[1]}", float(style[2]) == 0)
