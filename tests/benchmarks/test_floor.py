"""The benchmark of a machine's limits: what it measures is what it says. No rate is asserted."""

import json
from pathlib import Path

import pytest

from benchmarks import floor
from pocketmt.engine import _native_testing as native


def test_a_small_run_is_recorded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "floor.json"
    assert floor.main(["--rounds", "3", "--mebibytes", "0.25", "1", "--output", str(path)]) == 0
    record = json.loads(path.read_text())
    sets = floor.known_instruction_sets()
    assert [(row["instruction_set"], row["type"]) for row in record["peaks"]] == [
        (name, type) for name in sets for type in ("int8", "float32")
    ]
    assert [(row["instruction_set"], row["mebibytes"]) for row in record["reading"]] == [
        (name, size) for name in sets for size in (0.25, 1.0)
    ]
    for row in record["peaks"] + record["reading"]:
        assert len(row["seconds"]) == 3
        assert min(row["seconds"]) > 0
    for row in record["reading"]:
        assert row["fastest_gigabytes_a_second"] == pytest.approx(1e-9 / min(row["seconds"]))
        assert row["gigabytes_a_second"] <= row["fastest_gigabytes_a_second"]
    assert "GB/s" in capsys.readouterr().out


def test_arguments_that_cannot_be_timed() -> None:
    with pytest.raises(ValueError, match="'mmx'"):
        native.time_multiply_adds("mmx", "int8", 1)
    for name in floor.known_instruction_sets():
        with pytest.raises(ValueError, match="int8 or float32"):
            native.time_multiply_adds(name, "int4", 1)
        with pytest.raises(ValueError, match="at least one byte"):
            native.time_reads(name, 0, 1)
