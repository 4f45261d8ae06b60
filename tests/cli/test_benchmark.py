"""pocketmt benchmark: its record and its table."""

import json
from pathlib import Path

import pytest

from pocketmt import progress
from pocketmt.cli.main import run

from .conftest import SOURCES, Run


def test_the_record_holds_measurements_and_settings(pocketmt: Run, random_model: Path, text: Path) -> None:
    options = ["--beam-size", "2", "--repeats", "2", "--instruction-set", "portable"]
    answer = pocketmt("benchmark", random_model, text, *options, "--json")
    assert answer.returncode == 0, answer.stderr
    record = json.loads(answer.stdout)
    timing = record["timing"]
    assert timing["sentences"] == len(SOURCES)
    assert timing["mode"] == "latency"
    assert 0 < timing["latency"]["median_milliseconds"] <= timing["latency"]["percentile_99_milliseconds"]
    assert len(timing["seconds"]) == 2
    assert 0 < timing["fastest_seconds"] <= timing["median_seconds"] <= timing["slowest_seconds"]
    assert record["beam_size"] == 2
    assert record["instruction_set"] == "portable"
    assert record["model_bytes"] == random_model.stat().st_size
    assert 0 < record["memory_before_load_bytes"] <= record["peak_memory_bytes"]
    assert record["provenance"]["command"].startswith("pocketmt benchmark ")
    assert record["provenance"]["machine"]["processor"]


def test_the_table_shows_speed_and_latency(pocketmt: Run, random_model: Path, text: Path) -> None:
    answer = pocketmt("benchmark", random_model, text, "--repeats", "1")
    assert answer.returncode == 0
    assert answer.stdout.decode().startswith("source words a second ")
    assert "milliseconds a sentence, median" in answer.stdout.decode()


def test_throughput_is_measured_on_a_repeated_text(pocketmt: Run, random_model: Path, text: Path) -> None:
    lines = 3 * len(SOURCES) + 1
    options = ["--mode", "throughput", "--lines", str(lines), "--repeats", "1", "--pin-workers", "--json"]
    answer = pocketmt("benchmark", random_model, text, *options)
    assert answer.returncode == 0, answer.stderr
    record = json.loads(answer.stdout)
    assert record["pinned"]
    assert record["timing"]["sentences"] == lines
    assert record["timing"]["latency"] is None


@pytest.mark.parametrize("mode", ["latency", "throughput"])
def test_progress_is_on_stderr_and_the_record_alone_on_stdout(
    mode: str, random_model: Path, text: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "LOG_SECONDS", 0.0)  # A line of a log is due each time instead of every few seconds.
    options = ["--mode", mode, "--repeats", "2", "--beam-size", "1", "--json"]
    assert run(["benchmark", str(random_model), str(text), *options]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["timing"]["mode"] == mode
    lines, total = printed.err.splitlines(), 2 * len(SOURCES)
    assert [line for line in lines if not line.startswith("translated ")] == []
    assert lines[-1] == f"translated {total} of {total} lines"
    halfway = f"translated {len(SOURCES)} of {total} lines, "
    assert [line for line in lines if line.startswith(halfway) and line.endswith(" left")] != []


def test_more_pinned_workers_than_cores_are_refused(pocketmt: Run, random_model: Path, text: Path) -> None:
    answer = pocketmt("benchmark", random_model, text, "--workers", "1000", "--pin-workers")
    assert answer.returncode == 1
    assert "1000 workers cannot each have a core" in answer.stderr.decode()


def test_empty_or_missing_texts_and_models_are_refused(pocketmt: Run, random_model: Path, text: Path) -> None:
    empty = text.with_name("empty")
    empty.touch()
    blank = text.with_name("blank")
    blank.write_text("\n \n")
    for model, path, message in (
        (random_model, empty, "nothing to time"),
        (random_model, blank, "blank has only blank lines: there is nothing to time"),
        (random_model, text.with_name("missing.en"), "missing.en"),
        (text.with_name("missing.pocketmt"), text, "missing.pocketmt"),
    ):
        answer = pocketmt("benchmark", model, path)
        assert answer.returncode == 1
        assert answer.stdout == b""
        assert answer.stderr.startswith(b"error: ")
        assert message in answer.stderr.decode()
