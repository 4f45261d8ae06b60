"""The programs that measure the server, in small."""

import json
from pathlib import Path

import pytest

from benchmarks.data import data_folder
from benchmarks.serve import faults, load

pytestmark = pytest.mark.skipif(
    not (data_folder() / "multi30k").is_dir(), reason="Multi30k is missing: see docs/reference/data.md"
)


def test_load_is_recorded(tmp_path: Path) -> None:
    path = tmp_path / "load.json"
    arguments = ["--clients", "1", "20", "--seconds", "0.3", "--without-libretranslate", "--output", str(path)]
    assert load.main(arguments) == 0
    rows = json.loads(path.read_text())["rows"]
    assert [(row["texts"], row["clients"]) for row in rows] == [
        ("sentence", 1),
        ("sentence", 20),
        ("document", 1),
        ("document", 20),
    ]
    for row in rows:
        assert row["requests"] > 0 and row["refused"] == 0
        assert 0 < row["p50"] <= row["p95"] <= row["p99"]
        assert row["peak_megabytes"] > 10


def test_faults_leave_all_answers_right(tmp_path: Path) -> None:
    path = tmp_path / "faults.json"
    assert faults.main(["--requests", "500", "--output", str(path)]) == 0
    record = json.loads(path.read_text())
    assert record["counts"]["proper_right"] == 200
    assert record["waiting_requests_at_the_end"] == 0
