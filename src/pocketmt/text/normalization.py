"""Normalization of a line before it is split into pieces, the same in training and translation."""

import unicodedata


def normalize(line: str) -> str:
    """Return `line` in Unicode form NFKC, with single spaces for control characters and white space, stripped.

    SentencePiece's own normalization rules would add 240 KB to every model file.
    """
    return " ".join(replace_controls(unicodedata.normalize("NFKC", line)).split())


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
