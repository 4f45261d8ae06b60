"""The benchmark of shortlists on a small run: a row for each length and text, higher recall of longer lists."""

from pathlib import Path

import pytest

from benchmarks.multi30k import data, shortlists
from benchmarks.record_files import read_record
from tests.compression.tiny_run import write_tiny_run


def test_a_row_for_each_length_and_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = write_tiny_run(tmp_path)
    (tmp_path / "multi30k").mkdir()
    for name, original in ((data.VALIDATION, "dev"), ("train", "train")):
        for language, own in (("en", "en"), ("de", "up")):
            (tmp_path / "multi30k" / f"{name}.{language}").write_text((tmp_path / f"{original}.{own}").read_text())
    monkeypatch.setenv("POCKETMT_DATA", str(tmp_path))
    monkeypatch.setattr(shortlists, "BEAM", 1)
    monkeypatch.setattr(shortlists, "LENGTHS", ((1, 1), (20, 48)))
    output = tmp_path / "record.json"
    taught = ["--taught", str(tmp_path / "train.en"), str(tmp_path / "train.up")]
    shortlists.main([str(run), *taught, "--rounds", "1", "--output", str(output)])
    rows = read_record(output)["rows"]
    assert [(row["top_k"], row["frequent"]) for row in rows] == [(1, 1), (20, 48)] * 2
    short, long = rows[:2]
    assert short["recall"]["mean_pieces"] < long["recall"]["mean_pieces"]
    assert short["recall"]["output"] <= long["recall"]["output"]
    assert long["recall"]["reference"] == 1 and long["gain"] == 0  # that list has all that the text is made of
    assert short["added_bytes"] > 0 and short["times_as_fast"] > 0
