"""Sentences of text in any language, as models that translate one sentence at a time read it."""

from pocketmt.sentences import sentence_spans
from pocketmt.text.normalization import remove_invisible


def sentences(line: str) -> list[str]:
    """Return the sentences of a line in any language, without the white space around them.

    A sentence may end after an abbreviation, which changes no piece: a space follows it.
    """
    line = remove_invisible(line)
    return [line[start:end] for start, end in sentence_spans(line, "")]
