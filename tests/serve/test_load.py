"""The programs that measure the server, in small."""

import json
from pathlib import Path

import pytest

from benchmarks.data import data_folder
from benchmarks.serve import faults, hour, load, mixed_texts, supervised
from benchmarks.serve.model_changes import SECONDS_TO_LOAD, ModelChanges

needs_corpus = pytest.mark.skipif(
    not (data_folder() / "multi30k").is_dir(), reason="Multi30k is missing: see docs/appendices/data.md"
)
SENTENCES = [f"Sentence number {number} of all is here." for number in range(60)]


@needs_corpus
def test_load_is_recorded(tmp_path: Path) -> None:
    path = tmp_path / "load.json"
    arguments = ["--clients", "1", "20", "--seconds", "0.3", "--without-libretranslate", "--output", str(path)]
    assert load.main(arguments) == 0
    rows = json.loads(path.read_text())["rows"]
    assert [(row["texts"], row["clients"]) for row in rows] == [
        ("sentence", 1),
        ("sentence", 20),
        ("document", 1),
        ("document", 20),
    ]
    for row in rows:
        assert row["requests"] > 0 and row["refused"] == 0
        assert 0 < row["p50"] <= row["p95"] <= row["p99"]
        assert row["peak_megabytes"] > 10


@needs_corpus
def test_faults_leave_all_answers_right(tmp_path: Path) -> None:
    path = tmp_path / "faults.json"
    assert faults.main(["--requests", "500", "--output", str(path)]) == 0
    record = json.loads(path.read_text())
    assert record["counts"]["proper_right"] == 200
    assert record["waiting_requests_at_the_end"] == 0


@needs_corpus
def test_an_hour_in_six_seconds_has_no_wrong_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mixed_texts, "SENTENCES_OF_CLIENT", 30)
    monkeypatch.setattr(hour, "KILLS", (0.5,))
    path = tmp_path / "hour.json"
    assert hour.main(["--minutes", "0.1", "--output", str(path)]) == 0
    record = json.loads(path.read_text())
    assert record["failures"] == 0 and record["unexpected"] == []
    assert record["totals"]["right"] > 10
    assert record["seconds"] >= 6
    assert [life["ended"] for life in record["lives"]] == ["kill -9", "running"]


def translate(line: str, model: int) -> str:
    return f"{line.upper()} <{model}>"


@pytest.fixture
def judge() -> mixed_texts.Judge:
    lines = [
        line for text in (*mixed_texts.documents(SENTENCES), *mixed_texts.single(SENTENCES)) for line in text.lines
    ]
    return mixed_texts.Judge({line: (translate(line, 0), translate(line, 1)) for line in lines})


def test_answers_are_judged(judge: mixed_texts.Judge) -> None:
    [text, other, *_] = mixed_texts.lists(SENTENCES)
    right = [translate(line, 1) for line in text.lines]
    assert judge.judge(text, right) == ("right", frozenset({1}))
    assert judge.judge(text, [translate(text.lines[0], 0), *right[1:]])[0] == "mixed"
    assert judge.judge(text, [*right[:-1], translate(other.lines[-1], 1)])[0] == "crossed"
    assert judge.judge(text, [*right[:-1], "something else"])[0] == "wrong"
    assert judge.judge(text, right[:-1])[0] == "wrong"
    assert judge.judge(text, "no list")[0] == "wrong"


def test_documents_and_web_pages_are_judged_by_their_lines(judge: mixed_texts.Judge) -> None:
    [document, *_] = mixed_texts.documents(SENTENCES)
    assert judge.judge(document, "\n\n".join(translate(line, 0) for line in document.lines)) == (
        "right",
        frozenset({0}),
    )
    assert judge.judge(document, " ".join(translate(line, 0) for line in document.lines))[0] == "wrong"
    [page, *_] = mixed_texts.web_pages(SENTENCES)
    blocks = [translate(line, 0).replace("<", "&lt;").replace(">", "&gt;") for line in page.lines]
    answer = "".join(f"<p><b>{block[:3]}</b>{block[3:]}</p>" for block in blocks)
    assert judge.judge(page, mixed_texts.SCRIPT + answer) == ("right", frozenset({0}))
    assert judge.judge(page, answer)[0] == "wrong"
    assert judge.judge(page, mixed_texts.SCRIPT + answer.replace("</b>", "", 1))[0] == "wrong"


def test_time_in_which_the_process_was_stopped_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    clock = supervised.Clock()
    for step in (1, 2, 300, 1):
        now += step
        seconds = clock.now()
    assert (seconds, clock.stops, clock.stopped) == (4, 1, 300)


def test_the_models_of_a_time_are_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = supervised.Clock()
    now = 0.0
    monkeypatch.setattr(clock, "now", lambda: now)
    changes = ModelChanges(tmp_path / "model.pocketmt", clock)
    now = 100.0
    changes.replace(1)
    assert changes.possible(50, 99) == {0}
    assert changes.possible(99, 101) == changes.possible(100 + SECONDS_TO_LOAD / 2, 120) == {0, 1}
    assert changes.possible(101 + SECONDS_TO_LOAD, 120) == {1}
