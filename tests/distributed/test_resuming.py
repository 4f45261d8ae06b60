"""Commands on a Ray cluster show progress, and resume after all of their processes were killed."""

import os
import re
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from benchmarks.ray_faults import descendants
from pocketmt import progress
from pocketmt.cli.main import run
from tests.cli.conftest import command_line

from .texts import joined, write_text

PATIENCE = 300.0


def times(folder: Path, pattern: str) -> dict[str, int]:
    """When each file was written."""
    return {str(file.relative_to(folder)): file.stat().st_mtime_ns for file in folder.glob(pattern)}


def start_and_kill(command: list[str], folder: Path, pattern: str, count: int) -> dict[str, int]:
    """Kill a command and all that it started when it has written some files; returns when each file was written."""
    process = subprocess.Popen(command_line(*command, "--ray", "local"), stderr=subprocess.PIPE)
    deadline = time.monotonic() + PATIENCE
    while len(list(folder.glob(pattern))) < count:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    for each in [process.pid, *descendants(process.pid)]:
        with suppress(ProcessLookupError):
            os.kill(each, signal.SIGKILL)
    process.communicate()
    return times(folder, pattern)


def assert_kept(before: dict[str, int], after: dict[str, int], count: int) -> None:
    """Files from before are not written again; there were fewer of them than a whole run writes."""
    assert 0 < len(before) < count == len(after)
    assert {name: after[name] for name in before} == before


def test_translate(two_nodes: Any, model: Path, tmp_path: Path) -> None:
    text, out = write_text(tmp_path / "text.en", 6000), tmp_path / "out"
    options = ["translate", "--model", str(model), "--input", str(text), "--beam-size", "1", "--no-check"]
    command = [*options, "--output", str(out), "--block-lines", "50"]
    before = start_and_kill(command, out, "records/*.json", 3)
    assert not (out / "manifest.json").exists()
    assert run([*command, "--ray", two_nodes.address]) == 0
    assert_kept(before, times(out, "records/*.json"), 120)
    assert run([*options, "--output", str(tmp_path / "one.de")]) == 0
    assert joined(out) == (tmp_path / "one.de").read_bytes()


def test_distill(two_nodes: Any, model: Path, tmp_path: Path) -> None:
    text, work = write_text(tmp_path / "text.en", 10_000), tmp_path / "cluster.en.distillation"
    options = ["distill", str(model), "--text", str(text), "--beam-size", "1"]
    command = [*options, "--output", str(tmp_path / "cluster.en"), str(tmp_path / "cluster.de")]
    before = start_and_kill(command, work, "*/*.jsonl", 1)
    assert not (tmp_path / "cluster.en").exists()
    assert run([*command, "--ray", two_nodes.address]) == 0
    assert_kept(before, times(work, "*/*.jsonl"), 10)
    assert run([*options, "--output", str(tmp_path / "one.en"), str(tmp_path / "one.de")]) == 0
    for side in ("en", "de"):
        assert (tmp_path / f"cluster.{side}").read_bytes() == (tmp_path / f"one.{side}").read_bytes()


def test_clean(two_nodes: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, target, work = (
        write_text(tmp_path / "text.en", 3000),
        tmp_path / "text.de",
        tmp_path / "cluster.en.cleaning",
    )
    target.write_text("".join(f"ein Satz {number % 400}\n" for number in range(3000)))
    options = ["clean", str(source), str(target), "--improbable", "0"]
    blocks = ["--block-lines", "2"]
    command = [*options, *blocks, "--output", str(tmp_path / "cluster.en"), str(tmp_path / "cluster.de")]
    before = start_and_kill(command, work, "records/*.json", 10)
    assert not (tmp_path / "cluster.en").exists()
    after: dict[str, int] = {}
    with monkeypatch.context() as patched:
        # The records are removed at the end: they are looked at first.
        remove = shutil.rmtree

        def look(path: Any, *arguments: Any, **others: Any) -> None:
            if Path(path) == work / "records":
                after.update(times(work, "records/*.json"))
            remove(path, *arguments, **others)

        patched.setattr(shutil, "rmtree", look)
        assert run([*command, "--ray", two_nodes.address]) == 0
    assert_kept(before, after, 1500)
    assert not work.exists()
    assert run([*options, "--output", str(tmp_path / "one.en"), str(tmp_path / "one.de")]) == 0
    for side in ("en", "de"):
        assert (tmp_path / f"cluster.{side}").read_bytes() == (tmp_path / f"one.{side}").read_bytes()


def test_progress_of_a_translation(
    two_nodes: Any, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "LOG_SECONDS", 0.0)
    text = write_text(tmp_path / "text.en", 200)
    command = ["translate", "--model", str(model), "--input", str(text), "--output", str(tmp_path / "out")]
    command += ["--beam-size", "1", "--no-check", "--block-lines", "25", "--ray", two_nodes.address]
    assert run(command) == 0
    shown = re.findall(r"^translated (\d+) lines, [\d,]+ per second$", capsys.readouterr().err, re.MULTILINE)
    assert [int(lines) for lines in shown] == list(range(25, 201, 25))
