"""Normalization of a line before it is split into pieces, the same in training and translation."""

import unicodedata
from typing import Final

from pocketmt.lazy_pattern import lazy_pattern

# Soft hyphens, marks of direction, word joiners and byte order marks. U+200C and U+200D are kept: Persian, Indic
# scripts and emoji need them.
_REMOVED: Final = lazy_pattern(r"[\u00ad\u061c\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
_ZERO_WIDTH_SPACE: Final = "\u200b"


def normalize(line: str) -> str:
    """Return `line` in Unicode form NFKC, with single spaces for control characters and white space, stripped.

    Invisible characters are removed (see `remove_invisible`). SentencePiece's own normalization rules would add 240 KB
    to every model file.
    """
    # Invisible characters come first: they would keep a letter and its accent apart. NFKC makes none of them.
    return " ".join(replace_controls(unicodedata.normalize("NFKC", remove_invisible(line))).split())


def remove_invisible(text: str) -> str:
    """Return a text without characters that are not shown and change no word, and a space for each U+200B."""
    if text.isascii() or text.isprintable():  # most lines
        return text
    return _REMOVED.sub("", text).replace(_ZERO_WIDTH_SPACE, " ")


def visible_places(text: str) -> list[int]:
    """Return the place in a text of each character that `remove_invisible` leaves."""
    return [place for place, character in enumerate(text) if not _REMOVED.match(character)]


def replace_controls(text: str) -> str:
    """Return a text with a space for each control character."""
    if text.isprintable():
        return text
    return "".join(" " if unicodedata.category(character) == "Cc" else character for character in text)


def replace_surrogates(line: str) -> str:
    """Return a line that can be encoded as UTF-8, with U+FFFD for lone surrogates."""
    try:
        line.encode()
    except UnicodeEncodeError:
        return line.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return line
