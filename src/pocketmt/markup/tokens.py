"""Division of HTML into text, tags and what is copied, as browsers divide it.

Source: HTML Standard (WHATWG), section 13.2.5 (tokenization). Texts of tokens join to the document.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

# Their content is no markup, up to their end tags. That of a title is text; all other is copied.
RAW_TEXT: Final = frozenset(
    ("script", "style", "xmp", "iframe", "noembed", "noframes", "noscript", "plaintext", "title", "textarea")
)
TITLE: Final = "title"
VOID_INLINE: Final = frozenset(("img", "wbr"))
VOID: Final = VOID_INLINE.union(
    ("area", "base", "br", "col", "embed", "hr", "input", "link", "meta", "param", "source", "track")
)
# Documents in XML, where "/>" closes an element and sections of character data are no markup.
_XML: Final = re.compile(r"\ufeff?\s*<\?xml\s|[^>]*(?:>[^>]*){0,5}\sxmlns=.http://www\.w3\.org/1999/xhtml\b")
_CHARACTER_DATA: Final = "<![CDATA["
_SPACE: Final = r" \t\n\r\f"  # In a set of characters of a regular expression.
_NAME: Final = re.compile(rf"</?([A-Za-z][^{_SPACE}/>]*)")
_BETWEEN: Final = re.compile(rf"[{_SPACE}/]*")
_ATTRIBUTE: Final = re.compile(rf"=?([^{_SPACE}/>=]*)[{_SPACE}]*")
_SPACES: Final = re.compile(rf"[{_SPACE}]*")
_UNQUOTED: Final = re.compile(rf"[^{_SPACE}>]*")
_SCRIPT_MARK: Final = re.compile(rf"<!--|-->|</?script(?=[{_SPACE}/>])", re.IGNORECASE)
_COMMENT_END: Final = re.compile(r"--!?>")


@dataclass(frozen=True, slots=True)
class Token:
    """A part of a document.

    Attributes:
        text: as it stands in the document.
        name: of a tag, in lower case; empty: it is no tag.
        closing: whether it is an end tag.
        copied: whether it is neither text nor a tag: a comment, content that is no markup, or an unfinished tag.
        untranslated: whether a start tag says that its element is not to be translated.
    """

    text: str
    name: str = ""
    closing: bool = False
    copied: bool = False
    untranslated: bool = False


def tokenize(document: str) -> Iterator[Token]:
    """Yield the tokens of a document, in time proportional to its length."""
    is_xml = _XML.match(document) is not None
    position = start = 0
    while (position := document.find("<", position)) >= 0:
        token = _markup(document, position, is_xml=is_xml)
        if token is None:
            position += 1
            continue
        if position > start:
            yield Token(document[start:position])
        yield token
        position = start = position + len(token.text)
        if token.name in RAW_TEXT and not token.closing:
            end = _raw_text_end(document, start, token.name)
            if end > start:
                yield Token(document[start:end], copied=token.name != TITLE)
            position = start = end
    if start < len(document):
        yield Token(document[start:])


def _markup(document: str, start: int, *, is_xml: bool) -> Token | None:
    """Return the token that a "<" begins; None: it is text."""
    if is_xml and document.startswith(_CHARACTER_DATA, start):
        last = document.find("]]>", start)
        return Token(document[start : len(document) if last < 0 else last + 3], copied=True)
    following = document[start + 1 : start + 2]
    if following in ("!", "?") or (following == "/" and not document[start + 2 : start + 3].isascii()):
        return Token(document[start : _comment_end(document, start)], copied=True)
    name = _NAME.match(document, start)
    if name is None:
        if following != "/" or start + 2 >= len(document):
            return None
        return Token(document[start : _comment_end(document, start)], copied=True)
    end, attributes = _tag_end(document, name.end())
    if end is None:
        return Token(document[start:], copied=True)
    if is_xml and document.endswith("/>", start, end) and name[1].lower() not in VOID:
        return Token(document[start:end], copied=True)
    untranslated = (
        attributes.get("translate", "").lower() == "no" or "notranslate" in attributes.get("class", "").split()
    )
    return Token(document[start:end], name[1].lower(), following == "/", untranslated=untranslated)


def _comment_end(document: str, start: int) -> int:
    if document.startswith("<!--", start):
        for abrupt in ("<!-->", "<!--->"):
            if document.startswith(abrupt, start):
                return start + len(abrupt)
        found = _COMMENT_END.search(document, start + 4)
        return len(document) if found is None else found.end()
    end = document.find(">", start)
    return len(document) if end < 0 else end + 1


def _tag_end(document: str, position: int) -> tuple[int | None, dict[str, str]]:
    """Return the end of a tag whose name ends at a position, and its attributes; None: the tag is unfinished."""
    attributes: dict[str, str] = {}
    while True:
        position = _end(_BETWEEN, document, position)
        if position >= len(document):
            return None, attributes
        if document[position] == ">":
            return position + 1, attributes
        name = _ATTRIBUTE.match(document, position)
        assert name is not None  # It may be empty.
        position, value = name.end(), ""
        if document.startswith("=", position):
            position = _end(_SPACES, document, position + 1)
            quote = document[position : position + 1]
            if quote in ('"', "'") and quote:
                end = document.find(quote, position + 1)
                if end < 0:
                    return None, attributes
                value, position = document[position + 1 : end], end + 1
            else:
                end = _end(_UNQUOTED, document, position)
                value, position = document[position:end], end
        attributes.setdefault(name[1].lower(), value)


def _end(pattern: re.Pattern[str], document: str, position: int) -> int:
    match = pattern.match(document, position)
    return position if match is None else match.end()


def _raw_text_end(document: str, start: int, name: str) -> int:
    """Return where the end tag of an element begins whose content is no markup."""
    if name == "plaintext":
        return len(document)
    if name == "script":
        return _script_end(document, start)
    found = re.compile(rf"</{name}(?=[{_SPACE}/>])", re.IGNORECASE).search(document, start)
    return len(document) if found is None else found.start()


def _script_end(document: str, position: int) -> int:
    """Return where the end tag of a script begins; that of a script tag in a comment of the script does not count."""
    in_comment = in_script = False
    while (found := _SCRIPT_MARK.search(document, position)) is not None:
        mark = found[0].lower()
        position = found.end()
        if mark == "<!--":
            in_comment = True
            position -= 2  # Its dashes may also end the comment.
        elif mark == "-->":
            in_comment = in_script = False
        elif mark == "<script":
            in_script = in_comment
        elif not in_script:
            return found.start()
        else:
            in_script = False
    return len(document)
