"""The efficiency task's measures, in small."""

import json
from itertools import islice
from pathlib import Path

import pytest

from benchmarks import efficiency_task


@pytest.fixture
def corpora(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a few lines of each text."""
    texts = {
        "tatoeba/train.en": "Good morning.\nHow are you?\nGood morning.\n",
        "tatoeba-fr/train.en": "How are you?\nI am fine.\n",
        "newstest/newstest2014.en-de.en": "The news of the day is long.\n" * 200,
        "multi30k/train.en": "A man in a red shirt.\n",
    }
    for name, text in texts.items():
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.setenv("POCKETMT_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(efficiency_task, "GENERATED_AT_ONCE", 3_000)
    monkeypatch.setattr(efficiency_task, "XZ_PRESET", 0)
    return tmp_path / "data"


def test_each_line_comes_once_and_generated_ones_follow(corpora: Path) -> None:
    lines = list(islice(efficiency_task.different_lines(), 2_000))
    real = ["Good morning.", "How are you?", "I am fine.", "The news of the day is long.", "A man in a red shirt."]
    assert lines[:5] == real
    assert len(set(lines)) == 2_000


def test_long_lines_have_150_words(corpora: Path) -> None:
    assert [len(line.split()) for line in islice(efficiency_task.long_lines(), 9)] == [150] * 9


def test_the_record_has_every_measure(corpora: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(efficiency_task, "LONG_LINES", 4)
    output = tmp_path / "record.json"
    assert efficiency_task.main(["--lines", "30", "--output", str(output)]) == 0
    record = json.loads(output.read_text())
    texts = {(row["text"], row["mode"], row["lines"]) for row in record["rows"]}
    assert texts == {
        ("different lines", "throughput", 30),
        ("different lines", "latency", 30),
        ("lines of 150 words", "throughput", 4),
    }
    assert all(row["seconds"] > 0 for row in record["rows"])
    image = record["image"]
    assert image["image_bytes"] > image["image_xz_bytes"] > image["model_xz_bytes"]
