"""Table 3 of Chung et al. 2020: the files hold the codes of their rows, and ratios are within rounds."""

from pathlib import Path
from typing import Any

import pytest

from benchmarks.binary_codes import TABLE, measure, rows_of
from pocketmt.models.presets import preset


def test_every_file_is_measured_and_codes_are_smaller(tmp_path: Path) -> None:
    found = measure(preset("tiny", 320), tmp_path, rounds=1)
    assert [each["weights"] for each in found] == [row.label for row in TABLE]
    full, three, two, embedding, decoder, mixed = (each["file_bytes"] for each in found)
    assert two < three < full and mixed < decoder < embedding < full
    assert all(each["sentences"] == 5 and len(each["seconds"]) == 1 for each in found)


def measurement(seconds: list[float]) -> dict[str, Any]:
    return {
        "seconds": seconds,
        "milliseconds_per_sentence": 1.0,
        "file_bytes": 2_000_000,
        "peak_memory_bytes": 3_000_000,
        "engine": {"instruction_set": "avx2"},
    }


def test_times_are_beside_full_precision_round_by_round() -> None:
    rows = rows_of([measurement([4.0, 6.0, 9.0]), *(measurement([2.0, 6.0, 3.0]) for _ in TABLE[1:])])
    assert rows[0]["times_full_precision"] == 1
    assert (rows[2]["lowest"], rows[2]["times_full_precision"], rows[2]["highest"]) == (1.0, 2.0, 3.0)
    assert rows[5]["paper_times"] == pytest.approx(708.9 / 200.7)
