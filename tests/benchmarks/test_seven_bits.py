"""The comparison of 7 bits with 8 has a row for each text."""

import json
from pathlib import Path

import pytest

from benchmarks import seven_bits


def test_each_text_has_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in (("test_2016_flickr.en", "A dog.\nTwo men run."), ("test_2016_flickr.de", "Ein Hund.\nZwei.")):
        path = tmp_path / "data" / "multi30k" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n", encoding="utf-8")
    monkeypatch.setenv("POCKETMT_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(seven_bits, "CAPTIONS", seven_bits.CAPTIONS[:1])
    monkeypatch.setattr(seven_bits, "EVERYDAY", ())
    assert seven_bits.main(["--output", str(tmp_path / "record.json")]) == 0
    (row,) = json.loads((tmp_path / "record.json").read_text())["rows"]
    assert (row["model"], row["text"], row["lines"]) == ("captions-en-de-8bit", "test_2016_flickr", 2)
    assert row["BLEU_gain"] == row["BLEU"] - row["BLEU_baseline"]
    assert 0 <= row["same_lines"] <= 2
