"""JSON files, such as the messages of an application: their strings; keys and all else are copied."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from pocketmt.errors import DataError
from pocketmt.text.formats.format import Unit, Warn, decode, unit_of_bytes
from pocketmt.text.formats.icu_messages import has_forms, read_forms
from pocketmt.text.normalization import replace_surrogates

_TOKEN: Final = re.compile(
    r'(?P<string>"(?:[^"\\]|\\.)*")(?P<key>\s*:)?|(?P<opens>[{\[])|(?P<closes>[}\]])|(?P<next>,)'
)
# Data about a message of an ARB file has its key with this sign before it.
_METADATA: Final = "@"


class _Value(NamedTuple):
    """A string of a file that is no key.

    Attributes:
        start, end: where its quotation marks are.
        line: number, from 1.
        keys: of the objects around it, the outermost first; an array has none.
    """

    start: int
    end: int
    line: int
    keys: tuple[str, ...]


def read_units(
    blocks: Iterable[bytes | None], name: str, field: str | None = None, warn: Warn | None = None
) -> Iterator[Unit]:
    """Yield each string that is no key, which its translation replaces. All else is copied.

    Strings without letters are copied, and so are those below a key that begins with "@". An ICU message with forms for
    numbers or cases is several lines, the complete sentences of its forms; if it cannot be divided, it is copied, and
    `warn` is told.

    Args:
        blocks: bytes of the file.
        name: name of the file in messages.
        field: key of the strings to translate; None: all.
        warn: called with warnings, at the end of the file; None: there are none.

    Raises:
        DataError: the file is not JSON in UTF-8, or no string has the key `field`.
    """
    content = b"".join(block for block in blocks if block is not None)
    text = "\n".join(decode(line, name, number) for number, line in enumerate(content.split(b"\n"), 1))
    _check(text, name)
    values = [value for value in _values(text) if field is None or value.keys[-1:] == (field,)]
    if field is not None and not values:
        raise DataError(f"{name}: no string has the key {field!r}: name another one, or leave out --field")
    end, copied = 0, list[int]()
    for value in values:
        string = replace_surrogates(json.loads(text[value.start : value.end]))
        if not any(map(str.isalpha, string)) or any(key.startswith(_METADATA) for key in value.keys):
            continue
        if has_forms(string) and read_forms(string) is None:
            copied.append(value.line)
        else:
            yield _unit(string, text[value.start : value.end], text[end : value.start], value.line)
            end = value.end
    yield unit_of_bytes(text[end:].encode())
    if copied and warn is not None:
        which = "this ICU message was" if len(copied) == 1 else f"this and {len(copied) - 1:,} more ICU messages were"
        warn(f"{name}, line {copied[0]}: {which} copied, not translated: the forms cannot be divided into sentences")


def _check(text: str, name: str) -> None:
    try:
        json.loads(text, parse_int=str)  # Of any length.
    except json.JSONDecodeError as error:
        raise DataError(
            f"{name}, line {error.lineno}: not JSON ({error.msg}, column {error.colno}): "
            "correct it, or use --format jsonl if each line is an object"
        ) from error
    except RecursionError as error:
        raise DataError(f"{name}: arrays or objects are nested too deeply") from error


def _values(text: str) -> Iterator[_Value]:
    """Yield the strings of a JSON text that are no keys, in order."""
    keys: list[str] = []  # Of the objects that are open.
    depths: list[int] = []  # Of the open arrays and objects: how many keys were before them.
    line, seen = 1, 0
    for match in _TOKEN.finditer(text):
        if match["opens"]:
            depths.append(len(keys))
        elif match["closes"]:
            del keys[depths.pop() :]
        elif match["next"]:
            del keys[depths[-1] :]
        elif match["key"]:
            keys.append(json.loads(match["string"]))
        else:
            line += text.count("\n", seen, match.start())
            seen = match.start()
            yield _Value(match.start(), match.end(), line, tuple(keys))


def _unit(string: str, written: str, before: str, line: int) -> Unit:
    """Return the unit of a string. What is the same as its text stays as it was written.

    Args:
        string: the text.
        written: as JSON.
        before: what is written before it.
        line: number, from 1.
    """
    forms = read_forms(string) if has_forms(string) else None
    texts = [string] if forms is None else list(forms.sentences())
    # A translation drops the carriage returns at the ends of lines.
    ends = [[each[len(each.rstrip("\r")) :] for each in text.split("\n")] for text in texts]

    def encode(translation: str) -> bytes:
        lines = iter(translation.split("\n"))
        translated = ["\n".join(next(lines) + end for end in of_text) for of_text in ends]
        whole = translated[0] if forms is None else forms.written(iter(translated))
        if translated == texts or (forms is not None and read_forms(whole) is None):
            return written.encode()
        return json.dumps(whole, ensure_ascii=False).encode()

    return Unit(tuple("\n".join(texts).split("\n")), before.encode(), encode, b"", line)
