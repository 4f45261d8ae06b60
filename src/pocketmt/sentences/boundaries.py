"""Boundaries of sentences by rules: final punctuation, abbreviations, numbers, quotation marks and brackets."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from pocketmt.lazy_pattern import lazy_pattern
from pocketmt.sentences.abbreviations import ORDINAL_LANGUAGES, words

# Final punctuation of scripts with spaces; a space must follow, after closing quotation marks and brackets.
SPACED_MARKS: Final = ".!?…‥։؟۔।॥።፧။៕"
_SPACED: Final = rf"(?<![{SPACED_MARKS}])[{SPACED_MARKS}]+"
_CLOSING: Final = r"""(?:["'”’»«)\]›“」』）】]|[ \u00a0\u202f]»)*"""
# Final punctuation of Chinese and Japanese, which needs no space.
_UNSPACED_MARKS: Final = "。！？｡．"
_UNSPACED: Final = f"(?<![{_UNSPACED_MARKS}])[{_UNSPACED_MARKS}]+"
_BREAK: Final = r"(?<!\s)\s*[\n\r]\s*"
_MARK: Final = lazy_pattern(rf"[\n\r{SPACED_MARKS}{_UNSPACED_MARKS}]")
_OPENING_BRACKETS: Final = "「『（【"
_CLOSING_BRACKETS: Final = "」』）】"
# After a quotation in Japanese, these letters continue the sentence that quotes it.
_CONTINUES: Final = tuple("とっのはがをにもなで、，")
_OPENING: Final = "\"'“”‘„«»‹(<[{¿¡-–—*•#"
_WORD: Final = lazy_pattern(r"\w+(?:['’]\w+)?")
_ACRONYM: Final = lazy_pattern(r"(?:\w\.)+\w")
_ROMAN: Final = lazy_pattern(r"[IVXL]{1,6}")


def sentence_spans(text: str, language: str) -> list[tuple[int, int]]:
    """Return start and end of each sentence in a text, without the white space around it; none if the text is blank.

    A line break always ends a sentence. Otherwise final punctuation does, unless the word before it is an abbreviation,
    an initial or an ordinal number, or the text goes on in lower case (a text in which all is in lower case is also cut
    before lower case).

    Args:
        text: of any length; the time is proportional to it.
        language: of the text, as its ISO 639-1 code; it selects the abbreviations.
    """
    spans = []
    start = len(text) - len(text.lstrip())
    stop = len(text.rstrip())
    if _MARK.search(text, start, stop - 1) is None:  # most lines
        return [(start, stop)] if start < stop else []
    for end, following in _boundaries(text, language):
        if start < end:
            spans.append((start, end))
        start = following
    if start < stop:
        spans.append((start, stop))
    return spans


def _boundaries(text: str, language: str) -> Iterator[tuple[int, int]]:
    """Yield the end of each sentence but the last, and the start of the next."""
    brackets = _Brackets(text)
    any_case: bool | None = None
    start = 0
    for match in _candidate().finditer(text):
        if match["break"] is not None:
            yield match.start(), match.end()
        elif match["unspaced"] is not None:
            if brackets.open_at(match.end("closed")) or _quotation_continues(text, match):
                continue
            yield match.end("closed"), match.end()
        else:
            if any_case is None:
                any_case = text == text.lower()
            if not _ends(text, start, match, language, any_case):
                continue
            yield match.start("space"), match.end()
        start = match.end()


@cache
def _candidate() -> re.Pattern[str]:
    """Return the pattern of a possible boundary; most lines need none, and it takes a millisecond to compile."""
    # No run of the same characters is searched from more than its start, so that the time is proportional to the text.
    return re.compile(
        rf"(?P<break>{_BREAK})|(?P<unspaced>{_UNSPACED})(?P<closed>[」』）】”’\"]*)(?P<gap>[^\S\n\r]*)(?=\S)"
        rf"|(?P<mark>{_SPACED}){_CLOSING}(?P<space>[^\S\n\r]+)(?=\S)"
    )


def _quotation_continues(text: str, match: re.Match[str]) -> bool:
    return bool(match["closed"]) and not match["gap"] and text.startswith(_CONTINUES, match.end())


def _ends(text: str, start: int, match: re.Match[str], language: str, any_case: bool) -> bool:
    """Whether the final punctuation of a match ends a sentence that starts at `start`."""
    following = _following_word(text, match.end())
    if following[:1].islower() and not any_case and following[1:].islower() | (len(following) == 1):
        return False
    if match["mark"] != ".":
        return True
    word = _word_before(text, start, match.start())
    plain = word.lower()
    if plain in words("never_final", language):
        return False
    if plain in words("before_number", language):
        return not following[:1].isdecimal()
    is_starter = following.lower() in words("starters", language) and not any_case
    if plain in words("sometimes_final", language):
        return is_starter
    if _ACRONYM.fullmatch(word):  # "P.S." at the beginning is no sentence.
        return is_starter and match.start() - len(word) > start
    if len(word) == 1 and word.isalpha():
        return word == "I" and is_starter
    if word.isdecimal():
        if match.start() - len(word) <= start:
            return False
        return len(word) > 2 or language not in ORDINAL_LANGUAGES or is_starter
    if language in ORDINAL_LANGUAGES and _ROMAN.fullmatch(word):
        return is_starter
    return True


def _following_word(text: str, start: int) -> str:
    """Return the word from `start` on, without quotation marks, brackets and dashes before it."""
    found = _WORD.search(text, start, start + 40)
    if found is None or text[start : found.start()].strip(_OPENING + " "):
        return ""
    return found.group()


def _word_before(text: str, start: int, end: int) -> str:
    """Return the word that ends at `end`, with full stops in it and without brackets before it."""
    word = text[max(start, end - 20) : end]
    return (word.split() or [""])[-1].lstrip(_OPENING)


class _Brackets:
    """Whether a position of a text is inside brackets that are closed later; each question is further in the text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._last = max(text.rfind(closing) for closing in _CLOSING_BRACKETS)
        self._position = 0
        self._depth = 0

    def open_at(self, position: int) -> bool:
        """Whether a bracket is open at a position, and there is a closing one after it."""
        for character in self._text[self._position : position]:
            if character in _OPENING_BRACKETS:
                self._depth += 1
            elif character in _CLOSING_BRACKETS:
                self._depth = max(0, self._depth - 1)
        self._position = position
        return self._depth > 0 and self._last >= position
