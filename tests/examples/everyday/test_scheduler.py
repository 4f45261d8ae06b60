"""Steps that run side by side, in the order of what they need, and are not run again."""

import sys
from pathlib import Path

import pytest

from examples.everyday.__main__ import main
from examples.everyday.scheduler import run_steps
from examples.everyday.step import Step, StepError


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
    run_steps(steps, tmp_path, 1, ignore, ["a"])
    run_steps(steps, tmp_path, 1, ignore)
    run_steps(steps, tmp_path, 1, ignore)
    assert (tmp_path / "text").read_text() == "ab"


def test_other_steps_are_finished_after_a_failure(tmp_path: Path) -> None:
    fails = [sys.executable, "-c", "print('the reason'); exit(3)"]
    steps = [Step("a", fails), Step("b", writes(tmp_path / "b", ""), ("a",)), Step("c", writes(tmp_path / "c", ""))]
    with pytest.raises(StepError, match=r"failed: a; see .*logs\nnot run: b, which needs a$"):
        run_steps(steps, tmp_path, 1, ignore)
    assert not (tmp_path / "b").exists() and (tmp_path / "c").exists()
    assert "the reason" in (tmp_path / "logs" / "a.log").read_text()


def test_chosen_steps_that_lack_others_are_named(tmp_path: Path) -> None:
    steps = [Step(name, writes(tmp_path / name, ""), needs) for name, needs in (("a", ()), ("b", ("a",)), ("c", ()))]
    with pytest.raises(StepError, match=r"^not run: b, which needs a$"):
        run_steps(steps, tmp_path, 1, ignore, ["b", "c"])
    assert (tmp_path / "c").exists()


@pytest.mark.parametrize("changed", ["command", "configuration", "settings"])
def test_a_step_with_other_settings_is_refused_with_those_that_need_it(tmp_path: Path, changed: str) -> None:
    def steps(value: str = "") -> list[Step]:
        (tmp_path / "a.toml").write_text(value if changed == "configuration" else "")
        command = ["true", str(tmp_path / "a.toml"), value if changed == "command" else ""]
        settings = value if changed == "settings" else ""
        return [Step("s", lambda: None, settings=settings), Step("a", command, ("s",)), Step("b", ["true"], ("a",))]

    run_steps(steps(), tmp_path, 1, ignore)
    done = {name: tmp_path / "done" / name for name in ("s", "a", "b")}
    other = [name for name in done if name != "s" or changed == "settings"]
    files = " ".join(str(done[name]) for name in other)
    with pytest.raises(StepError, match=f"^{', '.join(other)}: made with other settings: .* results and {files};"):
        run_steps(steps("other"), tmp_path, 1, ignore)
    for name in other:
        done[name].unlink()
    run_steps(steps("other"), tmp_path, 1, ignore)
    run_steps(steps("other"), tmp_path, 1, ignore)


def test_steps_that_an_earlier_version_has_finished_are_not_run_again(tmp_path: Path) -> None:
    (tmp_path / "done").mkdir()
    (tmp_path / "done" / "a").touch()
    run_steps([Step("a", writes(tmp_path / "text", "a"))], tmp_path, 1, ignore)
    assert not (tmp_path / "text").exists()


def test_results_may_be_moved(tmp_path: Path) -> None:
    for name in ("old", "new"):
        folder = tmp_path / name
        run_steps([Step("a", writes(folder / "text", "a"))], folder, 1, ignore)
        if name == "old":
            folder.rename(tmp_path / "new")
    assert (tmp_path / "new" / "text").read_text() == "a"


def test_a_pattern_of_no_step_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["examples/everyday/everyday.toml", "--output", str(tmp_path), "--only", "texts", "teachers"]
    monkeypatch.setattr(sys, "argv", ["everyday", *arguments])
    assert main() == 1
    assert "error: no step fits teachers: the steps are texts, en-de.teacher1, " in capsys.readouterr().err
    assert not (tmp_path / "text").exists()
