"""Model files of a deep LSTM: written and read, in any scheme, and refused where they are not one."""

import copy
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from pocketmt.errors import ModelFileError
from pocketmt.model_file import open_model
from pocketmt.model_file.architecture.lstm import LstmArchitecture
from pocketmt.model_file.manifest import check_manifest
from pocketmt.model_file.report import inspect_model
from pocketmt.model_file.writer import write_model
from tests.model_file import sample
from tests.model_file.schemas import MANIFEST_SCHEMA

ARCHITECTURE = LstmArchitecture(
    encoder_layers=2,
    decoder_layers=2,
    model_dimension=5,
    recurrent_dimension=6,
    attention_heads=2,
    attention_dimension=8,
    vocabulary_size=11,
)
MANIFEST: dict[str, Any] = {
    **sample.MANIFEST,
    "architecture": ARCHITECTURE.to_json(),
    "matrices": {
        "embedding.weight": [[0, 4], [1, 5], [2, 2]],
        "encoder.layers.0.lstm.right_to_left.input.weight": [[1, 12]],
        "encoder.layers.1.lstm.recurrent.weight": [[2, 24]],
        "decoder.readout.weight": [[0, 5]],
    },
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "lstm.pocketmt"
    write_model(path, MANIFEST, sample.tensors(MANIFEST), sample.VOCABULARY)
    return path


def test_it_is_read_as_it_was_written(file: Path) -> None:
    with open_model(file) as opened:
        assert opened.architecture == ARCHITECTURE
        shapes = ARCHITECTURE.parameter_shapes()
        assert all(
            opened.layout(name) == ("F32", shape) for name, shape in shapes.items() if name not in opened.matrices
        )
    MANIFEST_SCHEMA.validate(MANIFEST)
    report = inspect_model(file)
    assert "recurrent_dimension 6" in report.to_text()
    assert sum(matrix.shape[0] * matrix.shape[1] for matrix in report.matrices) < report.parameters


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"recurrent_dimension": 7}, "recurrent_dimension is 7, expected an even number"),
        ({"recurrent_dimension": 8}, r"'encoder.layers.0.lstm.right_to_left.input.weight'.*12.*16"),
        ({"recurrent_dimension": 2**40}, "recurrent_dimension is 1099511627776"),
        ({"attention_heads": 3}, "attention_dimension is 8, expected a multiple"),
        ({"attention_heads": 0}, "attention_heads is 0"),
        ({"decoder_layers": 10**9}, "decoder_layers is 1000000000"),
        ({"norm": "post"}, "unknown field 'norm'"),
        ({"encoder_heads": [1, 1]}, "unknown field 'encoder_heads'"),
        ({"type": "transformer"}, "missing field"),
        ({"type": ["lstm"]}, "type is"),
        ({"vocabulary_size": 12}, "embedding.weight"),
    ],
)
def test_architectures_that_are_none_are_refused(change: dict[str, object], reason: str) -> None:
    about = copy.deepcopy(MANIFEST)
    about["architecture"] |= change
    with pytest.raises(ModelFileError, match=reason):
        check_manifest(about)


@pytest.mark.parametrize("name", ["type", "recurrent_dimension", "attention_heads"])
def test_the_schema_asks_for_its_sizes(name: str) -> None:
    about = copy.deepcopy(MANIFEST)
    del about["architecture"][name]
    with pytest.raises(jsonschema.ValidationError):
        MANIFEST_SCHEMA.validate(about)


def test_trained_ranges_are_a_transformers() -> None:
    about = {**copy.deepcopy(MANIFEST), "activations": {"bits": 8, "operations": ["relu_output"], "bucketed": []}}
    with pytest.raises(ModelFileError, match="a Transformer alone has such ranges"):
        check_manifest(about)


@pytest.mark.parametrize("missing", ["decoder.readout.bias", "encoder.layers.0.lstm.left_to_right.recurrent.weight"])
def test_a_missing_tensor_is_named(tmp_path: Path, missing: str) -> None:
    tensors = {name: tensor for name, tensor in sample.tensors(MANIFEST).items() if name != missing}
    with pytest.raises(ModelFileError, match=missing):
        write_model(tmp_path / "lstm.pocketmt", MANIFEST, tensors, sample.VOCABULARY)
