"""Decoding of settings that earlier versions wrote under other names."""

from typing import Any, Final, TypeVar

import msgspec

S = TypeVar("S", bound=msgspec.Struct)

# Earlier name -> current name.
RENAMED: Final = {"cooldown_updates": "decay_updates", "references_share": "cross_entropy_weight"}


def decode_settings(data: bytes, kind: type[S]) -> S:
    """Decode a JSON object to a struct, with earlier names replaced; raises msgspec.DecodeError if it is invalid."""
    return msgspec.convert(_renamed(msgspec.json.decode(data)), type=kind)


def _renamed(value: Any) -> Any:
    if isinstance(value, dict):
        return {RENAMED.get(name, name): _renamed(each) for name, each in value.items()}
    return [_renamed(each) for each in value] if isinstance(value, list) else value
