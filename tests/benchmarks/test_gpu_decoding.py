"""The program that measures decoding on a GPU, by the same code on the processor."""

import json
from pathlib import Path

import pytest
import torch

from benchmarks.command import run
from benchmarks.gpu_decoding import main


def test_a_row_for_each_system_precision_beam_and_case(tmp_path: Path) -> None:
    path = tmp_path / "gpu.json"
    assert main(["--quick", "--output", str(path)]) == 0
    rows = json.loads(path.read_text())["rows"]
    systems = [("CTranslate2", "float32"), ("PocketMT", "bfloat16"), ("PocketMT", "int8_float32")]
    assert [(row["system"], row["precision"], row["beam"], row["case"]) for row in rows] == [
        (*system, beam, case) for system in systems for beam in (1, 4) for case in ("many", "one sentence")
    ]
    for row in rows:
        assert row["times_ctranslate2"] > 0 and len(row["seconds"]) == 1


def test_without_a_gpu_it_ends_in_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert run(main, []) == 1
    assert capsys.readouterr().err.count("\n") == 1
