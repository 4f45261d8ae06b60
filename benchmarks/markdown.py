"""Tables of records in Markdown."""

from collections.abc import Mapping, Sequence
from typing import Any

from pocketmt.errors import ConfigurationError
from pocketmt.evaluation.tables import Column, table_cells


def markdown_table(
    rows: Sequence[Mapping[str, Any]], columns: Sequence[Column], names: Mapping[str, str] | None = None
) -> str:
    """Return the rows as a Markdown table, numbers on the right; `names`: text of a cell -> what replaces it."""
    cells, numeric = table_cells(rows, columns)
    cells[1:] = [[(names or {}).get(cell, cell) for cell in row] for row in cells[1:]]
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in cells]
    lines.insert(1, "| " + " | ".join("---:" if right else "---" for right in numeric) + " |")
    return "\n".join(lines)


def columns_of(rows: Sequence[Mapping[str, Any]]) -> list[Column]:
    """Return a column for each value of the first row that is not a mapping or list."""
    if not rows:
        raise ConfigurationError("a table needs at least one row")
    return [Column.parse(key) for key, value in rows[0].items() if not isinstance(value, Mapping | list | tuple)]
