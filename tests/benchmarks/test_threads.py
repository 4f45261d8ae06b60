"""The program that compares numbers of workers, on a small network."""

import json
import os
from pathlib import Path

from benchmarks.threads import main


def test_a_row__case_and_number_of_workers(tmp_path: Path) -> None:
    path = tmp_path / "threads.json"
    assert main(["--quick", "--output", str(path)]) == 0
    record = json.loads(path.read_text())
    workers = range(1, len(os.sched_getaffinity(0)) + 1)
    assert [(row["scheme"], row["case"], row["workers"]) for row in record["rows"]] == [
        (scheme, case, count)
        for scheme in ("uniform8", "uniform7", "logarithmic4")
        for case in ("one sentence", "many")
        for count in workers
    ]
    for row in record["rows"]:
        assert len(row["seconds"]) == 2
        assert row["billion_multiply_adds_a_second"] > 0
        assert 0 < row["lowest"] <= row["times_one_worker"] <= row["highest"]
    assert all(row["times_one_worker"] == 1 for row in record["rows"] if row["workers"] == 1)
