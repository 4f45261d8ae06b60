"""Stand-ins for the URLs, placeholders and numbers of a text: names and numbers that models copy."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Final, NamedTuple

from pocketmt.lazy_pattern import lazy_pattern
from pocketmt.sentences.numbers import NumberFormats, rewritten_in
from pocketmt.sentences.protected import Part, apart, replaceable_parts

# In the order of the first try, and of the second. Models exchange a person and a place, as in "in Tom with Boston". So
# places are tried first after prepositions of place, and after "to" and "from" where somebody moves.
_NAMES: Final = (("Tom", "Anna", "Max", "Boston"), ("Max", "Tom", "Anna", "Boston"))
_PLACES: Final = (("Boston", "Paris", "Tom", "Anna"), ("Paris", "Boston", "Max", "Tom"))
_BEFORE_PLACE: Final = lazy_pattern(
    r"(?i)(?<!\w)(?:at|in|into|near|through|aus|durch|nach|à|en|vers|depuis|hacia|desde) (?:the )?$"
)
_TO_OR_FROM: Final = lazy_pattern(r"(?i)(?<!\w)(?:to|from) (?:the )?$")
# It does not match in "I am going to talk to ..." and "Go and talk to ...".
_MOVE: Final = lazy_pattern(
    r"(?i)(?<!\w)(?:\w+igrat\w+|arriv\w+|been|bus|c[ao]m(?:e|es|ing)|dr[io]v\w+|far|fl[eiy]\w*|go|goes|going|gone|miles?"
    r"|mov\w+|planes?|return\w*|roads?|tickets?|trains?|travel\w*|trips?|visits?|walk\w*|way|welcome|went"
    r"|(?:get|gets|getting|got) to|(?:am|are|be|is|m|re|s|was|were)(?: not| you)? from)"
    r"(?!\w)(?! (?:to|and) (?!the )\w+ )"
)
_LONGEST_BEFORE_PLACE: Final = 12  # characters
_LONGEST_BEFORE_TO: Final = 60  # characters
_NUMBERS: Final = (("300", "20", "500", "38", "60", "700"), ("30", "50", "200", "40", "600", "80"))
_SMALL_NUMBERS: Final = (("20", "30", "40", "50"), ("30", "40", "50", "20"))
_YEARS: Final = (("2013", "1990", "2005", "1985"), ("2012", "1995", "2001", "1980"))
_MOST: Final = 12  # words in place of parts
_YEAR: Final = lazy_pattern(r"(?:19|20)\d\d")
TRIES: Final = len(_NAMES)
MOST_NAMES: Final = len(_NAMES[0])  # that may stand in
_SHORT: Final = 11  # spaces
# In longer texts, of each try: how many words may be lost, and how many spaces there may be.
_LIMITS: Final = ((2, 1000), (1, 20))
# Of letters, only those that could belong to a name: a name may stand beside Chinese or Japanese characters.
_NAME_LETTERS: Final = "A-Za-z0-9\u00c0-\u024f\u1e00-\u1eff"
_SIGNS_OF_NUMBERS: Final = "$€£¥%"
_CAPITALS: Final = lazy_pattern(r"[^\W\d_]{2}")
# In German, the s has no apostrophe.
_GENITIVE: Final = lazy_pattern(r"['’]?s\b")


class StandIn(NamedTuple):
    """A word, and the part of a text in whose place it stands.

    Attributes:
        word: that stands in.
        part: of the text, with its numbers as the target language writes them.
        is_genitive: whether the part is followed by 's or s.
        added: characters that may not touch the part in a translation, since the text does not have them.
        source: the part as the text has it.
    """

    word: str
    part: str
    is_genitive: bool = False
    added: str = ""
    source: str = ""

    def find(self, text: str) -> list[tuple[int, int]]:
        """Return the places of the word in a text; a genitive may have its s without an apostrophe, as in German."""
        end = f"(?=s?(?![{_NAME_LETTERS}]))" if self.is_genitive else f"(?![{_NAME_LETTERS}])"
        return [match.span() for match in re.finditer(f"(?<![{_NAME_LETTERS}]){re.escape(self.word)}{end}", text)]


def with_stand_ins(
    text: str,
    reserved: str = "",
    attempt: int = 0,
    unknown: Sequence[Part] = (),
    formats: NumberFormats | None = None,
    chosen: Callable[[Sequence[Part]], Sequence[Part]] = tuple,
) -> tuple[str, list[StandIn]]:
    """Return a text with stand-ins for its URLs, placeholders, numbers and unknown words; none if it has too many.

    A number stands for a number or its placeholder, a year for a year, and a name for anything else, in capitals where
    the rest of the text is. Tags, symbols and other numbers stay as they are.

    Args:
        text: any text.
        reserved: a text whose words are not taken.
        attempt: from 0 to TRIES - 1; others take other words.
        unknown: further parts, such as words with unknown characters; those that touch others, or lie within longer
            ones, are left out. Ranges of numbers take the place of their numbers.
        formats: of the numbers of the text and of its translation.
        chosen: returns the URLs, placeholders and numbers that are replaced, of all.
    """
    parts = chosen(replaceable_parts(text, formats.source if formats is not None else None))
    if len(parts) + len(unknown) > _MOST:
        return text, []
    parts = [part for part in parts if not any(map(part.is_in_range, unknown))]
    parts = sorted([*parts, *apart(sorted(unknown, key=lambda part: (part.start, -part.end)), parts)])
    ends = [0, *(part.end for part in parts)]
    between = [text[end : part.start] for end, part in zip(ends, parts, strict=False)]
    rest = text[ends[-1] :]
    around = "".join([*between, rest])
    in_capitals = _CAPITALS.search(around) is not None and around.isupper()  # "I" and "A" alone are not.
    added = "".join(sign for sign in _SIGNS_OF_NUMBERS if sign not in around)
    taken = f"{text} {reserved}"
    used: set[str] = set()
    found: list[StandIn] = []
    for part in parts:
        words = (each.upper() if in_capitals else each for each in _words_for(part, text)[attempt])
        word = next((each for each in words if each not in taken and each not in used), None)
        if word is None:
            return text, []
        used.add(word)
        is_genitive = _GENITIVE.match(text, part.end) is not None
        shown = rewritten_in(part.text, formats) if formats is not None and part.is_number else part.text
        found.append(StandIn(word, shown, is_genitive, added, part.text))
    replaced = (before + stand_in.word for before, stand_in in zip(between, found, strict=True))
    return "".join([*replaced, rest]), found


def may_help(text: str, lost: int, attempt: int) -> bool:
    """Whether stand-ins for lost words may help: in long texts, models rarely keep several names.

    Args:
        text: that has the words.
        lost: the number of these.
        attempt: from 0 to TRIES - 1.
    """
    spaces = text.count(" ")
    most_lost, most_spaces = _LIMITS[attempt]
    return spaces <= _SHORT or (lost <= most_lost and spaces <= most_spaces)


def _words_for(part: Part, text: str) -> tuple[tuple[str, ...], ...]:
    """Return the words that may stand in for a part of a text, of each try."""
    if _YEAR.fullmatch(part.text):
        return _YEARS
    if part.is_number and len(part.text) == len(_SMALL_NUMBERS[0][0]):
        return _SMALL_NUMBERS
    if part.is_of_number:
        return _NUMBERS
    return _PLACES if _is_place(text, part.start, part.end) else _NAMES


def _is_place(text: str, start: int, end: int) -> bool:
    """Whether the words around a part of a text tell that it is a place."""
    before = text[max(start - _LONGEST_BEFORE_PLACE, 0) : start]
    if _TO_OR_FROM.search(before):
        move = _MOVE.search(text[max(start - _LONGEST_BEFORE_TO, 0) : start])
        return move is not None and _GENITIVE.match(text, end) is None
    return _BEFORE_PLACE.search(before) is not None


def with_parts(translation: str, stand_ins: Sequence[StandIn]) -> str | None:
    """Return a translation with the parts in place of the stand-ins; None unless it has each exactly once."""
    for stand_in in stand_ins:
        places = stand_in.find(translation)
        # A name that stands in may not occur a second time as part of a word either, such as "Toms".
        if len(places) != 1 or (stand_in.word.isalpha() and translation.count(stand_in.word) > 1):
            return None
        start, end = places[0]
        around = translation[max(start - 1, 0) : start] + translation[end : end + 1]
        if any(character in stand_in.added for character in around):
            return None
        translation = translation[:start] + stand_in.part + translation[end:]
    return translation


def pieces_of(pieces: Sequence[str], stand_in: StandIn) -> range:
    """Return the pieces of a text that have the first occurrence of a stand-in."""
    ends = list(accumulate(map(len, pieces)))
    for start, end in stand_in.find("".join(pieces))[:1]:
        return range(bisect_right(ends, start), bisect_left(ends, end) + 1)
    return range(0)


def pieces_with_parts(pieces: Sequence[str], stand_ins: Sequence[StandIn]) -> tuple[str, ...]:
    """Return the pieces of a text with the parts in place of the stand-ins, where they are.

    The first piece of a stand-in takes the part, and the others lose what they had of the stand-in.
    """
    replaced = tuple(pieces)
    for stand_in in stand_ins:
        for start, end in stand_in.find("".join(replaced))[:1]:
            replaced = tuple(_pieces_with_part(replaced, start, end, stand_in.part))
    return replaced


def _pieces_with_part(pieces: Sequence[str], start: int, end: int, part: str) -> Iterator[str]:
    position = 0
    for piece in pieces:
        first, position = position, position + len(piece)
        if position <= start or first >= end:
            yield piece
            continue
        before, after = piece[: max(start - first, 0)], piece[max(end - first, 0) :]
        yield before + (part if first <= start else "") + after
