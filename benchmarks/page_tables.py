"""Tables and values of a page of documentation: their definitions in TOML, and what they show of the records."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec

from benchmarks.markdown import columns_of, markdown_table
from benchmarks.record_files import read_record, rename
from pocketmt.errors import ConfigurationError
from pocketmt.evaluation.tables import Column, look_up, write_value
from pocketmt.toml_file import read_toml

# A record's name for an instruction set -> the one in provenance sentences; the first that a machine has is named.
INSTRUCTION_SETS: Final = {
    "amx_int8": "AVX-512 VNNI and AMX",
    "avx512_vnni": "AVX-512 VNNI",
    "avx_vnni": "AVX-VNNI",
    "avx2": "AVX2",
    "asimddp": "NEON with dot products",
}

OneOrMore = str | Annotated[list[str], msgspec.Meta(min_length=1)]


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table of the rows of one or several records."""

    rows: OneOrMore  # "record.key" of a list of rows, or several, whose rows follow one another
    columns: list[str] = []  # "key:format=heading"; none: every value that is not a table or a list
    where: dict[str, OneOrMore] = {}  # dotted key -> the value as written in a table, or several of which one must hold
    where_not: dict[str, OneOrMore] = {}
    names: dict[str, str] = {}  # text of a cell -> what is written instead


class PageTables(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a page shows from records."""

    values: dict[str, str] = {}  # name -> "record.key:format" of one value
    tables: dict[str, Table] = {}


def definitions(page: Path, root: Path) -> Path:
    """Return the file with the definitions of a page: beside it, that of README.md in docs/."""
    folder = root / "docs" if page.parent == root else page.parent
    return folder / f"{page.stem}.tables.toml"


def read_page_tables(path: Path) -> PageTables:
    """Read a file of definitions; a missing file defines nothing.

    Raises ConfigurationError if the file cannot be read, or has an unknown key.
    """
    found: PageTables = read_toml(path, PageTables) if path.exists() else PageTables()
    return found


def render_table(table: Table, records: Path) -> str:
    """Return a table in Markdown.

    Raises DataError for a missing record, and ConfigurationError if a key is missing or no row matches.
    """
    rows = [row for reference in _listed(table.rows) for row in _rows(reference, records)]
    rows = [row for row in rows if all(_holds(row, *condition) for condition in table.where.items())]
    rows = [row for row in rows if not any(_holds(row, *condition) for condition in table.where_not.items())]
    if not rows:
        raise ConfigurationError(f"no row of {', '.join(_listed(table.rows))} matches")
    columns = [Column.parse(text) for text in table.columns] or columns_of(rows)
    return markdown_table(rows, columns, table.names)


def render_value(reference: str, records: Path) -> str:
    """Return one value of a record; `reference`: "record.key:format". The errors are those of `render_table`."""
    key, _, format = reference.partition(":")
    value = _value(key, records)
    if isinstance(value, Mapping | list):
        raise ConfigurationError(f"{key} is not one value")
    return write_value(value, format)


def render_provenance(record: str, records: Path) -> str:
    """Return machine, commit and command of a record as a sentence of Markdown; errors as of `render_table`."""
    found = _value(record, records)
    provenance = look_up(found, "provenance")
    cores = look_up(provenance, "machine.cores")
    supported = look_up(provenance, "machine.instruction_sets")
    best = next((text for name, text in INSTRUCTION_SETS.items() if name in supported), None)
    held = INSTRUCTION_SETS.get(found.get("instruction_set") or "", best)
    processor = look_up(provenance, "machine.processor") + (f" with {best}" if best else "")
    if held != best:
        processor += f", held to {held}"
    gpu = f"{found['gpu']} with " if "gpu" in found else ""
    return (
        f"Measured on {gpu}{processor}, {cores} core{'' if cores == 1 else 's'}, "
        f"at commit {look_up(provenance, 'commit')}, by `{look_up(provenance, 'command')}`."
    )


def _rows(reference: str, records: Path) -> list[Mapping[str, Any]]:
    rows = _value(reference, records)
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        raise ConfigurationError(f"{reference} is not a list of rows")
    return rows


def _value(reference: str, records: Path) -> Any:
    """Return a value of a record, with today's names of recipes if the folder above has a recipe_names.json."""
    name, _, key = reference.partition(".")
    record, renamed = read_record(records / f"{name}.json"), records.parent / "recipe_names.json"
    if renamed.exists():
        record = rename(record, json.loads(renamed.read_text(encoding="utf-8")))
    return look_up(record, key) if key else record


def _holds(row: Mapping[str, Any], key: str, expected: OneOrMore) -> bool:
    return write_value(look_up(row, key)) in _listed(expected)


def _listed(one_or_more: OneOrMore) -> list[str]:
    return [one_or_more] if isinstance(one_or_more, str) else one_or_more
