"""Segments of an HTML document: runs of text and inline tags, which are translated as one line each."""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from pocketmt.serving.markup.tokens import RAW_TEXT, TITLE, Token, tokenize


def _names(names: str) -> frozenset[str]:
    return frozenset(names.split())


# Elements within a line; all others end a segment.
INLINE: Final = _names(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark q s samp small span strike "
    "strong sub sup time tt u var wbr"
)
_VOID_INLINE: Final = _names("img wbr")
_VOID: Final = _VOID_INLINE | _names("area base br col embed hr input link meta param source track")
# Their content is copied; those within a line move as a whole.
_UNTRANSLATED: Final = _names("code kbd samp var pre svg math template object")
# Text with more tags than these is translated from tag to tag; the time to place tags grows with the product.
MOST_TAGS: Final = 200
MOST_WORK: Final = 1_000_000  # tags x characters
# What a sentence may have between words; an element with nothing else belongs to the sentence.
_PUNCTUATION: Final = frozenset(".,;:!?-–—'\"‘’“”„«»()…")
_NOTE: Final = frozenset("[]()*")  # in the number of a note, not in a number of the text
_LINE_SPACE: Final = re.compile(r"[\n\r\t\f\v\x1c-\x1e\x85\u2028\u2029]")


@dataclass(slots=True)
class Element:
    """An inline element of a segment, or something that moves as a whole.

    Attributes:
        opening, closing: its tags; closing is empty, and opening all of it, if it moves as a whole.
        start, end: of its text in that of the segment.
        has_letters: whether its text has letters.
        children: in order.
    """

    opening: str
    start: int
    closing: str = ""
    end: int = 0
    has_letters: bool = False
    children: list["Element"] = field(default_factory=list)


@dataclass(slots=True)
class Segment:
    """A part of a document.

    Attributes:
        markup: as it stands in the document.
        text: to translate, as one line without markup; empty: the segment is copied.
        elements: in the text.
    """

    markup: str
    text: str = ""
    elements: list[Element] = field(default_factory=list)


def divide_document(document: str) -> list[Segment]:
    """Return the segments of a document; their markup joins to it."""
    segments: list[Segment] = []
    inline: list[Token] = []
    copying, depth = "", 0  # name of the element that is copied, and how many of this name are open
    held: list[str] = []
    for token in tokenize(document):
        if copying:
            held.append(token.text)
            if token.name == copying:
                depth += -1 if token.closing else 1
            if depth:
                continue
            whole = Token("".join(held), copied=True)
            if copying in INLINE:
                inline.append(whole)
            else:
                _flush(inline, segments)
                segments.append(Segment(whole.text))
            copying = ""
        elif _begins_copied(token):
            copying, depth, held = token.name, 1, [token.text]
        elif token.name in INLINE or not (token.name or token.copied) or token.text.startswith("<!--"):
            inline.append(token)
        else:
            _flush(inline, segments)
            segments.append(Segment(token.text))
    _flush(inline, segments)
    if copying:
        segments.append(Segment("".join(held)))
    return segments


def _begins_copied(token: Token) -> bool:
    if token.closing or not token.name or token.name in (RAW_TEXT | _VOID) - {TITLE}:
        return False
    return token.name in _UNTRANSLATED or token.untranslated


def _flush(tokens: list[Token], segments: list[Segment]) -> None:
    if not tokens:
        return
    tags = sum(bool(token.name) or token.copied for token in tokens)
    if tags > MOST_TAGS or tags * sum(len(token.text) for token in tokens) > MOST_WORK:
        segments.extend(_segment([token]) for token in tokens)
    else:
        segments.append(_segment(tokens))
    tokens.clear()


def _segment(tokens: Sequence[Token]) -> Segment:
    markup = "".join(token.text for token in tokens)
    closed_by = _matching_tags(tokens)
    texts = ["" if token.name or token.copied else _LINE_SPACE.sub(" ", html.unescape(token.text)) for token in tokens]
    line = ""
    root: list[Element] = []
    stack: list[tuple[Element, int]] = []  # open elements, and the index of their end tags
    index = 0
    while index < len(tokens):
        token = tokens[index]
        siblings = stack[-1][0].children if stack else root
        if not token.name and not token.copied:
            line += texts[index]
        elif index in closed_by and _moves_as_a_whole(texts, index, closed_by[index]):
            whole = "".join(each.text for each in tokens[index : closed_by[index] + 1])
            siblings.append(Element(whole, len(line), end=len(line)))
            index = closed_by[index]
        elif index in closed_by:
            element = Element(token.text, len(line))
            siblings.append(element)
            stack.append((element, closed_by[index]))
        elif stack and stack[-1][1] == index:
            element, _ = stack.pop()
            element.closing, element.end = token.text, len(line)
            element.has_letters = any(map(str.isalpha, line[element.start :]))
        else:
            siblings.append(Element(token.text, len(line), end=len(line)))
        index += 1
    if not any(map(str.isalpha, line)):
        return Segment(markup)
    return Segment(markup, line, root)


def _moves_as_a_whole(texts: Sequence[str], first: int, last: int) -> bool:
    """Whether the element between two tags has text, but no letters, such as the number of a note.

    A translation could lose it, or place it within another word. A number between words is translated with them, and an
    element in the middle of a word stays there.
    """
    text = "".join(texts[first:last])
    if not text or text != text.strip() or any(map(str.isalpha, text)) or _PUNCTUATION.issuperset(text):
        return False
    before, after = (next(filter(None, each), " ") for each in (texts[first::-1], texts[last:]))
    if before[-1].isspace() and any(map(str.isdigit, text)) and not _NOTE.intersection(text):
        return False
    return not (before[-1].isalnum() and after[0].isalnum())


def _matching_tags(tokens: Sequence[Token]) -> dict[int, int]:
    """Return index of a start tag -> index of its end tag, for elements that are properly nested."""
    matching: dict[int, int] = {}
    open_tags: list[int] = []
    count: dict[str, int] = {}
    for index, token in enumerate(tokens):
        if not token.name or token.name in _VOID_INLINE:
            continue
        if not token.closing:
            open_tags.append(index)
            count[token.name] = count.get(token.name, 0) + 1
        elif count.get(token.name):
            while tokens[open_tags[-1]].name != token.name:
                count[tokens[open_tags.pop()].name] -= 1
            matching[open_tags.pop()] = index
            count[token.name] -= 1
    return matching
