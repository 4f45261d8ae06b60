"""The program that compares the decoder for GPUs with the reference."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from benchmarks import device_parity
from benchmarks.command import run
from benchmarks.device_parity import main

LINES = ("A man in a red shirt is sitting on a bench.", "Two dogs run.", "A woman rides a bike down the street.")


@pytest.fixture(autouse=True)
def _texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for file in ("multi30k/test_2016_flickr.en", "tatoeba/test.en"):
        (tmp_path / file).parent.mkdir()
        (tmp_path / file).write_text("".join(f"{line}\n" for line in LINES))
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


def gpu_rows(capsys: pytest.CaptureFixture[str], *names: str) -> list[list[str]]:
    """Run the cases for GPUs on the processor; returns the cells of each row."""
    assert main(["--device", "torch-cpu", "--quick", "--models", *names]) == 0
    lines = capsys.readouterr().out.splitlines()[2:]
    return [[cell.strip() for cell in line.rsplit(maxsplit=10)] for line in lines]


def test_cases_for_gpus_compare_decoded_weights_with_the_processor(capsys: pytest.CaptureFixture[str]) -> None:
    name = "captions-en-de"
    rows = gpu_rows(capsys, name)
    precisions = [*device_parity.FOR_GPUS[name][1], "float32"]
    assert [row[1] for row in rows] == [each for each in precisions for _ in device_parity.BEAMS]
    assert all(row[3:5] == ["3", "3"] for row in rows)
    assert [row[0] for row in rows[-2:]] == [f"{name}{device_parity.DECODED}"] * 2
    assert [row[7] for row in rows] == ["-"] * (len(rows) - 2) + ["3"] * 2
    assert [row[5] for row in rows] == ["3" if row[1] == "float32" else "-" for row in rows]


def test_calls_of_different_sizes_find_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    rows = gpu_rows(capsys, *device_parity.CALLS)
    lines = str(sum(min(size, 3) for size in device_parity.CALL_SIZES))
    assert [row[3:5] for row in rows] == [[lines, lines]] * 4


def test_two_threads_find_what_each_finds_alone(capsys: pytest.CaptureFixture[str]) -> None:
    rows = gpu_rows(capsys, *device_parity.BESIDE)
    assert [row[0] for row in rows] == ["captions-en-de, two threads", "everyday-en-de, two threads"] * 4
    assert all(row[3] == row[8] == "3" for row in rows)


def test_long_translations_move_to_longer_tensors(capsys: pytest.CaptureFixture[str]) -> None:
    rows = gpu_rows(capsys, *device_parity.LONG)
    assert all(row[3:5] == ["3", "3"] for row in rows)
    assert all(int(row[9]) > 32 and int(row[10]) > 0 for row in rows)


def test_a_machine_without_a_gpu_is_named_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert run(main, ["--device", "cuda"]) == 1
    errors = capsys.readouterr().err
    assert errors.startswith("error: device 'cuda': PyTorch ") and errors.count("\n") == 1


@pytest.mark.parametrize(
    "arguments", [["--models", "two threads"], ["--device", "torch-cpu", "--models", "everyday-de-en"]]
)
def test_names_of_the_other_cases_are_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(arguments)
    assert f"--models: {arguments[-1]!r} is " in capsys.readouterr().err


def test_a_record_of_a_gpu_names_it_and_is_written_after_each_row(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    record = tmp_path / "record.json"
    monkeypatch.setattr(device_parity, "GPU_RECORD", record)
    monkeypatch.setattr(device_parity, "torch_device", torch.device)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "a GPU")
    keys = (column.partition("=")[0].partition(":")[0] for column in device_parity.GPU_COLUMNS)
    row: dict[str, Any] = dict.fromkeys(keys)
    seen: list[bool] = []

    def rows(case: device_parity.Case) -> Iterator[dict[str, Any]]:
        assert case.device.type == "cuda"
        yield row
        seen.append(json.loads(record.read_text())["complete"])

    monkeypatch.setattr(device_parity, "_rows", rows)
    monkeypatch.setattr(device_parity, "FOR_GPUS", {"SSRU": device_parity.FOR_GPUS["SSRU"]})
    assert main(["--device", "cuda"]) == 0
    written = json.loads(record.read_text())
    assert (written["gpu"], written["complete"], written["rows"]) == ("a GPU", True, [row] * 3)
    assert seen == [False] * 3 and written["provenance"]["seed"] == device_parity.SEED
    part = tmp_path / "part.json"
    assert main(["--device", "cuda", "--lines", "3", "--output", str(part)]) == 0
    assert not json.loads(part.read_text())["complete"]
    assert json.loads(record.read_text()) == written
