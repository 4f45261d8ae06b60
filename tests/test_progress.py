"""Progress on stderr: lines in a log, a rewritten line on a terminal."""

import io
import sys
import time

import pytest

from pocketmt.progress import ProgressLine, duration


class Clock:
    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(time, "monotonic", clock)
    return clock


def run(clock: Clock, progress: ProgressLine, seconds: float, steps: int, total: int | None) -> None:
    for step in range(1, steps + 1):
        clock.seconds += seconds / steps
        progress.update(step * 10, total)


def test_a_log_has_a_line_every_few_seconds(capsys: pytest.CaptureFixture[str], clock: Clock) -> None:
    run(clock, ProgressLine("translated", "lines"), 12, 96, 960)
    assert capsys.readouterr().err.splitlines() == [
        "translated 400 of 960 lines, 7 s left",
        "translated 800 of 960 lines, 2 s left",
        "translated 960 of 960 lines",
    ]


def test_short_work_says_nothing_in_a_log(capsys: pytest.CaptureFixture[str], clock: Clock) -> None:
    run(clock, ProgressLine("translated", "lines"), 4, 40, 400)
    assert capsys.readouterr().err == ""


def test_without_a_total_a_log_has_the_rate(capsys: pytest.CaptureFixture[str], clock: Clock) -> None:
    progress = ProgressLine("translated", "lines")
    run(clock, progress, 5.5, 44, None)
    progress.close()
    assert capsys.readouterr().err == "translated 400 lines, 80 per second\n"


def test_the_next_piece_of_work_begins_again(capsys: pytest.CaptureFixture[str], clock: Clock) -> None:
    progress = ProgressLine("scored", "networks")
    run(clock, progress, 6, 6, 60)
    run(clock, progress, 6, 6, 60)
    assert capsys.readouterr().err.splitlines() == [
        "scored 50 of 60 networks, 1 s left",
        "scored 60 of 60 networks",
        "scored 40 of 60 networks, 2 s left",
        "scored 60 of 60 networks",
    ]


def test_a_terminal_has_one_line_with_a_bar(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    run(clock, ProgressLine("translated", "lines"), 1.01, 10, 100)
    written = terminal.getvalue()
    assert written.count("\n") == 1 and written.endswith("translated 100 of 100 lines\n")
    assert [line.split("]")[0] for line in written.split("\r\x1b[K")[1:]] == [
        f"[{'#' * (2 * done):20}" for done in (2, 4, 6, 8, 10)
    ]


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (59, "59 s"), (61, "1 min"), (3599, "60 min"), (7500, "2 h 5 min")]
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text.replace("60 min", "1 h 0 min")
