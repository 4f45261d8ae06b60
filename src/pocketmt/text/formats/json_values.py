"""JSON files, such as the messages of an application: their strings; keys and all else are copied."""

import codecs
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple

from pocketmt.errors import DataError
from pocketmt.text.formats.format import Unit, Warn, decode
from pocketmt.text.formats.icu_messages import Message, has_forms, read_message
from pocketmt.text.normalization import replace_surrogates

_TOKEN: Final = re.compile(
    r'(?P<string>"[^"\\]*(?:\\.[^"\\]*)*")(?P<key>\s*:)?|(?P<opens>[{\[])|(?P<closes>[}\]])|(?P<next>,)'
)
# What divides a string into texts: line breaks, and the sign between the forms of Vue's messages.
_SEPARATOR: Final = re.compile(r"((?<!\r)\r*\n|(?<!\r)\r+\Z| \| )")
_METADATA: Final = "@"  # In ARB files, "@title" has data about the message "title", and "@@locale" about the file.
# Of strings without white space, those for programs: names of variables, files and styles, codes of languages, colours
# and formats, and identifiers.
_CODE: Final = re.compile(
    r"_|[^\W_]{2}[.+=@\\][^\W_]{2}|[a-z][A-Z]|\d-\d|^(?:\.{1,2}|~)?/\S*[/.]|^[A-Za-z]:\\|^#[\dA-Fa-f]{3,8}$"
    r"|^[a-z]{2,3}-[A-Z]{2}$|^(?=\S*\d)[\dA-Fa-f]+(?:-[\dA-Fa-f]+)+$|^(?=.*(?:YY|MM|HH|mm))[YMDdHhmsaAZ:/.-]+$"
    r"|^(?:application|audio|font|image|multipart|text|video)/[\w.+-]+$"
)
_SPACE: Final = re.compile(r"\s")
_PLACEHOLDER: Final = re.compile(r"\{[^{}]*\}|%\(\w+\)|\$[A-Za-z_]\w*")
_MOST_NAMED: Final = 5  # lines in a warning


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

    Strings without letters and those for programs are copied, and so are the data about messages of ARB files, unless
    `field` is given. An ICU message with forms for numbers or cases is several lines, the complete sentences of its
    forms; if it cannot be divided into them, it is copied.

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
    before = codecs.BOM_UTF8 if content.startswith(codecs.BOM_UTF8) else b""
    end, copied, is_empty = 0, list[int](), True
    for value in _chosen(list(_values(text)), field, name):
        written = text[value.start : value.end]
        string = replace_surrogates(json.loads(written))
        message = read_message(string) if has_forms(string) else None
        if message is None and has_forms(string):
            copied.append(value.line)
        elif _is_text(string):
            is_empty = False
            texts = [_SEPARATOR.split(each) for each in ([string] if message is None else message.sentences)]
            encode = _encoder(texts, message, written, partial(copied.append, value.line))
            lines = tuple(line for parts in texts for line in parts[::2])
            yield Unit(lines, before + text[end : value.start].encode(), encode, b"", value.line)
            end, before = value.end, b""

    def report(translation: str) -> bytes:
        if warn is not None and copied:
            warn(
                f"{name}, {_named(copied)} copied, not translated: translate them by hand (they have an offset, a "
                "choice, an apostrophe before a brace, a # beside the forms, or braces that do not match)"
            )
        if warn is not None and is_empty:
            warn(f"{name}: has no text to translate")
        return b""

    yield Unit(("",), before + text[end:].encode(), report, b"", 0)


def _check(text: str, name: str) -> None:
    try:
        json.loads(text, parse_int=str)  # Of any length.
    except json.JSONDecodeError as error:
        raise DataError(
            f"{name}, line {error.lineno}: not JSON ({error.msg}, column {error.colno}): correct it; comments and "
            "trailing commas are not JSON; a file with an object on each line is JSON lines (.jsonl)"
        ) from error
    except RecursionError as error:
        raise DataError(f"{name}: arrays or objects are nested more than about 900 deep: divide the file") from error


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


def _chosen(values: Sequence[_Value], field: str | None, name: str) -> list[_Value]:
    """Return the strings with the key `field`, or those that are no data about a message."""
    if field is not None:
        chosen = [value for value in values if value.keys[-1:] == (field,)]
        if not chosen:
            raise DataError(f"{name}: no string has the key {field!r}: name another one, or leave out --field")
        return chosen
    known = {key for value in values for key in value.keys}

    def is_metadata(key: str) -> bool:
        return key.startswith(_METADATA) and (key[1:] in known or key[1:].startswith(_METADATA))

    return [value for value in values if not any(map(is_metadata, value.keys))]


def _is_text(string: str) -> bool:
    if not any(map(str.isalpha, string)):
        return False
    return _SPACE.search(string) is not None or _CODE.search(_PLACEHOLDER.sub("", string)) is None


def _encoder(
    texts: Sequence[Sequence[str]], message: Message | None, written: str, copy: Callable[[], None]
) -> Callable[[str], bytes]:
    """Return what writes the translation of a string as JSON; a string that stays the same is copied.

    Args:
        texts: lines and the separators after them, of the string or of each sentence of its message.
        message: the string as a message with forms; None: it is none.
        written: the string as JSON.
        copy: called if the translations are no message, so that the string is copied.
    """

    def encode(translation: str) -> bytes:
        lines = iter(translation.split("\n"))
        # The separators are every second part.
        translated = ["".join(part if at % 2 else next(lines) for at, part in enumerate(parts)) for parts in texts]
        whole = translated[0] if message is None else message.written(translated)
        if whole is None:
            copy()
        if whole is None or translated == ["".join(parts) for parts in texts]:
            return written.encode()
        return json.dumps(whole, ensure_ascii=False).encode()

    return encode


def _named(lines: Sequence[int]) -> str:
    """Return which ICU messages there are on some lines."""
    first = sorted(set(lines))[:_MOST_NAMED]
    more = f" and {len(lines) - len(first):,} more" if len(lines) > len(first) else ""
    noun = "line" if len(first) == 1 else "lines"
    return f"{noun} {', '.join(map(str, first))}{more}: ICU messages (plural, select, choice) were"
