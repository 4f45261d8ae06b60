"""The program that times loading: a row for each engine's files, and for each program that is started."""

import sys
from pathlib import Path

import pytest

from benchmarks import loading
from benchmarks.peer.files import write_ours
from benchmarks.peer.models import random_network
from benchmarks.peer.sides import our_side
from pocketmt.models.presets import preset


def test_each_file_has_a_row(tmp_path: Path) -> None:
    files = write_ours(random_network(preset("tiny", 2000), 1), tmp_path)
    sides = [our_side(form, files[form], sys.executable) for form in ("float32", "uniform8")]
    rows = list(loading.loading_rows("a model", sides, rounds=2))
    assert [row["weights"] for row in rows] == ["float32", "uniform8"]
    for row in rows:
        assert 0 < row["fewest_seconds"] <= row["seconds"] <= row["most_seconds"]
        assert 0 < row["before_megabytes"] <= row["peak_megabytes"]
        assert row["file_megabytes"] == Path(files[row["weights"]]).stat().st_size / 1e6
        assert len(row["rounds"]) == 2


def test_each_program_has_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "bundled_models", lambda: ["captions-en-de"])
    rows = list(loading.program_rows(rounds=1, instruction_set=None))
    assert [row["program"] for row in rows] == [*loading.PROGRAMS, "translate with captions-en-de"]
    assert all(row["seconds"] == row["rounds"][0] > 0 for row in rows)
