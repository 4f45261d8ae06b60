"""Every student shape in every form, with times relative to the reference. No time is asserted."""

from pathlib import Path
from typing import Any

import pytest

from benchmarks import student_shapes
from benchmarks.student_shapes import TABLE, measure, rows_of

TINY, TIED = (next(shape for shape in TABLE if shape.name == name) for name in ("12-1.tiny", "6-2.tied.tiny"))


def test_every_shape_is_measured_in_every_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(student_shapes, "SENTENCES", 8)
    found = measure([TIED, TINY], 320, tmp_path, rounds=1)
    assert [each["weights"] for each in found] == 2 * ["float32", "uniform8", "logarithmic4"]
    assert all(each["sentences"] == 8 and len(each["seconds"]) == 1 for each in found)
    rows = rows_of([TIED, TINY], found, 320)
    for row in rows:
        full, eight, four = (row["megabytes"][form] for form in ("float32", "uniform8", "logarithmic4"))
        assert 3.5 * eight < full < 8 * four
    assert rows[0]["million_parameters"] < rows[1]["million_parameters"]


def measurement(seconds: list[float]) -> dict[str, Any]:
    engine = {"instruction_set": "avx2"}
    return {"seconds": seconds, "milliseconds_per_sentence": 1.0, "file_bytes": 2_000_000, "engine": engine}


def test_times_are_relative_to_the_reference_round_by_round() -> None:
    tied = [measurement([4.0, 6.0, 9.0]), measurement([2.0, 6.0, 3.0]), measurement([1.0, 1.0, 1.0])]
    tiny = [measurement([2.0, 2.0, 1.0]), measurement([1.0, 2.0, 2.0]), measurement([1.0, 1.0, 1.0])]
    rows = rows_of([TIED, TINY], [*tied, *tiny], 32_000)
    assert rows[0]["times_the_reference"] == {"float32": 3.0, "uniform8": 3.0, "logarithmic4": 0.5}
    assert rows[1]["times_the_reference"] == {"float32": 1.0, "uniform8": 1.0, "logarithmic4": 0.5}
    assert rows[0]["paper_times"] == pytest.approx(18.6 / 19.2)
