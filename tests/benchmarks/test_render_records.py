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
    "best": {"bleu": 38.04},
    "provenance": {
        "machine": {"processor": "A processor", "cores": 2},
        "commit": "abc",
        "command": "pocketmt evaluate",
    },
}


def _render(folder: Path, page: str, *options: str) -> tuple[int, str, str]:
    """Return exit status, the page after the run, and stderr."""
    (folder / "benchmarks" / "records").mkdir(parents=True, exist_ok=True)
    (folder / "docs").mkdir(exist_ok=True)
    (folder / "benchmarks" / "records" / "quality.json").write_text(json.dumps(RECORD))
    (folder / "README.md").write_text(page)
    command = [sys.executable, "-m", "benchmarks.render_records", "--root", str(folder), *options]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return answer.returncode, (folder / "README.md").read_text(), answer.stderr


@pytest.mark.parametrize(
    ("block", "content"),
    [
        ("quality.best.bleu:.2f", "38.04"),
        ("quality.best.bleu", "38.0"),
        (
            "quality.rows | model=Model | bleu:.2f=BLEU",
            "\n| Model | BLEU |\n| --- | ---: |\n| tiny | 38.04 |\n| tiny, 8 bit | 37.90 |\n",
        ),
        ("quality.rows", "\n| model | bleu |\n| --- | ---: |\n| tiny | 38.0 |\n| tiny, 8 bit | 37.9 |\n"),
        (
            "quality.rows | where model=tiny, 8 bit | bleu:.2f=BLEU",
            "\n| BLEU |\n| ---: |\n| 37.90 |\n",
        ),
        ("quality.rows | where model!=tiny | bleu", "\n| bleu |\n| ---: |\n| 37.9 |\n"),
        ("quality.rows | where model=tiny | where bleu=38.0", "\n| model | bleu |\n| --- | ---: |\n| tiny | 38.0 |\n"),
        (
            "quality.provenance",
            "Measured on A processor, 2 cores, at commit abc, by `pocketmt evaluate`.",
        ),
    ],
)
def test_a_block_is_filled_and_then_passes_the_check(tmp_path: Path, block: str, content: str) -> None:
    page = f"Before.\n<!-- record:{block} -->old\nand wrong<!-- /record --> after.\n"
    filled = f"Before.\n<!-- record:{block} -->{content}<!-- /record --> after.\n"
    status, text, message = _render(tmp_path, page, "--check")
    assert (status, text) == (1, page)
    assert "differs from its records" in message
    assert _render(tmp_path, page)[:2] == (0, filled)
    assert _render(tmp_path, filled, "--check") == (0, filled, "")


def test_recipes_are_shown_with_the_names_of_today(tmp_path: Path) -> None:
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "recipe_names.json").write_text('{"tiny, 8 bit": "tiny, int8", "bleu": "chrf"}')
    page = "<!-- record:quality.rows | model -->{}<!-- /record -->"
    filled = page.format("\n| model |\n| --- |\n| tiny |\n| tiny, int8 |\n")
    assert _render(tmp_path, page.format(""))[:2] == (0, filled)


@pytest.mark.parametrize(
    ("page", "message"),
    [
        ("<!-- record:quality.rows | where model=large --><!-- /record -->", "no row matches"),
        ("<!-- record:quality.rows | where size=1 --><!-- /record -->", "size"),
        ("<!-- record:missing.value --><!-- /record -->", r"missing.json: no such record"),
        ("<!-- record:quality.worst --><!-- /record -->", "'worst' is not among rows, best, provenance"),
        ("<!-- record:quality.best --><!-- /record -->", "one value, a list of rows, or a provenance"),
        ("<!-- record:quality.rows -->", "not closed"),
        ("<!-- record:quality.rows --><!-- record:quality.rows --><!-- /record -->", "not closed"),
    ],
)
def test_what_cannot_be_filled_is_an_error_and_changes_nothing(tmp_path: Path, page: str, message: str) -> None:
    status, text, error = _render(tmp_path, page)
    assert (status, text) == (1, page)
    assert message in error


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
