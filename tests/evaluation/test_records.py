import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from pocketmt.errors import DataError
from pocketmt.evaluation.records import (
    memory_bytes,
    peak_memory_bytes,
    provenance,
    read_record,
    to_json,
    write_record,
)


@dataclass(frozen=True)
class _Result:
    value: float
    path: Path


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "result.json"
    write_record({"result": _Result(1.5, Path("a/b")), "name": "größer"}, path)
    assert read_record(path) == {"result": {"value": 1.5, "path": "a/b"}, "name": "größer"}
    assert os.listdir(path.parent) == ["result.json"]


def test_a_record_that_cannot_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    write_record({"value": 1}, path)
    with pytest.raises(TypeError, match="object"):
        write_record({"value": object()}, path)
    assert read_record(path) == {"value": 1}
    assert os.listdir(tmp_path) == ["result.json"]


@pytest.mark.parametrize("content", [b"", b"[1]", b"{", b"\xff"])
def test_what_is_no_record_is_refused_by_name(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken.json"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"broken\.json"):
        read_record(path)


def test_a_missing_record_says_how_to_measure_it(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="make benchmark"):
        read_record(tmp_path / "missing.json")


def test_the_provenance_says_machine_command_and_seed() -> None:
    record = json.loads(to_json(provenance(command="pocketmt benchmark x", seed=7)))
    assert record["command"] == "pocketmt benchmark x"
    assert record["seed"] == 7
    assert record["machine"]["cores"] >= 1
    assert record["machine"]["memory_bytes"] > 0
    assert record["machine"]["processor"]


def test_the_command_is_as_one_types_it(tmp_path: Path) -> None:
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


def test_the_peak_of_memory_holds_what_was_freed() -> None:
    size = 64 << 20
    before = memory_bytes()
    block = bytearray(os.urandom(1)) * size
    assert memory_bytes() >= before + size // 2
    del block
    assert peak_memory_bytes() >= before + size // 2
