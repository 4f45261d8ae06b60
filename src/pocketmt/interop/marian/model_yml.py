"""The YAML that Marian writes: keys with a plain value or a list of plain values, and nothing else of YAML."""

import json
import re
from typing import Final

from pocketmt.errors import InteropError

MAXIMUM_BYTES: Final = 1 << 20
MOST_DIGITS: Final = 18

Plain = str | int | float | bool | None
Value = Plain | list[Plain]

_KEY: Final = re.compile(r"([A-Za-z][\w.-]*):(?:[ \t]+(.*))?")
_ITEM: Final = re.compile(r"[ \t]*-[ \t]+(.*)")
_WHOLE: Final = re.compile(r"[-+]?[0-9]+")
_NUMBER: Final = re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.?[0-9]+)(?:[eE][-+]?[0-9]+)?")
_WORDS: Final[dict[str, Plain]] = {
    **dict.fromkeys(("true", "yes", "on"), True),
    **dict.fromkeys(("false", "no", "off"), False),
    **dict.fromkeys(("null", "~", ""), None),
}


def read_model_yml(content: bytes) -> dict[str, Value]:
    """Return the values by key; JSON is read, too.

    Raises InteropError naming the line that is anything else, or if a key is there twice.
    """
    if len(content) > MAXIMUM_BYTES:
        raise InteropError(f"the configuration has {len(content)} bytes, expected at most {MAXIMUM_BYTES}")
    try:
        text = content.rstrip(b"\0").decode("utf-8")
    except UnicodeDecodeError as error:
        raise InteropError("the configuration is not UTF-8") from error
    if text.lstrip().startswith("{"):
        return _json(text)
    values: dict[str, Value] = {}
    key: str | None = None
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#") or line.strip() == "---":
            continue
        if (item := _ITEM.fullmatch(line)) is not None and key is not None:
            _add_item(values, key, item[1], number)
        elif line[0] in " \t" and key is not None and line.strip().startswith("["):
            values[key] = _value(line.strip(), number)
        elif (found := _KEY.fullmatch(line)) is not None:
            key = found[1]
            if key in values:
                raise InteropError(f"line {number} of the configuration: {key!r:.80} is there twice")
            values[key] = _value((found[2] or "").strip(), number)
        else:
            raise InteropError(f"line {number} of the configuration is no key with a value: {line!r:.80}")
    return values


def _add_item(values: dict[str, Value], key: str, text: str, number: int) -> None:
    held = values[key]
    if held is None:
        held = values[key] = []
    if not isinstance(held, list):
        raise InteropError(f"line {number} of the configuration: {key!r:.80} has a value, and items")
    held.append(_plain(text.strip(), number))


def _value(text: str, number: int) -> Value:
    if text.startswith("["):
        if not text.endswith("]"):
            raise InteropError(f"line {number} of the configuration: a list without an end")
        inner = text[1:-1].strip()
        return [_plain(part.strip(), number) for part in inner.split(",")] if inner else []
    return _plain(text, number)


def _plain(text: str, number: int) -> Plain:
    if text.startswith('"') and text.endswith('"') and len(text) > 1:
        try:
            value = json.loads(text)
        except ValueError as error:
            raise InteropError(f"line {number} of the configuration: a string that is not understood") from error
        return str(value)
    if text.startswith("'") and text.endswith("'") and len(text) > 1:
        return text[1:-1].replace("''", "'")
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if text.startswith(("{", "[", "&", "*", "!", "|", ">")):
        raise InteropError(f"line {number} of the configuration has {text!r:.80}, which Marian does not write")
    if len(text) <= MOST_DIGITS and _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if _NUMBER.fullmatch(text) else text


def _json(text: str) -> dict[str, Value]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InteropError(f"the configuration is neither YAML nor JSON ({str(error)[:80]})") from error
    for key, value in found.items():
        if not all(
            each is None or isinstance(each, str | int | float)
            for each in (value if isinstance(value, list) else [value])
        ):
            raise InteropError(f"the configuration: {key!r:.80} is nested, which Marian does not write")
    return dict(found)
