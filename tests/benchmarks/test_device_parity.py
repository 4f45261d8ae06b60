"""The program that compares the decoder for GPUs with the reference."""

import pytest

from benchmarks import device_parity
from benchmarks.device_parity import main


def test_lines_are_the_same(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(device_parity, "PRECISIONS", ("float32", "bfloat16"))
    assert main(["--quick", "--models", "captions-en-de"]) == 0
    rows = [line.rsplit(maxsplit=6) for line in capsys.readouterr().out.splitlines()[2:]]
    assert [(row[1], *row[3:6]) for row in rows] == [
        (precision, "3", "3", engine)
        for precision, engine in (("float32", "3"), ("bfloat16", "-"), ("float32", "3"))
        for _ in range(2)
    ]
