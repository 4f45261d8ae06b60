"""What is done to a line of text before it is cut into pieces, in training and at run time alike."""

import unicodedata


def normalize(line: str) -> str:
    """Return `line` in Unicode form NFKC, control characters and runs of white space made one space, ends stripped.

    It is done here and not by SentencePiece's own rules, because those cost 240 KB of every model file.
    """
    composed = unicodedata.normalize("NFKC", line)
    if not composed.isprintable():
        composed = "".join(" " if unicodedata.category(character) == "Cc" else character for character in composed)
    return " ".join(composed.split())
