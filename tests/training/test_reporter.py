"""Reports of training without a terminal: a line every few seconds, and one for each event."""

import time
from pathlib import Path

import pytest

from pocketmt.training.reporter import Reporter


def test_a_log_has_a_line_every_few_seconds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: seconds)
    reporter = Reporter(tmp_path / "log.jsonl", 40, 10, lambda event: True, True)
    for update in range(11, 31):
        seconds += 0.5
        reporter.advance(update, 3.25)
    reporter.event("validation", 30, bleu=12.5)
    reporter.close()
    assert capsys.readouterr().err.splitlines() == [
        "training: update 20 of 40, loss 3.250, at most 10 s left",
        "training: update 30 of 40, loss 3.250, at most 5 s left",
        "validation update=30 bleu=12.5",
    ]


def test_only_the_first_process_reports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reporter = Reporter(tmp_path / "log.jsonl", 40, 0, lambda event: True, False)
    reporter.advance(1, 1.0)
    reporter.event("validation", 1)
    reporter.close()
    assert capsys.readouterr().err == "" and not (tmp_path / "log.jsonl").exists()


def test_lines_of_a_log_that_hold_no_event_are_left_out(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    events = ['{"event": "train", "update": 1}\n', '{"event": "train", "update": 2}\n']
    log.write_bytes(f"{events[0]}half a li\n[1]\n{{}}\n".encode() + b'"\xff"\n' + f'{events[1]}{{"upd'.encode())
    Reporter(log, 40, 2, lambda event: event["update"] > 0, True).close()
    assert log.read_text() == "".join(events)
