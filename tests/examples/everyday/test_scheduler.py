"""Steps that run side by side, in the order of what they need."""

import sys
from pathlib import Path

import pytest

from examples.everyday.scheduler import Step, StepError, run_steps


def writes(path: Path, text: str) -> list[str]:
    return [sys.executable, "-c", f"open({str(path)!r}, 'a').write({text!r})"]


def ignore(line: str) -> None:
    """Take a line of the report."""


def test_a_step_starts_when_what_it_needs_is_done(tmp_path: Path) -> None:
    text = tmp_path / "text"

    def write() -> None:
        text.write_text(text.read_text() + "c")

    steps = [
        Step("c", write, ("a", "b")),
        Step("b", writes(text, "b"), ("a",)),
        Step("a", writes(text, "a")),
    ]
    run_steps(steps, tmp_path, 2, ignore)
    assert text.read_text() == "abc"


def test_finished_steps_are_not_run_again(tmp_path: Path) -> None:
    steps = [Step("a", writes(tmp_path / "text", "a")), Step("b", writes(tmp_path / "text", "b"), ("a",))]
    run_steps(steps[:1], tmp_path, 1, ignore)
    run_steps(steps, tmp_path, 1, ignore)
    assert (tmp_path / "text").read_text() == "ab"


def test_other_steps_are_finished_after_a_failure(tmp_path: Path) -> None:
    fails = [sys.executable, "-c", "print('the reason'); exit(3)"]
    steps = [Step("a", fails), Step("b", writes(tmp_path / "b", ""), ("a",)), Step("c", writes(tmp_path / "c", ""))]
    with pytest.raises(StepError, match=r"failed: a; see .*logs"):
        run_steps(steps, tmp_path, 1, ignore)
    assert not (tmp_path / "b").exists() and (tmp_path / "c").exists()
    assert "the reason" in (tmp_path / "logs" / "a.log").read_text()
