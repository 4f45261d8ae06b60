"""Pages are filled from records by named definitions, and stale or broken pages fail the check."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.markdown import columns_of, markdown_table
from pocketmt.evaluation.tables import Column

ROOT = Path(__file__).resolve().parents[2]
RECORD = {
    "rows": [{"model": "tiny", "bleu": 38.04}, {"model": "tiny, 8 bit", "bleu": 37.9}],
    "more": [{"model": "small", "bleu": 40.0}],
    "best": {"bleu": 38.04},
    "provenance": {
        "machine": {"processor": "A processor", "cores": 2, "instruction_sets": ["avx2", "avx512_vnni"]},
        "commit": "abc",
        "command": "pocketmt evaluate",
    },
}


def _render(folder: Path, page: str, defined: str, *options: str) -> tuple[int, str, str]:
    """Return exit status, the page after the run, and stderr."""
    (folder / "benchmarks" / "records").mkdir(parents=True, exist_ok=True)
    (folder / "docs").mkdir(exist_ok=True)
    (folder / "benchmarks" / "records" / "quality.json").write_text(json.dumps(RECORD))
    (folder / "README.md").write_text(page)
    (folder / "docs" / "README.tables.toml").write_text(defined)
    command = [sys.executable, "-m", "benchmarks.render_records", "--root", str(folder), *options]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return answer.returncode, (folder / "README.md").read_text(), answer.stderr


@pytest.mark.parametrize(
    ("kind", "definition", "content"),
    [
        ("value", '[values]\nx = "quality.best.bleu:.2f"', "38.04"),
        ("value", '[values]\nx = "quality.best.bleu"', "38.0"),
        (
            "table",
            '[tables.x]\nrows = "quality.rows"\ncolumns = ["model=Model", "bleu:.2f=BLEU"]',
            "\n\n| Model | BLEU |\n| --- | ---: |\n| tiny | 38.04 |\n| tiny, 8 bit | 37.90 |\n\n",
        ),
        (
            "table",
            '[tables.x]\nrows = "quality.rows"',
            "\n\n| model | bleu |\n| --- | ---: |\n| tiny | 38.0 |\n| tiny, 8 bit | 37.9 |\n\n",
        ),
        (
            "table",
            '[tables.x]\nrows = ["quality.rows", "quality.more"]\nwhere = { model = ["tiny", "small"] }\n'
            'columns = ["model"]\nnames = { small = "larger" }',
            "\n\n| model |\n| --- |\n| tiny |\n| larger |\n\n",
        ),
        (
            "table",
            '[tables.x]\nrows = "quality.rows"\nwhere_not = { model = "tiny" }\ncolumns = ["bleu"]',
            "\n\n| bleu |\n| ---: |\n| 37.9 |\n\n",
        ),
        (
            "table",
            '[tables.x]\nrows = "quality.rows"\nwhere = { model = "tiny", bleu = "38.0" }',
            "\n\n| model | bleu |\n| --- | ---: |\n| tiny | 38.0 |\n\n",
        ),
    ],
)
def test_a_place_is_filled_and_then_passes_the_check(tmp_path: Path, kind: str, definition: str, content: str) -> None:
    page = f"Before <!-- {kind}: x -->old\nand wrong<!-- /{kind} --> after.\n"
    filled = f"Before <!-- {kind}: x -->{content}<!-- /{kind} --> after.\n"
    status, text, message = _render(tmp_path, page, definition, "--check")
    assert (status, text) == (1, page)
    assert "differs from its records" in message
    assert _render(tmp_path, page, definition)[:2] == (0, filled)
    assert _render(tmp_path, filled, definition, "--check") == (0, filled, "")


def test_a_provenance_names_machine_instructions_commit_and_command(tmp_path: Path) -> None:
    status, text, _ = _render(tmp_path, "<!-- measured: quality --><!-- /measured -->", "")
    sentence = "Measured on A processor with AVX-512 VNNI, 2 cores, at commit abc, by `pocketmt evaluate`."
    assert (status, text) == (0, f"<!-- measured: quality -->\n\n{sentence}\n\n<!-- /measured -->")


def test_a_provenance_names_the_instruction_set_that_a_measurement_was_held_to(tmp_path: Path) -> None:
    records = tmp_path / "benchmarks" / "records"
    records.mkdir(parents=True)
    (records / "held.json").write_text(json.dumps({**RECORD, "instruction_set": "avx2"}))
    _, text, _ = _render(tmp_path, "<!-- measured: held --><!-- /measured -->", "")
    assert "Measured on A processor with AVX-512 VNNI, held to AVX2, 2 cores" in text


def test_recipes_are_shown_with_the_names_of_today(tmp_path: Path) -> None:
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "recipe_names.json").write_text('{"tiny, 8 bit": "tiny, int8", "bleu": "chrf"}')
    page = "<!-- table: x -->{}<!-- /table -->"
    filled = page.format("\n\n| model |\n| --- |\n| tiny |\n| tiny, int8 |\n\n")
    definition = '[tables.x]\nrows = "quality.rows"\ncolumns = ["model"]'
    assert _render(tmp_path, page.format(""), definition)[:2] == (0, filled)


TABLE = "<!-- table: x --><!-- /table -->"
VALUE = "It has <!-- value: x --><!-- /value -->"


@pytest.mark.parametrize(
    ("page", "definition", "message"),
    [
        (TABLE, '[tables.x]\nrows = "quality.rows"\nwhere = { model = "large" }', "no row of quality.rows matches"),
        (TABLE, '[tables.x]\nrows = "quality.rows"\nwhere = { size = "1" }', "size"),
        (TABLE, '[tables.x]\nrows = "quality.best"', "not a list of rows"),
        (TABLE, '[tables.x]\nrows = "quality.rows"\nwidth = 3', "width"),
        (TABLE, "", "table 'x' is not defined"),
        ("", '[tables.x]\nrows = "quality.rows"', "table 'x' is defined and not shown"),
        (VALUE, '[values]\nx = "missing.value"', r"missing.json: no such record"),
        (VALUE, '[values]\nx = "quality.worst"', "'worst' is not among rows, more, best, provenance"),
        (VALUE, '[values]\nx = "quality.best"', "quality.best is not one value"),
        (f"A line\n{VALUE[7:]}", '[values]\nx = "quality.best.bleu"', "begins a line"),
        ("<!-- table: x -->", '[tables.x]\nrows = "quality.rows"', "not closed"),
        (f"<!-- table: x -->{TABLE}", '[tables.x]\nrows = "quality.rows"', "not closed"),
        ("<!-- measured: nothing --><!-- /measured -->", "", r"nothing.json: no such record"),
    ],
)
def test_what_cannot_be_filled_is_an_error_and_changes_nothing(
    tmp_path: Path, page: str, definition: str, message: str
) -> None:
    status, text, error = _render(tmp_path, page, definition)
    assert (status, text) == (1, page)
    assert message in error


def test_definitions_without_a_page_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "docs" / "results").mkdir(parents=True)
    (tmp_path / "docs" / "results" / "speed.tables.toml").write_text("")
    status, _, error = _render(tmp_path, "A page.\n", "")
    assert status == 1
    assert "speed.tables.toml: no page has these tables" in error


@given(st.lists(st.fixed_dictionaries({"a": st.text(alphabet="ab|", max_size=5), "b": st.integers()}), min_size=1))
def test_every_row_of_a_table_has_every_cell(rows: list[dict[str, object]]) -> None:
    for line in markdown_table(rows, columns_of(rows)).split("\n"):
        assert line.replace("\\|", "").count("|") == 3


def test_default_columns_are_the_plain_values() -> None:
    assert [column.key for column in columns_of([{"model": "tiny", "where": {"test": "2016"}}])] == ["model"]


def test_a_markdown_table_aligns_numbers_and_names_missing_values() -> None:
    rows: list[dict[str, object]] = [{"model": "tiny", "bleu": 38.04}, {"model": "8 bit", "bleu": None}]
    assert markdown_table(rows, [Column.parse("model"), Column.parse("bleu:.2f=BLEU")]).split("\n") == [
        "| model | BLEU |",
        "| --- | ---: |",
        "| tiny | 38.04 |",
        "| 8 bit | - |",
    ]
