"""The benchmark of products of log codes, as one types it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.log_products import WAYS, row
from pocketmt.engine import _native_testing as native

ROOT = Path(__file__).resolve().parents[2]


def test_a_row_by_hand() -> None:
    times = {"fp32": [8e-9, 4e-9, 8e-9], "int8": [2e-9] * 3, "level_table": [2e-9, 2e-9, 4e-9]}
    times["exponent_sum"] = [3e-9, 6e-9, 6e-9]
    found = row("something", "any", times, results=2)
    assert found["fp32_nanoseconds"] == pytest.approx(4)
    assert found["fp32_fastest_nanoseconds"] == pytest.approx(2)
    assert found["fp32_to_int8"] == pytest.approx(4)
    assert found["exponent_sum_to_level_table"] == pytest.approx(1.5)  # of 1.5, 3 and 1.5
    assert found["exponent_sum_to_level_table_fastest"] == pytest.approx(1.5)


def test_it_measures_every_way_of_every_instruction_set(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks.log_products", "--repeats", "1", "--output", str(tmp_path / "a.json")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "a.json").read_text())
    assert record["provenance"]["command"].startswith("python -m benchmarks.log_products")
    paper, *measured = record["rows"]
    assert paper["exponent_sum_nanoseconds"] == 3.89595
    assert len(measured) == 3 * len(native.instruction_sets())
    assert all(each[f"{way}_nanoseconds"] > 0 for each in measured for way in WAYS)
    assert "exponent_sum / level_table" in done.stdout
