"""Reads the tables of the phrase book."""

from pathlib import Path
from typing import Final

from pocketmt.errors import ConfigurationError

FOLDER: Final = Path(__file__).with_name("text")


def read_lines_of(name: str) -> list[str]:
    """Return the words or names of a table of one column."""
    return [row[0] for row in read_table(name, 1)]


def read_table(name: str, columns: int) -> list[tuple[str, ...]]:
    """Return the rows of a table of tab-separated columns in the folder `text`.

    Raises:
        ConfigurationError: a row has another number of columns, or an empty one.
    """
    rows = []
    path = FOLDER / f"{name}.tsv"
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        row = tuple(line.split("\t"))
        if len(row) != columns or not all(row):
            raise ConfigurationError(f"{path}, line {number}: expected {columns} columns, none of them empty")
        rows.append(row)
    return rows
