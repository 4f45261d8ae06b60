"""Stand-ins for the URLs, e-mail addresses and placeholders of a text: names and numbers, which models copy."""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from pocketmt.sentences.protected import protected_matches

_NAMES: Final = ("Tom", "Boston", "Paris", "John")
_NUMBERS: Final = ("300", "20", "500", "38")
# Of letters, only those that could belong to a name: a name may stand beside Chinese or Japanese characters.
_NAME_LETTERS: Final = "A-Za-z0-9\u00c0-\u024f\u1e00-\u1eff"


class StandIn(NamedTuple):
    """A word, and the part of a text in whose place it stands."""

    word: str
    part: str
    is_genitive: bool = False  # whether the part is followed by 's

    def find(self, text: str) -> list[tuple[int, int]]:
        """Return the places of the word in a text; a genitive may have its s without an apostrophe, as in German."""
        end = f"(?=s?(?![{_NAME_LETTERS}]))" if self.is_genitive else f"(?![{_NAME_LETTERS}])"
        return [match.span() for match in re.finditer(f"(?<![{_NAME_LETTERS}]){self.word}{end}", text)]


def with_stand_ins(text: str, reserved: str = "") -> tuple[str, list[StandIn]]:
    """Return a text with stand-ins for its URLs, e-mail addresses and placeholders; none if it has too many of these.

    A number stands for the placeholder of a number, a name for anything else, in capitals where the rest of the text
    is. Tags and symbols stay as they are. Words of the text `reserved` are not taken.
    """
    matches = [match for match in protected_matches(text) if match["replaceable"] is not None]
    ends = [0, *(match.end() for match in matches)]
    between = [text[end : match.start()] for end, match in zip(ends, matches, strict=False)]
    rest = text[ends[-1] :]
    names, numbers = map(iter, (_NAMES, _NUMBERS))
    if "".join([*between, rest]).isupper():
        names = map(str.upper, names)
    taken = f"{text} {reserved}"
    found: list[StandIn] = []
    for match in matches:
        words = numbers if match["of_number"] else names
        word = next((word for word in words if word not in taken), None)
        if word is None:
            return text, []
        is_genitive = re.match(r"['’]s\b", text[match.end() : match.end() + 3]) is not None
        found.append(StandIn(word, match[0], is_genitive))
    replaced = (before + stand_in.word for before, stand_in in zip(between, found, strict=True))
    return "".join([*replaced, rest]), found


def with_parts(translation: str, stand_ins: Sequence[StandIn]) -> str | None:
    """Return a translation with the parts in place of the stand-ins; None unless it has each exactly once."""
    for stand_in in stand_ins:
        places = stand_in.find(translation)
        if len(places) != 1:
            return None
        start, end = places[0]
        translation = translation[:start] + stand_in.part + translation[end:]
    return translation


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
