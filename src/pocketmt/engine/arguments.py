"""Checks of arguments, whose messages say what was given and what is allowed."""

import math
from collections.abc import Iterable, Sequence

from pocketmt.errors import EngineError


def check_lines(lines: object, name: str = "lines", *, first: int = 0) -> list[str]:
    """Return lines of text as a list, whose first one has the number `first` in messages.

    Raises TypeError for anything but strings in an iterable: a string by itself would be taken for a list of letters.
    """
    if isinstance(lines, str | bytes | bytearray):
        raise TypeError(f"{name} is one {type(lines).__name__}, not a list of strings: write [text]")
    if not isinstance(lines, Iterable):
        raise TypeError(f"{name} must be a list of strings, not {_type_name(lines)}")
    checked = list(lines)
    for index, line in enumerate(checked, first):
        if not isinstance(line, str):
            advice = ": decode it first" if isinstance(line, bytes | bytearray) else ""
            raise TypeError(f"{name}[{index}] must be a string, not {_type_name(line)}{advice}")
    return checked


def check_chunk(chunk: object) -> None:
    """Raise TypeError for anything but a list, or another sequence, of lines; the lines are not looked at."""
    if isinstance(chunk, str | bytes | bytearray):
        check_lines(chunk)
    if not isinstance(chunk, Sequence):
        raise TypeError(f"each chunk must be a list of strings, not {_type_name(chunk)}")


def check_text(text: object, name: str) -> str:
    """Return a string; TypeError for anything else."""
    if not isinstance(text, str):
        raise TypeError(f"{name} must be a string, not {_type_name(text)}")
    return text


def check_integer(name: str, value: object, lowest: int, highest: int) -> int:
    """Return an integer; TypeError for anything else, EngineError if it is out of range."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be an integer, not {_type_name(value)}")
    if not lowest <= value <= highest:
        shown = str(value) if abs(value) < 10**40 else f"a number of {value.bit_length():,} bits"
        raise EngineError(f"{name} is {shown}, it must be from {lowest} to {highest}")
    return value


def check_number(name: str, value: object) -> float:
    """Return a finite number as a float; TypeError for anything else, EngineError if it is not finite."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} must be a number, not {_type_name(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise EngineError(f"{name} must be a finite number")
    return number


def check_flag(name: str, value: object) -> bool:
    """Return True or False; TypeError for anything else."""
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, not {_type_name(value)}")
    return value


def _type_name(value: object) -> str:
    return "None" if value is None else type(value).__name__
