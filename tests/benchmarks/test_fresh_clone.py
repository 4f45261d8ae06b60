"""The times of `make demo` and `make test` from a fresh clone."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from benchmarks import fresh_clone
from benchmarks.command import run

MAKEFILE = """
engine: ; sleep 0.2; touch built
demo: ; test -e built; test "$$POCKETMT_INSTRUCTION_SET" = avx2
test: ; test -e built; test "$$ATEN_CPU_CAPABILITY" = avx2; test "$$CCACHE_DISABLE" = 1; {command}
"""


def write_repository(folder: Path, command: str) -> None:
    (folder / "Makefile").write_text(MAKEFILE.format(command=command))
    author = {f"GIT_{role}_{field}": "a" for role in ("AUTHOR", "COMMITTER") for field in ("NAME", "EMAIL")}
    for arguments in (["init", "--quiet"], ["add", "Makefile"], ["commit", "--quiet", "--message", "a"]):
        subprocess.run(["git", *arguments], cwd=folder, env=os.environ | author, check=True)
    (folder / "Makefile").write_text("engine demo test: ; false")  # not committed


def test_the_set_up_is_counted_for_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_repository(tmp_path, "sleep 0.3")
    monkeypatch.setattr(fresh_clone, "ROOT", tmp_path)
    assert run(fresh_clone.main, ["--output", str(tmp_path / "record.json")]) == 0
    demo, test = json.loads((tmp_path / "record.json").read_text())["rows"]
    assert (demo["command"], test["command"]) == ("make demo", "make test")
    assert demo["set_up_minutes"] == test["set_up_minutes"] >= 0.2 / 60
    assert demo["minutes"] > demo["set_up_minutes"]
    assert test["minutes"] >= test["set_up_minutes"] + 0.3 / 60


def test_a_failure_is_shown_and_leaves_no_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_repository(tmp_path, "echo the reason; false")
    monkeypatch.setattr(fresh_clone, "ROOT", tmp_path)
    assert run(fresh_clone.main, ["--output", str(tmp_path / "record.json")]) == 1
    errors = capsys.readouterr().err
    assert errors.startswith("error: `make test` failed in a fresh clone:\n") and "the reason" in errors
    assert not (tmp_path / "record.json").exists()
