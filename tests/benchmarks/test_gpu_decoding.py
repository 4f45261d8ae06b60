"""The program that measures decoding on a GPU, by the same code on the processor."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from benchmarks.command import run
from benchmarks.gpu_decoding import __main__ as program
from benchmarks.gpu_decoding import ensemble
from benchmarks.gpu_decoding.__main__ import main, measure, with_ratios
from benchmarks.gpu_decoding.plan import QUICK, SHORT
from benchmarks.gpu_decoding.systems import COMPILED, FOUR_BITS, ours
from benchmarks.gpu_decoding.workload import random_workloads, trained_workload
from benchmarks.record_files import GrowingRecord
from pocketmt.engine.bundled import resolve_model

CPU = torch.device("cpu")


def test_a_row_for_each_decoder_system_precision_beam_and_case(tmp_path: Path) -> None:
    path = tmp_path / "gpu.json"
    assert main(["--quick", "--output", str(path)]) == 0
    record = json.loads(path.read_text())
    systems = [
        ("self-attention", "CTranslate2", "float32"),
        ("self-attention", "PocketMT", "bfloat16"),
        ("self-attention", "PocketMT", FOUR_BITS),
        ("ssru", "PocketMT", "bfloat16"),
        ("ssru", "PocketMT", FOUR_BITS),
    ]
    names = ("decoder", "system", "precision", "beam", "case")
    assert [tuple(row[name] for name in names) for row in record["rows"]] == [
        (*system, beam, case) for system in systems for beam in (1, 4) for case in ("many", "one sentence")
    ]
    for row in record["rows"]:
        assert row["times_ctranslate2"] > 0 and len(row["seconds"]) == 1
        assert row["words_a_second"] * row["hours_for_a_billion_words"] * 3600 == pytest.approx(1e9)
    assert [(row["beam"], row["lines"], len(row["models"])) for row in record["ensembles"]] == [(1, 6, 3), (4, 6, 3)]


def test_a_run_that_is_cut_off_keeps_its_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    times, calls = program._times, 0

    def cut_off(*arguments: Any) -> tuple[list[float], int]:
        nonlocal calls
        calls += 1
        if calls == 7:
            raise KeyboardInterrupt
        return times(*arguments)

    monkeypatch.setattr(program, "_times", cut_off)
    path = tmp_path / "gpu.json"
    assert run(main, ["--quick", "--output", str(path)]) == 130
    record = json.loads(path.read_text())
    assert [row["system"] for row in record["rows"]] == ["CTranslate2"] * 4 + ["PocketMT"] * 2
    assert all(row["times_ctranslate2"] > 0 for row in record["rows"])
    assert not record["complete"] and record["provenance"]["seed"] == 1


def test_the_short_plan_has_its_beams_batches_and_precisions(tmp_path: Path) -> None:
    """On the processor, with a smaller network and less text."""
    path = tmp_path / "gpu.json"
    precisions = ("float16", "bfloat16", "int8_float16")
    sizes = replace(QUICK, precisions=precisions, together=(1, 2, 4), ensemble_lines=(3, 3))
    small = replace(
        SHORT,
        device=sizes.device,
        presets=sizes.presets,
        vocabulary=sizes.vocabulary,
        peer_precisions=sizes.peer_precisions,
        together=sizes.together,
        sentences=4,
        single_sentences=1,
        ensemble_preset=sizes.ensemble_preset,
        ensemble_precision="float32",
        ensemble_sentences=4,
        ensemble_lines=sizes.ensemble_lines,
    )
    rows, ensembles = measure(small, [], [], CPU, GrowingRecord(path, {}))
    assert len(SHORT.together) == len(small.together)
    cases = {(row["precision"], row["beam"], row["together"]) for row in rows if row["system"] == "PocketMT"}
    assert cases == {(kind, beam, count) for kind in SHORT.precisions for beam in (1, 4) for count in (1, 2, 4)}
    assert [row["beam"] for row in ensembles] == [1, 4]
    assert json.loads(path.read_text())["complete"]


def test_a_ratio_is_to_the_best_row_of_the_peer() -> None:
    rows: list[dict[str, Any]] = [
        {"system": system, "beam": beam, "case": "many", "sentences_a_second": rate}
        for system, beam, rate in (("CTranslate2", 1, 2.0), ("CTranslate2", 1, 4.0), ("PocketMT", 1, 6.0))
    ]
    other = {"system": "PocketMT", "beam": 4, "case": "many", "sentences_a_second": 1.0}
    assert [row["times_ctranslate2"] for row in with_ratios([*rows, other])] == [0.5, 1.0, 1.5, None]


def test_a_trained_model_translates_a_text_that_is_repeated(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("A red house.\n\nTwo dogs.\n")
    work = trained_workload(str(resolve_model("captions-en-de")), text, 5)
    assert work.words == 3 + 2 + 3 + 2 + 3
    assert work.sources[0] == work.sources[2] == work.sources[4] != work.sources[1]
    found: Any = ours(work, CPU, "float32")(list(work.sources), 1, 2)
    assert found[0][0].ids == found[4][0].ids != found[1][0].ids


def test_compiled_layers_are_those_of_encoder_and_decoder(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[nn.Module] = []
    monkeypatch.setattr(nn.Module, "compile", lambda module, **options: compiled.append(module))
    work = random_workloads("tiny", 2, 300)[0]
    found: list[Any] = [ours(work, CPU, f"float32{end}")(list(work.sources), 1, 2) for end in ("", COMPILED)]
    assert [best[0].ids for best in found[0]] == [best[0].ids for best in found[1]]
    assert len(compiled) == 8


def test_utilisation_is_the_mean_of_what_the_driver_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\necho 40\necho '[N/A]'\necho 60\ntouch $0.said\nexec sleep 60\n")
    program.chmod(0o755)
    monkeypatch.setattr(ensemble, "_QUERY", (str(program),))
    with ensemble.utilisation(torch.device("cuda:0")) as samples:
        while not (tmp_path / "nvidia-smi.said").exists():
            pass
    assert samples == [40.0, 60.0]
    with ensemble.utilisation(CPU) as samples:
        pass
    assert samples == []


def test_without_a_gpu_it_ends_in_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert run(main, []) == 1
    assert capsys.readouterr().err.count("\n") == 1
