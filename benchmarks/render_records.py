"""Fills README.md and the pages of docs/ with tables and values from the records of measurements.

    python -m benchmarks.render_records            rewrites the pages
    python -m benchmarks.render_records --check    fails if a page would change

A page marks the places to fill by comments, which Markdown does not show:

    <!-- table: speed --> ... <!-- /table -->
    The runtime takes <!-- value: size --> ... <!-- /value --> MB.
    <!-- measured: peer --> ... <!-- /measured -->

A file beside the page, PAGE.tables.toml (docs/README.tables.toml for README.md), defines its tables and values by name;
`benchmarks.page_tables` has the keys. A "measured" names a record, and shows its machine, commit and command:

    [values]
    size = "install.runtime.total_megabytes:.1f"      # record.key:format

    [tables.speed]
    rows = "peer.rows"                                # record.key
    where = { case = "batches, greedy" }
    columns = ["weights", "milliseconds:.1f=ms a sentence"]
"""

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.command import run
from benchmarks.page_tables import (
    PageTables,
    definitions,
    read_page_tables,
    render_provenance,
    render_table,
    render_value,
)
from pocketmt.errors import ConfigurationError, PocketMTError

ROOT = Path(__file__).resolve().parent.parent
KINDS = "table|value|measured"
PLACE = re.compile(rf"<!-- (?P<kind>{KINDS}): (?P<name>[^\n]*?) -->(?P<content>.*?)<!-- /(?P=kind) -->", re.DOTALL)
MARK = re.compile(rf"<!-- /?(?:{KINDS})\b")


def render_page(text: str, defined: PageTables, records: Path) -> str:
    """Return the page with every place filled from the records of a folder.

    Raises ConfigurationError if a place is not closed, begins a line with a value, or has no definition, if a
    definition has no place, or if a record lacks a key, and DataError if a record is missing.
    """
    places = list(PLACE.finditer(text))
    if len(MARK.findall(text)) != 2 * len(places) or any(MARK.search(place["content"]) for place in places):
        raise ConfigurationError(f"a place is not closed, as a table is by <!-- /table --> (places: {KINDS})")
    if re.search(r"^<!-- value:", text, re.MULTILINE):
        raise ConfigurationError("a value begins a line, which Markdown would read as HTML: put a word before it")
    used = {(place["kind"], place["name"]) for place in places if place["kind"] != "measured"}
    known = {*(("value", name) for name in defined.values), *(("table", name) for name in defined.tables)}
    for kind, name in sorted(used ^ known):
        missing = "is not defined" if (kind, name) in used else "is defined and not shown"
        raise ConfigurationError(f"{kind} {name!r} {missing}")
    return PLACE.sub(lambda place: _filled(place["kind"], place["name"], defined, records), text)


def _filled(kind: str, name: str, defined: PageTables, records: Path) -> str:
    try:
        content = {
            "value": lambda: render_value(defined.values[name], records),
            # Markdown needs the blank lines to read what follows a comment.
            "table": lambda: f"\n\n{render_table(defined.tables[name], records)}\n\n",
            "measured": lambda: f"\n\n{render_provenance(name, records)}\n\n",
        }[kind]()
    except PocketMTError as error:
        raise type(error)(f"{kind} {name!r}: {error}") from error
    return f"<!-- {kind}: {name} -->{content}<!-- /{kind} -->"


def pages(root: Path) -> list[Path]:
    """Return README.md and the pages of docs/."""
    return [root / "README.md", *sorted((root / "docs").rglob("*.md"))]


def main(arguments: Sequence[str]) -> int:
    """Rewrite or check the pages; return 1 if a page differs from its records or cannot be rendered."""
    parser = argparse.ArgumentParser(description="Fill README.md and docs/ from benchmarks/records/.")
    parser.add_argument("--check", action="store_true", help="change nothing, fail if a page would change")
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository (default: this one)")
    options = parser.parse_args(arguments)
    failed = False
    for page in pages(options.root):
        text = page.read_text(encoding="utf-8")
        try:
            defined = read_page_tables(definitions(page, options.root))
            rendered = render_page(text, defined, options.root / "benchmarks" / "records")
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
    orphans = {path for path in (options.root / "docs").rglob("*.tables.toml")} - {
        definitions(page, options.root) for page in pages(options.root)
    }
    for path in sorted(orphans):
        print(f"error: {path}: no page has these tables", file=sys.stderr)
    return int(failed or bool(orphans))


if __name__ == "__main__":
    sys.exit(run(main))
