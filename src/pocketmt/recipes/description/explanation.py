"""Messages of msgspec, with what is allowed at the place that they name."""

import re
import types
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

_PLACE = re.compile(r"^(?P<what>.*?)(?: - at `\$?(?P<place>.*)`)?$", re.DOTALL)


def explain(message: str, struct: type[msgspec.Struct]) -> str:
    """Return msgspec's message about a `struct`: the place first, then what is wrong, then what is allowed there."""
    match = _PLACE.match(message)
    assert match is not None
    what, place = match["what"], (match["place"] or "").lstrip(".")
    named = place.removeprefix("key in ")
    allowed = _allowed(what, _types_at(struct, re.findall(r"[A-Za-z_]\w*", named)))
    where = f"{named}: " if named else ""
    return f"{where}{what[:1].lower()}{what[1:]}" + (f" (allowed: {', '.join(allowed)})" if allowed else "")


def _types_at(struct: type[msgspec.Struct], keys: list[str]) -> list[Any]:
    """Return the types that a value under these keys may have; of a union's tag, the structs themselves."""
    found: list[Any] = [struct]
    for key in keys:
        inner = []
        for each in found:
            if _is_struct(each):
                hints = get_type_hints(each, include_extras=False)
                inner.extend([*_alternatives(hints[key])] if key in hints else [each])
        found = inner
    return found


def _alternatives(hint: Any) -> list[Any]:
    """Return the members of a union or of a list's elements, one level after the other."""
    if get_origin(hint) in (Union, types.UnionType):
        return [each for member in get_args(hint) for each in _alternatives(member)]
    if get_origin(hint) is list:
        return _alternatives(get_args(hint)[0])
    return [hint]


def _allowed(what: str, found: list[Any]) -> list[str]:
    if what.startswith("Invalid enum value"):
        values = [repr(value) for each in found if get_origin(each) is Literal for value in get_args(each)]
        return list(dict.fromkeys(values))
    structs = [each for each in found if _is_struct(each)]
    if what.startswith("Invalid value"):  # of a tag
        return [repr(each.__struct_config__.tag) for each in structs]
    if "unknown field" in what:
        fields = [name for each in structs for name in each.__struct_fields__]
        return list(dict.fromkeys(fields))
    return []


def _is_struct(each: Any) -> bool:
    return isinstance(each, type) and issubclass(each, msgspec.Struct)
