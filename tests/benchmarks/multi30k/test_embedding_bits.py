"""The sweep of the embedding's bits, and the folder of a run that is made from a model file."""

from pathlib import Path

import pytest
import torch

from benchmarks.multi30k import data, embedding_bits, run_of_file
from benchmarks.record_files import read_record
from pocketmt.packing.run import pack_run
from pocketmt.training.trained_model import read_trained_model
from tests.compression.tiny_run import write_tiny_run

CONFIGURATION = """
[data]
source_language = "en"
target_language = "up"
training_source = "train.en"
training_target = "train.up"
validation_source = "dev.en"
validation_target = "dev.up"
"""


def test_more_bits_lose_less(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = write_tiny_run(tmp_path)
    (tmp_path / "multi30k").mkdir()
    for language, original in (("en", "dev.en"), ("de", "dev.up")):
        (tmp_path / "multi30k" / f"{data.VALIDATION}.{language}").write_text((tmp_path / original).read_text())
    monkeypatch.setenv("POCKETMT_DATA", str(tmp_path))
    monkeypatch.setattr(embedding_bits, "BEAM", 1)
    monkeypatch.setattr(embedding_bits, "RATIOS", (1, 2))  # with r = 4 the first cluster of 48 pieces is empty
    embedding_bits.main([str(run), "--output", str(tmp_path / "record.json")])
    rows = {row["setting"]: row for row in read_record(tmp_path / "record.json")["rows"]}
    assert [rows[f"even {bits} bits"]["bits"] for bits in range(1, 5)] == [1, 2, 3, 4]
    assert rows["r = 1"]["bits"] == pytest.approx(2.5, abs=0.1) and 1.5 < rows["r = 2"]["bits"] < 2
    assert list(rows.values()) == sorted(rows.values(), key=lambda row: row["bits"])
    assert rows["even 1 bits"]["bits_with_factors"] > 1 and rows["r = 1"][data.VALIDATION]["lines"] == 8


def test_a_run_made_from_a_file_has_its_weights_and_the_text_of_the_configuration(tmp_path: Path) -> None:
    run = write_tiny_run(tmp_path)
    pack_run(run, "uniform8", tmp_path / "model.pocketmt")
    (tmp_path / "text.toml").write_text(CONFIGURATION)
    run_of_file.main([str(tmp_path / name) for name in ("model.pocketmt", "text.toml", "made")])
    original, made = read_trained_model(run), read_trained_model(tmp_path / "made")
    assert (
        made.architecture == original.architecture
        and made.vocabularies.source.model == original.vocabularies.source.model
    )
    assert made.configuration is not None and made.configuration.data.training_source == str(tmp_path / "train.en")
    for name, weight in original.weights.items():
        assert torch.allclose(made.weights[name], weight, atol=float(weight.abs().max()) / 200)
