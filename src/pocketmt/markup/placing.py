"""Inline elements around the words of a translation that belong to theirs, by alignment; each occurs once."""

import html
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from pocketmt.markup.division import Translation
from pocketmt.markup.links import Link
from pocketmt.markup.segments import Element, Segment
from pocketmt.sentences.protected import WORD_WITH_SPACES, protected_matches

_SPACE: Final = " \t\n\r\f"
_SHOWN: Final = "\ufffc"  # stands for markup that is shown
# Punctuation with no space after it, and with none before it.
_OPENING: Final = frozenset("([{„«¿¡")
_CLOSING: Final = frozenset(".,;:!?)]}»…%。，、；：！？）」』】")


def render_segment(segment: Segment, translation: Translation) -> str:
    """Return the markup of a translated segment, with the white space around its own: itself, if it is copied."""
    if not segment.text:
        return segment.markup
    markup, rendered = segment.markup, _rendered(segment, translation)
    start, end = len(markup) - len(markup.lstrip(_SPACE)), len(markup.rstrip(_SPACE))
    before = markup[:start] if rendered.startswith(" ") else ""
    return before + rendered.strip(" ") + (markup[end:] if rendered.endswith(" ") else "")


def _rendered(segment: Segment, translation: Translation) -> str:
    text = translation.texts[0]
    if not segment.elements:
        return html.escape(text, quote=False)
    words = _words(segment.text, text, translation.links)
    if not words:
        return html.escape(text, quote=False) + "".join(map(_empty, segment.elements))
    usable = [any(map(str.isalnum, text[word.target_start : word.target_end])) for word in words]
    tags = _Tags(segment.text, words, usable)
    tags.add(segment.elements, 0, len(words))
    output = _Output()
    end = 0
    for word, before, after in zip(words, tags.before, tags.after, strict=True):
        output.add_text(text[end : word.target_start])
        output.add_tags(before)
        output.add_text(text[word.target_start : word.target_end])
        output.add_tags(after)
        end = word.target_end
    output.add_text(text[end:])
    return "".join(output.parts)


class _Tag(NamedTuple):
    """Markup, whether something of it is shown, and whether it is apart from the words before and after it."""

    markup: str
    shown: bool = False
    space_before: bool = False
    space_after: bool = False


class _Output:
    """Joins text and tags, with a space between words and what is apart from them.

    Attributes:
        parts: of the document.
    """

    def __init__(self) -> None:
        self.parts: list[str] = []
        self._last = " "  # character that is shown
        self._space_at: int | None = None  # index of the part before which the next text needs a space

    def add_text(self, text: str) -> None:
        """Add text without markup."""
        if not text:
            return
        if self._space_at is not None and not text[0].isspace() and text[0] not in _CLOSING:
            self.parts.insert(self._space_at, " ")
        self._space_at = None
        self.parts.append(html.escape(text, quote=False))
        self._last = text[-1]

    def add_tags(self, tags: Sequence[_Tag]) -> None:
        """Add markup."""
        for tag in tags:
            if tag.space_before and not self._last.isspace() and self._last not in _OPENING:
                self.parts.append(" ")
                self._space_at = None
            self.parts.append(tag.markup)
            if tag.shown:
                self._last = _SHOWN
            if tag.space_after:
                self._space_at = len(self.parts)


def _words(source: str, target: str, links: Sequence[Link]) -> list[Link]:
    """Return the words of a translation in order, each with the part of the source that it belongs to."""
    words: list[Link] = []
    end = 0
    for link in sorted(links, key=lambda each: each.target_start):
        if link.target_start >= end and link.target_end > link.target_start:
            words += _unlinked(source, target, end, link.target_start)
            words += _without_punctuation(source, target, link)
            end = link.target_end
    return [*words, *_unlinked(source, target, end, len(target))]


def _without_punctuation(source: str, target: str, link: Link) -> Iterator[Link]:
    """Yield the parts of a word, if it and its source both begin or end with punctuation, which a tag may leave out."""
    before = _punctuation(source, target, link, 1)
    after = _punctuation(source, target, link, -1)
    first, last, start, end = link
    if before:
        yield Link(first, first + before[0], start, start + before[1])
        first, start = first + before[0], start + before[1]
    if after:
        yield Link(first, last - after[0], start, end - after[1])
        first, start = last - after[0], end - after[1]
    yield Link(first, last, start, end)


def _punctuation(source: str, target: str, link: Link, step: int) -> tuple[int, int] | None:
    """Return the lengths of the punctuation at the start (step 1) or the end (-1) of a word's source and of the word.

    None: one of the two has no punctuation there, or nothing else.
    """
    lengths = []
    for text in (source[link.source_start : link.source_end], target[link.target_start : link.target_end]):
        kept = {place for match in protected_matches(text) for place in range(*match.span())}  # such as {name}
        places = range(len(text))[::step]
        length = next((count for count, place in enumerate(places) if text[place].isalnum() or place in kept), 0)
        if not length:
            return None
        lengths.append(length)
    return lengths[0], lengths[1]


