import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchmarks.record_files import read_record, write_record
from pocketmt.errors import DataError


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
def test_an_invalid_record_is_refused_by_name(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken.json"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"broken\.json"):
        read_record(path)


def test_a_missing_record_says_how_to_measure_it(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="make benchmark"):
        read_record(tmp_path / "missing.json")
