"""Settings in TOML files, the paths in them, and messages with the names and values that are allowed."""

import codecs
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import inspect

from pocketmt.errors import ConfigurationError, unreadable

# Kinds of files by a key that only they have, and the commands that read them.
_KINDS: Final = {
    "data": ("the configuration of a training run", "pocketmt train {}"),
    "teachers": ("the configuration of a pipeline", "pocketmt pipeline {}"),
    "stages": ("a recipe", "pocketmt compress RUN {}"),
}
_VARIABLE: Final = re.compile(r"\$\{(?P<name>\w+)(?P<default>:-[^}]*)?\}")


def read_toml(path: Path, struct: type[msgspec.Struct]) -> Any:
    """Return the contents of a TOML file as a struct; ConfigurationError names the file, the place and what is allowed.

    Raises ConfigurationError also if the file cannot be read.
    """
    try:
        content = path.read_bytes().removeprefix(codecs.BOM_UTF8)
    except OSError as error:
        raise ConfigurationError(unreadable(path, error)) from error
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise ConfigurationError(f"{path} is in UTF-16: convert it to UTF-8")
    try:
        document = msgspec.toml.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: not a valid TOML file ({error}): correct it, or check the path") from error
    try:
        return msgspec.convert(document, struct)
    except msgspec.ValidationError as error:
        for key, (kind, command) in _KINDS.items():
            if key in document and key not in struct.__struct_fields__:
                raise ConfigurationError(f"{path} is {kind}: give it to `{command.format(path)}`") from error
        raise ConfigurationError(f"{path}: {explain(error, document, struct)}") from error


def explain(error: msgspec.ValidationError, document: Any, struct: type[msgspec.Struct]) -> str:
    """Return the place and the cause of an error; for unknown names and values, also those that are allowed.

    Args:
        error: raised by msgspec for the document; gives the cause of other errors, such as values out of range.
        document: as decoded without a type.
        struct: the type that it does not convert to.
    """
    found = _wrong_name(document, inspect.type_info(struct), "")
    if found is not None:
        return found
    cause, _, place = str(error).partition(" - at `$")
    cause = re.sub("^Object missing required field (.*)", r"the field \1 is missing: add it", cause)
    return f"{place.strip('.`')}: {cause[:1].lower()}{cause[1:]}".removeprefix(": ")


def _wrong_name(value: Any, kind: inspect.Type, place: str) -> str | None:
    """Return a message about the first unknown field, struct or choice in a value; None if there is none."""
    kinds = kind.types if isinstance(kind, inspect.UnionType) else (kind,)
    if isinstance(value, dict):
        return _wrong_name_in_struct(value, [each for each in kinds if isinstance(each, inspect.StructType)], place)
    if isinstance(value, list):
        items = [each.item_type for each in kinds if isinstance(each, inspect.ListType)]
        pairs = enumerate(value) if items else ()
        return _first(_wrong_name(each, items[0], f"{place}[{index}]") for index, each in pairs)
    choices = [choice for each in kinds if isinstance(each, inspect.LiteralType) for choice in each.values]
    if choices and value not in choices:
        return f"{place.lstrip('.')}: invalid value {value!r} (allowed: {', '.join(map(repr, choices))})"
    return None


def _wrong_name_in_struct(value: dict[str, Any], structs: list[inspect.StructType], place: str) -> str | None:
    tag = structs[0].tag_field if structs else None
    if tag is not None and tag in value:
        tags = [each.tag for each in structs]
        structs = [each for each in structs if each.tag == value[tag]]
        if not structs:
            return f"{place.lstrip('.')}.{tag}: invalid value {value[tag]!r} (allowed: {', '.join(map(repr, tags))})"
    if len(structs) != 1:
        return None
    fields = {field.encode_name: field.type for field in structs[0].fields}
    unknown = [name for name in value if name not in fields and name != tag]
    if unknown:
        return f"{place.lstrip('.')}: unknown field `{unknown[0]}` (allowed: {', '.join(fields)})".removeprefix(": ")
    return _first(_wrong_name(value[name], fields[name], f"{place}.{name}") for name in value if name != tag)


def _first(messages: Iterable[str | None]) -> str | None:
    return next((message for message in messages if message is not None), None)


def absolute_path(text: str, folder: Path) -> str:
    """Return a path of a settings file as an absolute path.

    As in a shell, `${NAME}` stands for an environment variable, and `${NAME:-default}` for the default if the variable
    is empty or not set. Relative paths start at the folder. Raises ConfigurationError for a variable that is not set.
    """

    def value(match: re.Match[str]) -> str:
        found = os.environ.get(match["name"]) or (match["default"] or "").removeprefix(":-")
        if not found:
            raise ConfigurationError(
                f"{folder}: the path {text!r} needs the environment variable {match['name']}, which is not set: "
                f"set it, or give a default as in ${{{match['name']}:-../data}}"
            )
        return found

    return str(folder / _VARIABLE.sub(value, text))
