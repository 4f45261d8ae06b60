"""The settings of a Marian model (`special:model.yml`): flat YAML of words, numbers and lists of them."""

import re
from collections.abc import Mapping
from typing import Final

from pocketmt.errors import InteropError

MODEL_YML: Final = "special:model.yml"
LARGEST_BYTES: Final = 1 << 20
Value = str | bool | int | float | list[str | bool | int | float]
_KEY: Final = re.compile(r"([A-Za-z0-9_.-]+):(?:\s+(.*))?")
_ITEM: Final = re.compile(r"\s*-\s+(.*)")
_INTEGER: Final = re.compile(r"[-+]?[0-9]{1,18}")
_NUMBER: Final = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")


def parse_settings(content: bytes, where: str) -> dict[str, Value]:
    """Read settings; raises InteropError, naming `where` and the line, for what Marian does not write."""
    if len(content) > LARGEST_BYTES:
        raise InteropError(f"{where}: {MODEL_YML} has {len(content)} bytes, at most {LARGEST_BYTES} are read")
    try:
        text = content.rstrip(b"\0").decode("utf-8")
    except UnicodeDecodeError as error:
        raise InteropError(f"{where}: {MODEL_YML} is not UTF-8: the file is damaged") from error
    found: dict[str, Value] = {}
    items: list[str | bool | int | float] | None = None
    for number, line in enumerate(text.split("\n"), start=1):
        line = line.rstrip("\r ")
        if not line or line.lstrip().startswith("#") or line in ("---", "..."):
            continue
        if (item := _ITEM.fullmatch(line)) and items is not None:
            items.append(_scalar(item[1]))
        elif line.strip() == "[]" and items == []:
            items = None
        elif (entry := _KEY.fullmatch(line)) and entry[1] not in found:
            items = [] if entry[2] is None else None
            found[entry[1]] = _value(entry[2]) if items is None else items
        else:
            raise InteropError(
                f"{where}: {MODEL_YML}, line {number}: {line!r:.80} is not a setting as Marian writes it"
            )
    return found


def format_settings(settings: Mapping[str, Value]) -> bytes:
    """Return settings as `parse_settings` reads them, in the order of their names, with the NUL that ends them."""
    lines = []
    for key, value in sorted(settings.items()):
        if isinstance(value, list):
            lines += [f"{key}:", *([f"  - {_text(item)}" for item in value] or ["  []"])]
        else:
            lines.append(f"{key}: {_text(value)}")
    return ("\n".join(lines) + "\n").encode() + b"\0"


def _value(text: str | None) -> Value:
    if text is not None and text.startswith("[") and text.endswith("]"):
        return [_scalar(item.strip()) for item in text[1:-1].split(",") if item.strip()]
    return _scalar(text or "")


def _scalar(text: str) -> str | bool | int | float:
    text = text.strip()
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    if text in ("true", "false"):
        return text == "true"
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _NUMBER.fullmatch(text) else text


def _text(value: str | bool | int | float) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str) and not re.fullmatch(r"[A-Za-z][A-Za-z0-9_ .;:+-]*", value):
        return f'"{value}"'
    return str(value)
