"""The program that compares the decoder for GPUs with the reference."""

from pathlib import Path

import pytest

from benchmarks import device_parity
from benchmarks.device_parity import main

LINES = ("A man in a red shirt is sitting on a bench.", "Two dogs run.", "A woman rides a bike down the street.")


@pytest.fixture(autouse=True)
def _texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "multi30k").mkdir()
    (tmp_path / "multi30k" / "test_2016_flickr.en").write_text("".join(f"{line}\n" for line in LINES))
    monkeypatch.setenv("POCKETMT_DATA", str(tmp_path))
    monkeypatch.setattr(device_parity, "PRECISIONS", ("float32", "bfloat16"))


def test_lines_are_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--quick", "--models", "captions-en-de"]) == 0
    rows = [line.rsplit(maxsplit=6) for line in capsys.readouterr().out.splitlines()[2:]]
    assert [(row[1], *row[3:6]) for row in rows] == [
        (precision, "3", "3", engine)
        for precision, engine in (("float32", "3"), ("bfloat16", "-"), ("float32", "3"))
        for _ in range(2)
    ]


def test_lines_of_an_ensemble_and_of_random_weights_are_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    (ensemble,) = device_parity.ENSEMBLES
    assert main(["--quick", "--models", ensemble, "SSRU"]) == 0
    rows = [line.rsplit(maxsplit=6) for line in capsys.readouterr().out.splitlines()[2:]]
    assert [row[0].strip() for row in rows] == [ensemble] * 4 + ["SSRU"] * 4
    assert all(row[3:6] == ["3", "3", "-"] for row in rows)
