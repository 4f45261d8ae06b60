"""Activation quantization in the manifest: reader and schema accept and refuse the same."""

from pathlib import Path
from typing import Any

import pytest

from pocketmt.errors import ModelFileError
from pocketmt.model_file import open_model
from pocketmt.model_file.activations.activation_quantization import StoredLogarithmicActivations
from pocketmt.model_file.manifest import check_manifest
from pocketmt.model_file.report import inspect_model
from pocketmt.model_file.writer import write_model
from tests.model_file import sample
from tests.model_file.schemas import MANIFEST_SCHEMA

GOOD: dict[str, Any] = {"scheme": "logarithmic", "bits": 4, "scale": 1.5}


def test_it_is_read_and_shown(tmp_path: Path) -> None:
    path = tmp_path / "model.pocketmt"
    about = {**sample.manifest(), "products": GOOD}
    write_model(path, about, sample.tensors(), sample.VOCABULARY)
    MANIFEST_SCHEMA.validate(about)
    with open_model(path) as file:
        assert file.activation_quantization == StoredLogarithmicActivations(4, 1.5)
    assert (
        "activations:  4 bit on a logarithmic scale up to 1.5, for the inputs of quantized matrices"
        in inspect_model(path).to_text()
    )


def test_the_report_counts_the_bytes_of_calibrated_scales(tmp_path: Path) -> None:
    path = tmp_path / "model.pocketmt"
    about = {**sample.manifest(), "products": {"scheme": "uniform", "bits": 8}}
    tensors = sample.tensors(about)
    write_model(path, about, tensors, sample.VOCABULARY)
    report = inspect_model(path)
    assert report.range_bytes == 4 * sum(name.endswith(".activation_scale") for name in tensors) > 0
    parts = (report.matrix_bytes, report.vector_bytes, report.range_bytes, report.vocabulary_bytes)
    assert sum(parts) + report.container_bytes == report.file_bytes == path.stat().st_size


def test_without_it_nothing_is_said(tmp_path: Path) -> None:
    sample.write_sample(tmp_path / "model.pocketmt")
    with open_model(tmp_path / "model.pocketmt") as file:
        assert file.activation_quantization is None
    assert "activations:" not in inspect_model(tmp_path / "model.pocketmt").to_text()


@pytest.mark.parametrize(("bits", "top"), [(1, 1), (2, 2), (3, 8), (4, 128)])
def test_the_largest_magnitude(bits: int, top: int) -> None:
    # -2^(bits-1) < q <= 0 (Aji and Heafield 2020, section 3.1): the ratio of 2^0 to the smallest value.
    assert StoredLogarithmicActivations(bits, 1.0).top == top


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "products is not an object"),
        ([4, 1.0], "products is not an object"),
        ({"scheme": "logarithmic", "bits": 4}, "scale is missing"),
        ({**GOOD, "levels": 3}, "unknown member 'levels'"),
        ({**GOOD, "scheme": "affine"}, "scheme 'affine' is unknown here"),
        ({**GOOD, "scheme": "uniform"}, "unknown member 'scale'"),
        ({"scheme": "uniform"}, "bits is missing"),
        ({"scheme": "uniform", "bits": 4}, "bits is 4, expected 8"),
        ({"scheme": "uniform", "bits": True}, "bits is True, expected 8"),
        ({**GOOD, "scheme": ["logarithmic"]}, "is unknown here"),
        ({**GOOD, "bits": 5}, "bits is 5, expected a whole number from 1 to 4"),
        ({**GOOD, "bits": 0}, "bits is 0"),
        ({**GOOD, "bits": True}, "bits is True"),
        ({**GOOD, "bits": "4"}, "bits is '4'"),
        ({**GOOD, "scale": 0}, "scale is 0, expected a number"),
        ({**GOOD, "scale": -1.0}, "scale is -1.0"),
        ({**GOOD, "scale": 10**400}, "scale is 1000"),
        ({**GOOD, "scale": True}, "scale is True"),
        ({**GOOD, "scale": None}, "scale is None"),
        ({**GOOD, "scale": "1"}, "scale is '1'"),
    ],
)
def test_reader_and_schema_refuse(value: object, message: str) -> None:
    about = {**sample.manifest(), "products": value}
    with pytest.raises(ModelFileError, match=f"manifest: .*{message}"):
        check_manifest(about)
    assert not MANIFEST_SCHEMA.is_valid(about)


@pytest.mark.parametrize("scale", [2.0**-20, 1, 2.0**20])
def test_reader_and_schema_take_every_scale_of_the_range(scale: float) -> None:
    about = {**sample.manifest(), "products": {**GOOD, "scale": scale}}
    MANIFEST_SCHEMA.validate(about)
    assert check_manifest(about).activation_quantization == StoredLogarithmicActivations(4, float(scale))
