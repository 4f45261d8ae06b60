"""Tables of records as plain text for the terminal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pocketmt.errors import ConfigurationError


@dataclass(frozen=True)
class Column:
    """A column: the dotted key of its values in a row, its heading, and the format of its values."""

    key: str
    heading: str
    format: str = ""  # a Python format, ".1f"; empty: see `write_value`

    @classmethod
    def parse(cls, text: str) -> "Column":
        """Read `key`, `key:format`, `key=Heading` or `key:format=Heading`."""
        reference, equals, heading = text.partition("=")
        key, _, format = reference.strip().partition(":")
        return cls(key, heading.strip() if equals else key.rpartition(".")[2].replace("_", " "), format)


def table_cells(rows: Sequence[Mapping[str, Any]], columns: Sequence[Column]) -> tuple[list[list[str]], list[bool]]:
    """Return the cells, headings first, and for each column whether it is numeric."""
    values = [[look_up(row, column.key) for column in columns] for row in rows]
    numeric = [
        all(isinstance(row[index], int | float | None) for row in values) and bool(values)
        for index in range(len(columns))
    ]
    cells = [[column.heading for column in columns]]
    for row in values:
        cells.append([write_value(value, column.format) for value, column in zip(row, columns, strict=True)])
    return cells, numeric


def plain_table(rows: Sequence[Mapping[str, Any]], columns: Sequence[Column]) -> str:
    """Return the rows as aligned text, numbers on the right, two spaces between columns."""
    cells, numeric = table_cells(rows, columns)
    widths = [max(len(row[index]) for row in cells) for index in range(len(columns))]
    lines = []
    for row in cells:
        padded = (
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, numeric, strict=True)
        )
        lines.append("  ".join(padded).rstrip())
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)


def look_up(record: Mapping[str, Any], key: str) -> Any:
    """Return the value at a dotted key, with indexes of lists ("runtime.total_bytes", "losses.0").

    Raises ConfigurationError, with the keys there, if it is missing.
    """
    value: Any = record
    for name in key.split("."):
        if isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
            continue
        if not isinstance(value, Mapping) or name not in value:
            there = ", ".join(value) if isinstance(value, Mapping) else type(value).__name__
            raise ConfigurationError(f"the record has no {key!r}: {name!r} is not among {there}")
        value = value[name]
    return value


def write_value(value: Any, format: str = "") -> str:
    """Return a value as text: at least three digits of a number, thousands separated, "-" for None."""
    if value is None:
        return "-"
    if format:
        return f"{value:{format}}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        size = abs(value)
        return f"{value:,.0f}" if size >= 1000 else f"{value:.1f}" if size >= 10 else f"{value:.3g}"
    if isinstance(value, list | tuple):
        return ", ".join(write_value(each) for each in value)
    return str(value)
