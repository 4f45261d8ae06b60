"""The program that measures training beside Hugging Face's trainer, by the same code on the processor."""

import json
from pathlib import Path

import pytest
import torch

from benchmarks.command import run
from benchmarks.record_files import GrowingRecord
from benchmarks.training_speed import __main__ as program
from benchmarks.training_speed.__main__ import main


def test_both_systems_learn_the_same_from_the_same_batches(tmp_path: Path) -> None:
    path = tmp_path / "training.json"
    assert main(["--quick", "--output", str(path)]) == 0
    record = json.loads(path.read_text())
    assert record["complete"]
    rows = {(row["system"], row["decoder"], row["precision"]): row for row in record["rows"]}
    systems = [("Hugging Face", "self-attention"), ("PocketMT", "self-attention"), ("PocketMT", "ssru")]
    assert list(rows) == [(*system, precision) for precision in ("float32", "bfloat16-mixed") for system in systems]
    theirs, ours = rows[(*systems[0], "float32")], rows[(*systems[1], "float32")]
    for name in ("first_loss", "last_loss"):
        assert ours[name] == pytest.approx(theirs[name], abs=1e-3)
        assert rows[(*systems[1], "bfloat16-mixed")][name] == pytest.approx(ours[name], abs=1e-2)
        assert rows[(*systems[2], "float32")][name] != ours[name]
    assert ours["last_loss"] < ours["first_loss"] - 0.05
    assert all(row["tokens_a_second"] > 0 < row["times_hugging_face"] for row in rows.values())


def test_a_run_that_is_cut_off_keeps_its_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def cut_off(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(program, "train_ours", cut_off)
    path = tmp_path / "training.json"
    assert run(main, ["--quick", "--output", str(path)]) == 130
    record = json.loads(path.read_text())
    assert [(row["system"], row["times_hugging_face"]) for row in record["rows"]] == [("Hugging Face", 1.0)]
    assert not record["complete"] and record["provenance"]["seed"] == 1


def test_without_a_gpu_it_ends_in_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert run(main, []) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_compiled_training_has_a_record_of_its_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    measured = []

    def measure(plan: program.Plan, record: GrowingRecord) -> list[dict[str, object]]:
        measured.append((plan.presets, plan.ways, plan.compared, record.path and record.path.name))
        return []

    monkeypatch.setattr(program, "_measure", measure)
    monkeypatch.setattr(program, "torch_device", lambda name: torch.device("cpu"))
    for arguments in (["--compiled", "--presets", "base"], ["--short"], ["--quick", "--presets", "base"]):
        assert main(arguments) == 0
    bfloat16 = ("bfloat16-mixed", False)
    assert measured == [
        (("base",), (bfloat16, ("bfloat16-mixed", True)), 0, "training-compiled.json"),
        (("base", "12-1.tiny"), (bfloat16,), 5, "training-speed.json"),
        (("6-1.nano",), (("float32", False), bfloat16), 0, None),
    ]
