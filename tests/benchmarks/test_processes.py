"""The program that runs processes side by side, on a small network."""

import json
import os
from pathlib import Path

import pytest

from benchmarks.processes import main


def test_a_row_for_each_case(tmp_path: Path) -> None:
    path = tmp_path / "processes.json"
    assert main(["--quick", "--output", str(path)]) == 0
    rows = json.loads(path.read_text())["rows"]
    assert [(row["scheme"], row["case"]) for row in rows] == [("uniform8", "one sentence"), ("uniform8", "many")]
    for row in rows:
        assert row["workers"] == len(os.sched_getaffinity(0))
        [[alone, together]] = row["rates"]
        assert alone > 0
        assert row["ratio"] == pytest.approx(together / alone)
