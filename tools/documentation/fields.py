"""Fields of msgspec structs as rows of a table: key, type, default and meaning."""

import ast
import inspect
import json
import re
import textwrap
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import inspect as types

from pocketmt.errors import ConfigurationError

NO_DEFAULT = "required"


@dataclass(frozen=True)
class Field:
    """One key of a TOML table."""

    key: str
    type: str
    default: str
    meaning: str


def fields_of(struct: type[msgspec.Struct], inherited: bool = True) -> list[Field]:
    """Return the fields of a struct, in order; without `inherited` those that the class itself declares.

    The meaning of a field is the comment next to its declaration. ConfigurationError if a field has none.
    """
    described = _comments(struct)
    info = types.type_info(struct)
    assert isinstance(info, types.StructType)
    found = []
    for field in info.fields:
        if not inherited and field.name not in struct.__annotations__:
            continue
        if field.name not in described:
            raise ConfigurationError(f"{struct.__module__}: {struct.__name__}.{field.name}: the field has no comment")
        found.append(Field(field.encode_name, describe(field.type), _default(field), described[field.name]))
    return found


def describe(kind: types.Type) -> str:
    """Return a type in words, with the values that it allows."""
    if isinstance(kind, types.UnionType):
        names = dict.fromkeys(describe(each) for each in kind.types if not isinstance(each, _ABSENT))
        return " or ".join(names)
    if isinstance(kind, types.LiteralType):
        return ", ".join(f"`{json.dumps(value)}`" for value in sorted(kind.values, key=str))
    if isinstance(kind, types.ListType):
        item = describe(kind.item_type)
        return f"list of {item}s"
    if isinstance(kind, types.StructType | types.DictType):
        return "table"
    if isinstance(kind, types.IntType | types.FloatType):
        return ("integer" if isinstance(kind, types.IntType) else "number") + _limits(kind)
    if isinstance(kind, types.BoolType):
        return "`true`, `false`"
    assert isinstance(kind, types.StrType), kind
    return "string"


_ABSENT = (types.NoneType, types.CustomType, types.RawType)


def _limits(kind: types.IntType | types.FloatType) -> str:
    low, above, high, below = (getattr(kind, name) for name in ("ge", "gt", "le", "lt"))
    words = []
    if low is not None:
        words.append(f"at least {low:,}" if high is None else f"{low:,} to {high:,}")
    elif above is not None:
        words.append(f"above {above:g}")
    if high is not None and low is None and high < 1e30:
        words.append(f"at most {high:,}")
    if below is not None:
        words.append(f"below {below:g}")
    return ", " + ", ".join(words) if words else ""


def _default(field: types.Field) -> str:
    if field.default_factory is not msgspec.NODEFAULT:
        return _toml(field.default_factory())
    if field.default is msgspec.NODEFAULT:
        return NO_DEFAULT if field.required else "none"
    return _toml(field.default)


def _toml(value: Any) -> str:
    if value is None or value is msgspec.UNSET:
        return "none"
    if isinstance(value, msgspec.Struct) or value == {}:
        return "its defaults" if value != {} else "none"
    return f"`{json.dumps(value)}`"


def _comments(struct: type[msgspec.Struct]) -> dict[str, str]:
    """Return field -> comment of a struct and the structs that it inherits from."""
    found: dict[str, str] = {}
    for each in reversed(struct.__mro__):
        if each is not msgspec.Struct and issubclass(each, msgspec.Struct):
            found |= _declared_comments(textwrap.dedent(inspect.getsource(each)))
    return {name: re.sub(r"\bNone:", "none:", text) for name, text in found.items()}


def _declared_comments(source: str) -> dict[str, str]:
    lines = source.splitlines()
    (declaration,) = ast.parse(source).body
    assert isinstance(declaration, ast.ClassDef)
    found = {}
    for node in declaration.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.end_lineno is not None:
            above: list[str] = []
            for line in reversed(lines[: node.lineno - 1]):
                if not line.lstrip().startswith("# "):
                    break
                above.insert(0, line.strip().removeprefix("# "))
            beside = lines[node.end_lineno - 1].encode()[node.end_col_offset :].decode().strip()
            text = " ".join([*above, beside.removeprefix("# ")]).strip()
            if text:
                found[node.target.id] = text
    return found
