"""JSON read strictly: no duplicate keys, no NaN or infinity, bounded depth, no lone surrogates."""

import json
import math
from typing import Final

from pocketmt.errors import ModelFileError

MAXIMUM_DEPTH: Final = 32


def parse_object(text: str | bytes, what: str) -> dict[str, object]:
    """Parse a JSON object from text or UTF-8; otherwise raises ModelFileError, naming it by `what`."""
    try:
        value = json.loads(
            text if isinstance(text, str) else text.decode("utf-8"),
            object_pairs_hook=_unique,
            parse_constant=_refuse_constant,
            parse_float=_finite,
        )
        _check_depth_and_text(value, MAXIMUM_DEPTH)
    except RecursionError as error:
        raise ModelFileError(f"{what} is nested more than {MAXIMUM_DEPTH} deep") from error
    except ValueError as error:  # also JSONDecodeError, UnicodeDecodeError and integers of too many digits
        raise ModelFileError(f"{what} is not valid JSON: {error!s:.200}") from error
    if not isinstance(value, dict):
        raise ModelFileError(f"{what} is not a JSON object")
    return value


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result: dict[str, object] = {}
    for name, value in pairs:
        if name in result:
            raise ValueError(f"the name {name!r:.80} stands twice in one object")
        result[name] = value
    return result


def _refuse_constant(text: str) -> object:
    raise ValueError(f"{text} is not a JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"the number {text:.40} is out of range")
    return number


def _check_depth_and_text(value: object, depth: int) -> None:
    if isinstance(value, str):
        value.encode("utf-8")  # a lone surrogate (\ud800) could not be printed later
    elif isinstance(value, dict):
        if depth == 0:
            raise RecursionError
        for name, member in value.items():
            name.encode("utf-8")
            _check_depth_and_text(member, depth - 1)
    elif isinstance(value, list):
        if depth == 0:
            raise RecursionError
        for member in value:
            _check_depth_and_text(member, depth - 1)
