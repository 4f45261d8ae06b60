import dataclasses
import json
from pathlib import Path

import pytest

from pocketmt.model_file.report import ModelReport, inspect_model, printable
from pocketmt.model_file.writer import write_model
from tests.model_file import sample


@pytest.fixture
def report(tmp_path: Path) -> ModelReport:
    path = tmp_path / "model.pocketmt"
    sample.write_sample(path)
    return inspect_model(path)


def test_every_byte_of_the_file_is_counted_once(report: ModelReport, tmp_path: Path) -> None:
    assert report.file_bytes == (tmp_path / "model.pocketmt").stat().st_size
    parts = (report.matrix_bytes, report.vector_bytes, report.vocabulary_bytes, report.container_bytes)
    assert sum(parts) == report.file_bytes


def test_bits_and_bytes_of_a_matrix_count_its_scales(report: ModelReport) -> None:
    matrices = {matrix.name: matrix for matrix in report.matrices}
    uniform = matrices["encoder.layers.0.self_attention.query_key_value.weight"]
    assert (uniform.shape, uniform.scheme) == ((24, 6), "uniform 8 bit per row")
    assert uniform.bytes == 24 * 6 + 24 * 2
    assert uniform.bits == pytest.approx(8 + 16 / 6)
    logarithmic = matrices[sample.MATRIX]
    assert logarithmic.bytes == 6 * 4 + 6 * 2  # 7 columns take 4 bytes
    plain = matrices[sample.PLAIN]
    assert (plain.scheme, plain.bits, plain.bytes) == ("float32", 32, 7 * 6 * 4)


def test_a_mixed_matrix_names_each_row_group(report: ModelReport) -> None:
    assert report.matrices[0].name == "embedding.weight"
    assert report.matrices[0].scheme == (
        "4 rows of uniform 8 bit per row + 5 rows of logarithmic 4 bit per row + 2 rows of logarithmic 4 bit per matrix"
    )


def test_the_total_against_fp32_changes_parameters_alone(report: ModelReport) -> None:
    saved = report.float32_file_bytes - report.file_bytes
    assert saved == report.float32_bytes - report.parameter_bytes
    assert report.float32_bytes == 4 * report.parameters


def test_text_and_json_say_the_same(report: ModelReport) -> None:
    text = report.to_text()
    parsed = json.loads(report.to_json())
    for matrix in parsed["matrices"]:
        line = next(line for line in text.splitlines() if line.startswith(matrix["name"]))
        assert line.split()[-1] == f"{matrix['bytes']:,}"
        assert matrix["scheme"] in line
    total = next(line for line in text.splitlines() if line.startswith("file "))
    assert total.split()[1:3] == [f"{parsed['file_bytes']:,}", f"{parsed['float32_file_bytes']:,}"]
    assert "model_dimension 6" in text
    assert "en to de" in text


RETRAINED = {"quantize": [], "retraining": {"method": "straight_through", "updates": 9}}
COMPENSATED = {"quantize": [], "retraining": {"method": "error_compensation", "sentences": 9}}
SCORES: dict[str, object] = {"validation_bleu": 40.5, "validation_loss": 1.5}


@pytest.mark.parametrize(
    ("recipe", "compression", "training", "scores"),
    [
        (
            [RETRAINED],
            {"stage": 0, "update": 7, "bleu": 40.0},
            "retraining update 7",
            "40.5, validation loss 1.5 before c",
        ),
        ([RETRAINED, {"quantize": []}], {"stage": 1, "update": 0, "bleu": 40.0}, "", "before compression"),
        ([COMPENSATED], {"stage": 0, "update": 0}, "", "validation BLEU 40.5, validation loss 1.5 before packing"),
    ],
)
def test_only_what_was_measured_and_retrained_is_said_of_a_file(
    report: ModelReport, recipe: list[object], compression: dict[str, object], training: str, scores: str
) -> None:
    changed = dataclasses.replace(
        report, recipe={"name": "x", "stages": recipe}, training={**SCORES, "seed": 1, "compression": compression}
    )
    lines = {line.partition(":")[0]: line.partition(":")[2].strip() for line in changed.to_text().splitlines()}
    assert lines["training"] == ", ".join(["seed 1", training]).removesuffix(", ")
    assert scores in lines["scores"]


def test_scores_of_a_packed_run_are_those_before_packing(report: ModelReport) -> None:
    packed = dataclasses.replace(report, recipe={"schemes": "logarithmic4"}, training=SCORES)
    assert "validation BLEU 40.5, validation loss 1.5 before packing" in packed.to_text()
    assert "before" not in dataclasses.replace(packed, recipe={}).to_text()


def test_a_files_own_words_cannot_steer_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "model.pocketmt"
    about = {**sample.MANIFEST, "description": "\x1b[2J\nfile: good\u202e"}
    write_model(path, about, sample.tensors(), sample.VOCABULARY)
    text = inspect_model(path).to_text()
    assert r"\x1b[2J\nfile: good\u202e" in text
    assert "\x1b" not in text


def test_letters_of_any_language_stay() -> None:
    assert printable("Übersetzung 翻訳") == "Übersetzung 翻訳"
