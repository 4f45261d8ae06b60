"""The benchmark of language models on a few lines: batches are consecutive, stored weights are quantized."""

from pathlib import Path

import pytest
import torch

import benchmarks.language_model.__main__ as program
from benchmarks.language_model.__main__ import (
    LENGTH,
    SEQUENCES,
    Text,
    main,
    quantize_after_training,
    read_text,
    train,
    windows,
)
from benchmarks.multi30k import data
from benchmarks.record_files import read_record
from pocketmt.errors import DataError
from pocketmt.text.vocabulary import EOS
from pocketmt.training.configuration import Training
from pocketmt.training.steps import make_fabric

PIECES = 40


@pytest.fixture(autouse=True)
def text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Text:
    words = ["red", "blue", "green", "cat", "dog", "bird"]
    some = [" ".join(words[(line * 5 + place) % 6] for place in range(4 + line % 3)) for line in range(80)]
    (tmp_path / "multi30k").mkdir()
    for name in ("train", data.VALIDATION, *data.TESTS):
        for language in ("en", "de"):
            (tmp_path / "multi30k" / f"{name}.{language}").write_text("".join(f"{line}\n" for line in some))
    monkeypatch.setenv("POCKETMT_DATA", str(tmp_path))
    monkeypatch.setattr(program, "TRIALS", 2)
    monkeypatch.setattr(program, "BATCHES", 2)
    return read_text("de", PIECES)


def test_streams_hold_every_line_with_its_end(text: Text) -> None:
    assert text.pieces == PIECES
    assert int((text.training == EOS).sum()) == 80
    assert int((text.test == EOS).sum()) == 160
    assert text.training[-1] == EOS


@pytest.mark.parametrize("pieces", [2 * SEQUENCES, 36 * SEQUENCES, 75 * SEQUENCES + 7])
def test_every_sequence_continues_that_of_the_batch_before(pieces: int) -> None:
    stream = torch.arange(pieces)
    found = windows(stream)
    length = pieces // SEQUENCES
    assert all(inputs.shape == targets.shape and inputs.shape[1] <= LENGTH for inputs, targets in found)
    assert torch.equal(torch.cat([inputs for inputs, _ in found], dim=1)[3], stream[3 * length : 4 * length - 1])
    assert all(torch.equal(targets, inputs + 1) for inputs, targets in found)


def test_a_text_that_is_too_short() -> None:
    with pytest.raises(DataError, match="39 pieces is too short for 20 sequences"):
        windows(torch.arange(39))


def test_stored_weights_are_quantized_and_trained(text: Text) -> None:
    fabric = make_fabric(Training(accelerator="cpu"))
    before = train(fabric, text, 4, 2, seed=1)
    found = train(fabric, text, 4, 14, seed=1)
    assert found.validation_loss < before.validation_loss
    matrices = {name: weight for name, weight in found.state.items() if name.endswith("weight") and weight.dim() == 2}
    assert len(matrices) == 1 + 2 * 4
    assert all(len(row.unique()) <= 16 for weight in matrices.values() for row in weight)
    estimates = [value for name, value in found.state.items() if name.endswith("estimates")]
    assert estimates and all(value == 14 for value in estimates)
    again = train(fabric, text, 4, 14, seed=1)
    assert again.validation_loss == found.validation_loss
    assert train(fabric, text, 4, 14, seed=2).validation_loss != found.validation_loss


def test_after_training_weights_are_those_of_the_full_model_rounded(text: Text) -> None:
    full = train(make_fabric(Training(accelerator="cpu")), text, None, 20, seed=1)
    found = {bits: quantize_after_training(text, full, bits, seed=1) for bits in (8, 4)}
    for bits, quantized in found.items():
        weight, original = quantized.state["embedding.weight"], full.state["embedding.weight"]
        width = (original.amax(dim=1) - original.amin(dim=1)) / (2**bits - 1)
        assert bool(((weight - original).abs() <= 0.6 * width[:, None]).all())
        bias = "encoder.layers.0.self_attention_norm.bias"
        assert torch.equal(quantized.state[bias], full.state[bias])
    assert full.size > 3.5 * found[8].size > 3.5 * found[4].size
    assert abs(found[8].validation_loss - full.validation_loss) < abs(found[4].validation_loss - full.validation_loss)


def test_the_record_is_the_papers_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "record.json"
    main(["--updates", "2", "--vocabulary", str(PIECES), "--output", str(output)])
    record = read_record(output)
    keys = [(row["language"], row["bits"], row["quantized"]) for row in record["rows"]]
    of_one = [(32, "")] + [(bits, when) for bits in (8, 6, 4) for when in ("from the start", "after training")]
    assert keys == [("de", *key) for key in of_one]
    first, eight, after = record["rows"][:3]
    assert first["times_smaller"] == 1 and 3 < eight["times_smaller"] < 4
    assert len(eight["perplexities"]) == 2 and eight["spread"] >= 0
    assert (first["paper_perplexity"], eight["paper_loss"], after["paper_loss"]) == (284.15, 5.64, None)
    assert record["settings"] == {"updates": 2, "vocabulary": PIECES, "seeds": [1, 2]}
    assert record["provenance"]["command"]
    assert "from the start" in capsys.readouterr().out
