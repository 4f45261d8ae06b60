"""The benchmark of kernels: every family is timed, and ratios are above one where a family is faster than int8."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.kernels import __main__ as program
from benchmarks.kernels.__main__ import FAMILIES, main, summary
from pocketmt.engine import _native_testing as native


def test_ratios_are_taken_round_by_round() -> None:
    seconds = {name: [4.0, 4.0, 8.0] for name in FAMILIES} | {"planes1": [2.0, 1.0, 2.0], "planes4": [8.0, 4.0, 4.0]}
    found = summary(seconds)
    assert found["microseconds"] == 4e6
    assert found["times_int8"]["planes1"] == 4.0
    assert found["lowest_times_int8"]["planes4"] == 0.5
    assert found["highest_times_int8"]["planes4"] == 2.0
    assert found["fastest_times_int8"]["six_bit"] == 1.0


@pytest.fixture
def cores() -> Iterator[None]:
    """The cores of this process, which a run confines to one."""
    before = os.sched_getaffinity(0)
    yield
    os.sched_setaffinity(0, before)


@pytest.mark.usefixtures("cores")
def test_a_small_run_is_recorded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program, "STREAMED_BYTES", 1_000_000)
    path = tmp_path / "kernels.json"
    assert main(["--rounds", "2", "--shapes", "100x70", "--counts", "1", "3", "--output", str(path)]) == 0
    rows = json.loads(path.read_text())["rows"]
    sets = [name for name in native.instruction_sets() if name != "portable"]
    assert len(rows) == len(sets) * 2 * 2  # from cache and from memory, one row and three
    assert all(len(times) == 2 and min(times) > 0 for row in rows for times in row["seconds"].values())
    assert capsys.readouterr().out.count("\n") == len(rows) + 2


def test_what_cannot_be_timed() -> None:
    with pytest.raises(ValueError, match="integer, six_bit, level_table or bit_planes"):
        native.time_products("portable", [("float", 32)], 1, 1, 1, 1, 1)
    with pytest.raises(ValueError, match="not empty"):
        native.time_products("portable", [("integer", 8)], 1, 0, 1, 1, 1)
