"""Fills the blocks of README.md and docs/ from the records in benchmarks/records/.

    python -m benchmarks.render_records           rewrites the pages
    python -m benchmarks.render_records --check   changes nothing; exits with 1 if a page differs from its records

A block is between two comments, which Markdown does not show; the first says what the block shows:

    <!-- record:install.runtime.total_megabytes:.1f -->…<!-- /record -->    one value, with a Python format
    <!-- record:quality.rows | model | bleu:.2f=BLEU -->…<!-- /record -->   a table: key, format and heading
    <!-- record:quality.rows -->…<!-- /record -->                           a table of all plain values
    <!-- record:quality.rows | where seed=1 -->…<!-- /record -->            of rows with (seed!=1: without) this value
    <!-- record:quality.provenance -->…<!-- /record -->                     machine, commit and command, as a sentence

The first name is the file (quality.json), the rest the dotted key in it. Names of recipes that have changed since the
measurement are replaced (benchmarks/recipe_names.json).
"""

import argparse
import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.markdown import columns_of, markdown_table
from benchmarks.record_files import read_record, rename
from pocketmt.errors import ConfigurationError, PocketMTError
from pocketmt.evaluation.tables import Column, look_up, write_value

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"(<!-- record:(?P<what>[^\n]*?) -->)(?P<content>.*?)(<!-- /record -->)", re.DOTALL)
OPENING = "<!-- record:"
WHERE = "where "


def render_page(text: str, records: Path) -> str:
    """Return the page with every block filled from the records of a folder.

    Raises ConfigurationError if a block is not closed or its record lacks a key, and DataError if the record is
    missing.
    """
    if any(OPENING in block["content"] for block in BLOCK.finditer(text)) or text.count(OPENING) != len(
        BLOCK.findall(text)
    ):
        raise ConfigurationError("a record block is not closed by <!-- /record -->")
    return BLOCK.sub(lambda block: block[1] + render_block(block["what"], records) + block[4], text)


def render_block(what: str, records: Path) -> str:
    """Return the content of a block; `what` is a reference, for a table followed by columns, separated by ` | `."""
    reference, *column_texts = (part.strip() for part in what.split("|"))
    reference, _, format = reference.partition(":")
    name, _, key = reference.partition(".")
    record = _read(name, records)
    value = look_up(record, key) if key else record
    if isinstance(value, Mapping) and "machine" in value:
        return provenance_sentence(value)
    if isinstance(value, list) and all(isinstance(row, Mapping) for row in value):
        conditions = [text.removeprefix(WHERE) for text in column_texts if text.startswith(WHERE)]
        rows = [row for row in value if all(_holds(row, condition) for condition in conditions)]
        if conditions and not rows:
            raise ConfigurationError(f"record:{what}: no row matches")
        columns = [Column.parse(text) for text in column_texts if not text.startswith(WHERE)] or columns_of(rows)
        return "\n" + markdown_table(rows, columns) + "\n"
    if isinstance(value, Mapping | list) or column_texts:
        raise ConfigurationError(f"record:{what}: a block shows one value, a list of rows, or a provenance")
    return write_value(value, format)


def _read(name: str, records: Path) -> dict[str, Any]:
    """Read a record, with today's names of recipes if the folder above has a recipe_names.json."""
    record, renamed = read_record(records / f"{name}.json"), records.parent / "recipe_names.json"
    return rename(record, json.loads(renamed.read_text(encoding="utf-8"))) if renamed.exists() else record


def _holds(row: Mapping[str, Any], condition: str) -> bool:
    key, _, expected = condition.partition("=")
    wanted = not key.endswith("!")
    return (write_value(look_up(row, key.rstrip("!"))) == expected) == wanted


def provenance_sentence(provenance: Mapping[str, Any]) -> str:
    """Return machine, commit and command of a record as a sentence of Markdown."""
    cores = look_up(provenance, "machine.cores")
    return (
        f"Measured on {look_up(provenance, 'machine.processor')}, {cores} core{'' if cores == 1 else 's'}, "
        f"at commit {look_up(provenance, 'commit')}, by `{look_up(provenance, 'command')}`."
    )


def pages(root: Path) -> list[Path]:
    """Return README.md and the pages of docs/."""
    return [root / "README.md", *sorted((root / "docs").rglob("*.md"))]


def main(arguments: list[str]) -> int:
    """Rewrite or check the pages; return 1 if a page differs from its records or cannot be rendered."""
    parser = argparse.ArgumentParser(description="Fill README.md and docs/ from benchmarks/records/.")
    parser.add_argument("--check", action="store_true", help="change nothing, fail if a page would change")
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository (default: this one)")
    options = parser.parse_args(arguments)
    failed = False
    for page in pages(options.root):
        text = page.read_text(encoding="utf-8")
        try:
            rendered = render_page(text, options.root / "benchmarks" / "records")
        except PocketMTError as error:
            print(f"error: {page}: {error}", file=sys.stderr)
            failed = True
            continue
        if rendered == text:
            continue
        if options.check:
            print(f"error: {page} differs from its records: run `python -m benchmarks.render_records`", file=sys.stderr)
            failed = True
        else:
            page.write_text(rendered, encoding="utf-8")
            print(f"rewrote {page}", file=sys.stderr)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
