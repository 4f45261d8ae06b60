"""Ratios of two versions; here one version compared with itself. No time is asserted."""

import subprocess
import sys
from pathlib import Path

from benchmarks.record_files import read_record
from benchmarks.versions import MODELS
from pocketmt.engine import _native


def test_every_model_and_instruction_set_is_compared(tmp_path: Path) -> None:
    text, output = tmp_path / "text.en", tmp_path / "record.json"
    text.write_text("A man rides a bike.\n")
    command = [sys.executable, "-m", "benchmarks.versions", str(Path(sys.executable).with_name("pocketmt")), str(text)]
    subprocess.run([*command, "--rounds", "1", "--lines", "2", "--output", str(output)], check=True)
    rows = read_record(output)["rows"]
    sets = [name for name in _native.instruction_sets() if name != "portable"]
    assert [(row["model"], row["instruction_set"]) for row in rows] == [(m, s) for m in MODELS for s in sets]
    assert all(row["time_least"] <= row["time"] <= row["time_most"] and row["memory"] > 0 for row in rows)
