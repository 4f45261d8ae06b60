"""Checks of a description's fields, declared as each field's metadata."""

from collections.abc import Iterable, Mapping
from dataclasses import Field
from typing import Any, Final

from pocketmt.errors import ConfigurationError

_ALLOWED: Final = "allowed"
_BOUNDS: Final = "bounds"
_PIECE: Final = "piece"
_HIGHEST: Final = "highest"
# Keys and values, or states, that a decoder keeps of a position: 4 MiB in float32. No real network has a quarter as
# many; without this bound, a small file of many wide layers could ask for any memory.
MAXIMUM_KEPT: Final = 1 << 20


def allowed(*values: object) -> Mapping[str, Any]:
    """Return the metadata of a field that must be equal to one of these values, and of the same type."""
    return {_ALLOWED: values}


def bounds(lowest: int, highest: int) -> Mapping[str, Any]:
    """Return the metadata of a field that is a whole number from `lowest` to `highest`."""
    return {_BOUNDS: (lowest, highest)}


def positive(highest: float) -> Mapping[str, Any]:
    """Return the metadata of a field that is a number above 0, at most `highest`."""
    return {_HIGHEST: highest}


def piece(*, required: bool) -> Mapping[str, Any]:
    """Return the metadata of a field that is the id of a piece, or None if it is not required."""
    return {_PIECE: required}


def check_fields(described: Iterable["Field[Any]"], values: Mapping[str, object]) -> None:
    """Raise ConfigurationError, naming the field, where a value is not what the field's metadata allow."""
    for field in described:
        value = values[field.name]
        if _BOUNDS in field.metadata:
            check_size(field.name, value, *field.metadata[_BOUNDS])
        elif _ALLOWED in field.metadata:
            _check_choice(field.name, value, field.metadata[_ALLOWED])
        elif _HIGHEST in field.metadata:
            _check_number(field.name, value, field.metadata[_HIGHEST])


def check_pieces(described: Iterable["Field[Any]"], values: Mapping[str, object], vocabulary_size: int) -> None:
    """Raise ConfigurationError, naming the field, where the id of a piece is not below `vocabulary_size`."""
    for field in described:
        value = values[field.name]
        if _PIECE in field.metadata and (field.metadata[_PIECE] or value is not None):
            check_size(field.name, value, 0, vocabulary_size - 1)


def check_size(name: str, value: object, lowest: int, highest: int) -> None:
    """Raise ConfigurationError, naming the field, where a value is not a whole number within bounds."""
    if not isinstance(value, int) or isinstance(value, bool) or not lowest <= value <= highest:
        raise ConfigurationError(
            f"architecture: {name} is {value!r:.80}, expected a whole number from {lowest} to {highest}"
        )


def check_kept(side: str, numbers: int) -> None:
    """Raise ConfigurationError where decoder layers keep too many numbers of each position of "source" or "target"."""
    if numbers > MAXIMUM_KEPT:
        raise ConfigurationError(
            f"architecture: decoder layers keep {numbers} numbers of each {side} position, expected at most "
            f"{MAXIMUM_KEPT}"
        )


def _check_number(name: str, value: object, highest: float) -> None:
    if not isinstance(value, float) or not 0.0 < value <= highest:
        raise ConfigurationError(
            f"architecture: {name} is {value!r:.80}, expected a number with a point, above 0 and at most {highest}"
        )


def _check_choice(name: str, value: object, choices: tuple[object, ...]) -> None:
    if not any(type(value) is type(choice) and value == choice for choice in choices):
        expected = " or ".join(map(repr, choices))
        raise ConfigurationError(f"architecture: {name} is {value!r:.80}, expected {expected}")
