import json
import subprocess
import sys
from pathlib import Path

import pytest

from pocketmt.evaluation import records
from pocketmt.evaluation.records import machine, provenance, to_json


def test_the_provenance_says_machine_command_and_seed() -> None:
    record = json.loads(to_json(provenance(command="pocketmt benchmark x", seed=7)))
    assert record["command"] == "pocketmt benchmark x"
    assert record["seed"] == 7
    assert record["machine"]["cores"] >= 1
    assert record["machine"]["memory_bytes"] > 0
    assert record["machine"]["processor"]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ({"model name": "AMD EPYC", "cpu family": "26", "model": "2"}, "AMD EPYC (family 26, model 2)"),
        ({"model name": "a processor"}, "a processor"),
    ],
)
def test_the_family_and_model_follow_the_name_of_a_processor(
    lines: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "_lines_by_name", lambda path: lines)
    assert machine().processor == expected


def test_the_command_can_be_run_again(tmp_path: Path) -> None:
    program = "from pocketmt.evaluation.records import provenance; print(provenance().command)"
    (tmp_path / "measure").mkdir()
    (tmp_path / "measure" / "__init__.py").touch()
    for name in ("__main__", "speed"):
        (tmp_path / "measure" / f"{name}.py").write_text(program)
    asked = {
        ("-m", "measure", "a b"): "python -m measure 'a b'",
        ("-m", "measure.speed"): "python -m measure.speed",
        ("measure/speed.py", "--quick"): "speed.py --quick",
    }
    for arguments, command in asked.items():
        answer = subprocess.run([sys.executable, *arguments], cwd=tmp_path, capture_output=True, text=True, check=True)
        assert answer.stdout.strip() == command


def test_peak_memory_includes_freed_memory() -> None:
    # In another process: this one may have freed memory that it uses again.
    program = """
from pocketmt.evaluation.records import memory_bytes, peak_memory_bytes
size = 64 << 20
before = memory_bytes()
block = bytearray(b"x") * size
assert memory_bytes() >= before + size // 2
del block
assert peak_memory_bytes() >= before + size // 2
"""
    subprocess.run([sys.executable, "-c", program], check=True)
