"""Segments of an HTML document: runs of text and inline tags, which are translated as one line each."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from pocketmt.markup.open_elements import INLINE, OpenElements
from pocketmt.markup.tokens import RAW_TEXT, TITLE, VOID, VOID_INLINE, Token, tokenize
from pocketmt.text.character_references import unescape
from pocketmt.text.normalization import remove_invisible

# Their content is copied; those within a line move as a whole.
_UNTRANSLATED: Final = frozenset(("code", "kbd", "samp", "var", "pre", "svg", "math", "template", "object"))
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
        text: to translate, as one line without markup and invisible characters; empty: the segment is copied.
        elements: in the text.
    """

    markup: str
    text: str = ""
    elements: list[Element] = field(default_factory=list)


def divide_document(document: str) -> list[Segment]:
    """Return the segments of a document; their markup joins to it."""
    segments: list[Segment] = []
    inline: list[Token] = []
    elements = OpenElements()
    copied: list[str] = []  # the parts of an element that is copied
    name, outside = "", 0  # of this element: its name, and how many elements are open around it
    for token in tokenize(document):
        kept = elements.read(token, outside if copied else None)
        if copied:
            own_end_tag = token.closing and kept == outside
            # Also with the end tag of an inline element around it: in the line that follows, this tag could move.
            ends_with = own_end_tag or (token.closing and token.name in INLINE)
            if kept > outside or ends_with:
                copied.append(token.text)
            if kept > outside:
                continue
            whole = "".join(copied)
            copied.clear()
            if own_end_tag and name in INLINE:
                inline.append(Token(whole, copied=True))
            else:
                _flush(inline, segments)
                segments.append(Segment(whole))
            if ends_with:
                continue
        if _begins_copied(token):
            name, outside = token.name, kept
            copied.append(token.text)
        elif token.name in INLINE or not (token.name or token.copied) or token.text.startswith("<!--"):
            inline.append(token)
        else:
            _flush(inline, segments)
            segments.append(Segment(token.text))
    _flush(inline, segments)
    if copied:
        segments.append(Segment("".join(copied)))
    return segments


def _begins_copied(token: Token) -> bool:
    if token.closing or not token.name or token.name in (RAW_TEXT | VOID) - {TITLE}:
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
    texts = ["" if token.name or token.copied else _text(token) for token in tokens]
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


def _text(token: Token) -> str:
    """Return the text of a token as a part of one line, without invisible characters such as `&shy;`."""
    return remove_invisible(_LINE_SPACE.sub(" ", unescape(token.text)))


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
        if not token.name or token.name in VOID_INLINE:
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
