"""The benchmark of students on small runs: every model is compared with the first, the teacher."""

from pathlib import Path

import pytest

from benchmarks.multi30k import data, students
from benchmarks.record_files import read_record
from pocketmt.errors import ConfigurationError
from pocketmt.packing.run import pack_run
from tests.compression.tiny_run import write_tiny_run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    run = write_tiny_run(tmp_path)
    (tmp_path / "multi30k").mkdir()
    for name, original in ((data.VALIDATION, "dev"), ("train", "train"), *((each, "dev") for each in data.TESTS)):
        for language, own in (("en", "en"), ("de", "up")):
            (tmp_path / "multi30k" / f"{name}.{language}").write_text((tmp_path / f"{original}.{own}").read_text())
    monkeypatch.setenv("POCKETMT_DATA", str(tmp_path))
    for scheme in ("float32", "uniform8"):
        pack_run(run, scheme, tmp_path / f"{scheme}.pocketmt")
    return tmp_path


def test_every_model_is_compared_with_the_teacher(folder: Path) -> None:
    models = [f"{label}={folder / file}.pocketmt" for label, file in (("a = b", "float32"), ("small", "uniform8"))]
    assert students.main([*models, "--final", "--rounds", "2", "--output", str(folder / "record.json")]) == 0
    teacher, small = read_record(folder / "record.json")["rows"]
    assert teacher["model"] == "a = b" and small["model"] == "small"
    assert teacher["parameters"] == small["parameters"] and teacher["bits"] == 32 and 8 < small["bits"] < 16
    assert teacher["bytes"] == (folder / "float32.pocketmt").stat().st_size
    assert small["times_smaller"] == teacher["bytes"] / (folder / "uniform8.pocketmt").stat().st_size
    assert teacher["against"]["gain"] is None
    assert small["against"]["gain"] == pytest.approx(small["tests"]["bleu"] - teacher["tests"]["bleu"])
    assert teacher["time"]["times_as_fast"] == 1
    ratios = [a / b for a, b in zip(teacher["time"]["rounds"], small["time"]["rounds"], strict=True)]
    assert small["time"]["lowest"] == min(ratios) and small["time"]["highest"] == max(ratios)


def test_without_final_only_the_validation_set_is_scored(folder: Path) -> None:
    models = [f"{name}={folder / name}.pocketmt" for name in ("float32", "uniform8")]
    students.main([*models, "--output", str(folder / "record.json")])
    rows = read_record(folder / "record.json")["rows"]
    assert all("bleu" in row["val"] and "tests" not in row and "time" not in row for row in rows)
    assert rows[0]["times_smaller"] == 1 and rows[1]["times_smaller"] == rows[0]["bytes"] / rows[1]["bytes"] > 1


def test_a_model_without_a_label_is_refused(folder: Path) -> None:
    with pytest.raises(ConfigurationError, match="give a label"):
        students.main([str(folder / "float32.pocketmt")])