def _unlinked(source: str, target: str, start: int, end: int) -> Iterator[Link]:
    """Yield the words in a part of a translation without links, for the source at the same proportion of its length."""
    for match in WORD_WITH_SPACES.finditer(target, start, end):
        place = match.start() * len(source) // max(1, len(target))
        yield Link(place, place + 1, *match.span())


class _Tags:
    """Tags to write before and after each word of a translation.

    Args:
        source: the text of the segment.
        words: of the translation.
        usable: of each word, whether it may stand for the words of an element, which punctuation may not.
    """

    def __init__(self, source: str, words: Sequence[Link], usable: Sequence[bool]) -> None:
        self._source = source
        self._words = words
        self._usable = usable
        self.before: list[list[_Tag]] = [[] for _ in words]
        self.after: list[list[_Tag]] = [[] for _ in words]

    def add(self, elements: Sequence[Element], first: int, last: int) -> None:
        """Add elements among the words from `first` up to `last`, of which there is at least one."""
        for element, start, end in self._place(elements, first, last):
            if start < end:
                self.before[start].append(_Tag(element.opening))
                self.add(element.children, start, end)
                self.after[end - 1].append(_Tag(element.closing))
            elif start < last and not (start > first and self._follows_a_word(element)):
                self.before[start].append(self._empty_tag(element))
            else:
                self.after[start - 1].append(self._empty_tag(element))

    def _empty_tag(self, element: Element) -> _Tag:
        markup = _empty(element)
        if markup.startswith(("<!", "<?")):
            return _Tag(markup)
        before, after = f" {self._source}"[element.start], f"{self._source} "[element.end]
        return _Tag(
            markup,
            shown=True,
            space_before=before.isspace() or before in _OPENING,
            space_after=after.isspace() or after in _CLOSING,
        )

    def _follows_a_word(self, element: Element) -> bool:
        """Whether there is no white space between an element and the text before it.

        What is after all text stays there: it may be an unfinished tag, which takes the rest of the document.
        """
        return 0 < element.start < len(self._source) and not self._source[element.start - 1].isspace()

    def _place(self, elements: Sequence[Element], first: int, last: int) -> list[tuple[Element, int, int]]:
        """Return elements in their new order, each with the words from and up to which it is; no two share a word."""
        free = [True] * len(self._words)
        placed: list[tuple[Element, int, int]] = []
        without_words: list[Element] = []
        for element in elements:
            start, end = _best_range(self._words, element, free, first, last)
            if start == end:
                without_words.append(element)
                continue
            free[start:end] = [False] * (end - start)
            placed.append((element, start, end))
        for element in without_words:
            usable = [index for index in range(first, last) if free[index] and self._usable[index]]
            if element.has_letters and usable:
                nearest = min(usable, key=lambda index: _distance(self._words[index], element))
                free[nearest] = False
                placed.append((element, nearest, nearest + 1))
        with_words = list(placed)
        for element in without_words:
            if any(element is each for each, _, _ in with_words):
                continue
            follows = self._follows_a_word(element)
            place = (_place_after if follows else _place_of)(self._words, element, first, last)
            place = next((end for _, start, end in with_words if start < place < end), place)
            placed.append((element, place, place))
        return sorted(placed, key=lambda each: each[1:])


def _empty(element: Element) -> str:
    """Return an element without words."""
    return element.opening + "".join(map(_empty, element.children)) + element.closing


def _best_range(
    words: Sequence[Link], element: Element, free: Sequence[bool], first: int, last: int
) -> tuple[int, int]:
    """Return the free words that have the most of an element's words more than others; an empty range without any."""
    best, best_range = 0, (first, first)
    total, start = 0, first
    for index in range(first, last):
        if not free[index]:
            total, start = 0, index + 1
            continue
        total += 1 if _belongs(words[index], element) else -1
        if total > best:
            best, best_range = total, (start, index + 1)
        if total < 0:
            total, start = 0, index + 1
    return best_range


def _belongs(word: Link, element: Element) -> bool:
    """Whether at least half of a word is in an element, or the whole element in the word."""
    start, end = max(word.source_start, element.start), min(word.source_end, element.end)
    return end > start and (
        2 * (end - start) >= word.source_end - word.source_start or end - start == element.end - element.start
    )


def _distance(word: Link, element: Element) -> int:
    """Return the number of characters of the source between a word and an element."""
    return max(element.start - word.source_end, word.source_start - element.end, 0)


def _place_after(words: Sequence[Link], element: Element, first: int, last: int) -> int:
    """Return the word before which an element is that follows a word: the one after what belongs to that word."""
    preceding = [word.source_start for word in words[first:last] if word.source_start < element.start]
    if not preceding:
        return _place_of(words, element, first, last)
    nearest = max(preceding)
    return 1 + next(index for index in reversed(range(first, last)) if words[index].source_start == nearest)


def _place_of(words: Sequence[Link], element: Element, first: int, last: int) -> int:
    """Return the word before which an element without words is: the first that belongs to what follows it."""
    following = [word.source_start for word in words[first:last] if word.source_start >= element.start]
    if not following:
        return last
    nearest = min(following)
    return next(index for index in range(first, last) if words[index].source_start == nearest)
