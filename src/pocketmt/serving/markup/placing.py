"""Inline elements around the words of a translation that belong to theirs, by alignment; each occurs once."""

import html
import re
from collections.abc import Iterator, Sequence
from typing import Final

from pocketmt.serving.markup.segments import Element, Segment
from pocketmt.serving.translation.division import Translation
from pocketmt.serving.translation.links import Link

_WORD: Final = re.compile(r"\S+")


def render_segment(segment: Segment, translation: Translation) -> str:
    """Return the markup of a translated segment: that of the segment itself, if it is copied."""
    if not segment.text:
        return segment.markup
    text = translation.texts[0]
    if not segment.elements:
        return html.escape(text, quote=False)
    words = _words(segment.text, text, translation.links)
    if not words:
        return html.escape(text, quote=False) + "".join(map(_empty, segment.elements))
    tags = _Tags(words)
    tags.add(segment.elements, 0, len(words))
    output: list[str] = []
    end = 0
    for word, before, after in zip(words, tags.before, tags.after, strict=True):
        space, inside = text[end : word.target_start], text[word.target_start : word.target_end]
        output += [html.escape(space, quote=False), *before, html.escape(inside, quote=False), *after]
        end = word.target_end
    return "".join(output) + html.escape(text[end:], quote=False)


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
        length = next((place for place, each in enumerate(text[::step]) if each.isalnum()), 0)
        if not length:
            return None
        lengths.append(length)
    return lengths[0], lengths[1]


def _unlinked(source: str, target: str, start: int, end: int) -> Iterator[Link]:
    """Yield the words in a part of a translation without links, for the source at the same proportion of its length."""
    for match in _WORD.finditer(target, start, end):
        place = match.start() * len(source) // max(1, len(target))
        yield Link(place, place + 1, *match.span())


class _Tags:
    """Tags to write before and after each word of a translation."""

    def __init__(self, words: Sequence[Link]) -> None:
        self.words = words
        self.before: list[list[str]] = [[] for _ in words]
        self.after: list[list[str]] = [[] for _ in words]

    def add(self, elements: Sequence[Element], first: int, last: int) -> None:
        """Add elements among the words from `first` up to `last`, of which there is at least one."""
        for element, start, end in _place(self.words, elements, first, last):
            if start < end:
                self.before[start].append(element.opening)
                self.add(element.children, start, end)
                self.after[end - 1].append(element.closing)
            elif start < last:
                self.before[start].append(_empty(element))
            else:
                self.after[last - 1].append(_empty(element))


def _empty(element: Element) -> str:
    """Return an element without words."""
    return element.opening + "".join(map(_empty, element.children)) + element.closing


def _place(words: Sequence[Link], elements: Sequence[Element], first: int, last: int) -> list[tuple[Element, int, int]]:
    """Return elements in their new order, each with the words from and up to which it is; no two share a word."""
    free = [True] * len(words)
    placed: list[tuple[Element, int, int]] = []
    without_words: list[Element] = []
    for element in elements:
        start, end = _best_range(words, element, free, first, last)
        if start == end:
            without_words.append(element)
            continue
        free[start:end] = [False] * (end - start)
        placed.append((element, start, end))
    for element in without_words:
        place = _place_of(words, element, first, last)
        place = next((end for _, start, end in placed if start < place < end), place)
        placed.append((element, place, place))
    return sorted(placed, key=lambda each: each[1:])


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


def _place_of(words: Sequence[Link], element: Element, first: int, last: int) -> int:
    """Return the word before which an element without words is: the first that belongs to what follows it."""
    following = [word.source_start for word in words[first:last] if word.source_start >= element.start]
    if not following:
        return last
    nearest = min(following)
    return next(index for index in range(first, last) if words[index].source_start == nearest)
