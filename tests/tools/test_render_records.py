import json
import subprocess
import sys
from pathlib import Path

import pytest

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
    command = [sys.executable, str(ROOT / "tools" / "render_records.py"), "--root", str(folder), *options]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
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
    assert "not what its records say" in message
    assert _render(tmp_path, page)[:2] == (0, filled)
    assert _render(tmp_path, filled, "--check") == (0, filled, "")


@pytest.mark.parametrize(
    ("page", "message"),
    [
        ("<!-- record:quality.rows | where model=large --><!-- /record -->", "no row is so"),
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
