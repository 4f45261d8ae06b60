"""Strings of YAML, as Marian's vocabularies and those of other programs have them."""

import re
from typing import Final

# The escapes of YAML 1.2, which has those of JSON.
_ESCAPES: Final = {
    **{"0": "\0", "a": "\a", "b": "\b", "t": "\t", "\t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r"},
    **{"e": "\x1b", " ": " ", '"': '"', "/": "/", "\\": "\\"},
    **{"N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029"},
}
_ESCAPE: Final = re.compile(r"\\(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|[^xuU]|)", re.DOTALL)
_PAIR: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def unquoted(text: str) -> str:
    """Return the string of a scalar in double, single or no quotation marks.

    Raises ValueError, naming it, for an escape that YAML does not have or that stands for no character.
    """
    if len(text) > 1 and text[0] == text[-1] == '"':
        # JSON writes characters beyond U+FFFF as two escapes.
        found = _PAIR.sub(_joined, _ESCAPE.sub(_character, text[1:-1]))
        if any("\ud800" <= character <= "\udfff" for character in found):
            raise ValueError("an escape that is half a character")
        return found
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    return text


def _character(escape: re.Match[str]) -> str:
    kind = escape[1]
    if len(kind) > 1 and int(kind[1:], 16) <= 0x10FFFF:
        return chr(int(kind[1:], 16))
    if kind not in _ESCAPES:
        raise ValueError(f"the unknown escape {escape[0]!r}")
    return _ESCAPES[kind]


def _joined(pair: re.Match[str]) -> str:
    return pair[0].encode("utf-16", "surrogatepass").decode("utf-16")
