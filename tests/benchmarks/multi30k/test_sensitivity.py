"""The benchmark of sensitivity: rows with our scores and the paper's."""

from pathlib import Path

import pytest

from benchmarks.multi30k.sensitivity import main
from benchmarks.record_files import read_record
from tests.compression.tiny_run import write_tiny_run


def test_each_part_has_our_scores_and_the_papers(tmp_path: Path) -> None:
    run = write_tiny_run(tmp_path)
    main([str(run), "--sentences", "2", "--output", str(tmp_path / "r.json")])
    record = read_record(tmp_path / "r.json")
    rows = {row["part"]: row for row in record["rows"]}
    encoder = rows["encoder"]
    assert encoder["weights"] == rows["encoder.self_attention"]["weights"] + rows["encoder.feed_forward"]["weights"]
    assert encoder["paper_degradation"] == pytest.approx(-7.775)  # the paper rounds it to -7.8
    assert encoder["degradation"] == sum(encoder[f"bleu{bits}"] for bits in (4, 3, 2, 1)) / 4 - record["whole"]["bleu"]
    assert rows["embedding"]["loss1"] != rows["embedding"]["loss4"]
