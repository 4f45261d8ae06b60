"""Grouped vectors: they are read as written and counted, and wrong lists are refused."""

from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from pocketmt.errors import ModelFileError
from pocketmt.model_file import StoredRowGroup, open_model
from pocketmt.model_file.matrices.grouped_vectors import vector_groups_from_json
from pocketmt.model_file.matrices.stored_forms import LogarithmicForm
from pocketmt.model_file.report import inspect_model
from pocketmt.model_file.writer import write_model
from tests.model_file import sample
from tests.model_file.attack import Change, refuse_header, refused
from tests.model_file.schemas import MANIFEST_SCHEMA, check_schema

BIASES = ["encoder.layers.0.feed_forward.inner.bias", "decoder.layers.0.feed_forward.inner.bias"]  # of 7 elements
NORMS = ["encoder.norm.weight", "encoder.norm.bias", "decoder.norm.weight"]  # of 6
MANIFEST: dict[str, Any] = {
    **sample.MANIFEST,
    "vectors": [BIASES, NORMS],
    "matrices": {**sample.manifest()["matrices"], "vectors.0": [[1, 2]], "vectors.1": [[0, 1], [2, 2]]},  # type: ignore[dict-item]
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "hostile.pocketmt"
    write_model(path, MANIFEST, sample.tensors(MANIFEST), sample.VOCABULARY)
    return path


def test_what_was_written_is_read(path: Path) -> None:
    with open_model(path) as file:
        assert file.vector_groups == {"vectors.0": tuple(BIASES), "vectors.1": tuple(NORMS)}
        assert file.matrices["vectors.1"][1] == StoredRowGroup(LogarithmicForm(4, "matrix", tuple(sample.LEVELS)), 2, 6)
        assert file.layout("vectors.0.0.codes") == ("U8", (2, 4))  # 7 codes of 4 bits
        assert file.layout("vectors.0.0.scale") == ("BF16", (2,))
        assert not {*BIASES, *NORMS} & file.tensors.keys()
        assert "decoder.norm.bias" in file.tensors


def test_the_published_schema_describes_it(path: Path) -> None:
    check_schema(path.read_bytes())


def test_every_byte_is_counted_once(path: Path) -> None:
    report = inspect_model(path)
    parts = (report.matrix_bytes, report.vector_bytes, report.vocabulary_bytes, report.container_bytes)
    assert sum(parts) == report.file_bytes == path.stat().st_size
    biases, norms = report.vector_groups
    assert (biases.shape, biases.bytes) == ((2, 7), 2 * 4 + 2 * 2)
    assert (norms.shape, norms.bytes) == ((3, 6), (6 + 2) + (2 * 3 + 4))
    assert "1 rows of uniform 8 bit per row + 2 rows of logarithmic 4 bit per matrix" in norms.scheme
    plain = sample.write_sample(path)
    without = inspect_model(path)
    assert without.file_bytes == len(plain) and not without.vector_groups
    assert without.vector_bytes - report.vector_bytes == 4 * (2 * 7 + 3 * 6) - biases.bytes - norms.bytes
    assert without.float32_bytes == report.float32_bytes


def test_the_text_names_vectors_and_their_total(path: Path) -> None:
    report = inspect_model(path)
    lines = report.to_text().splitlines()
    line = next(line for line in lines if line.startswith(f"vectors.0 ({BIASES[0]}, ..)"))
    assert "2 x 7" in line and line.endswith(" 12")
    vectors = next(line for line in lines if line.startswith("biases and norms"))
    single = report.float32_bytes - sum(4 * matrix.shape[0] * matrix.shape[1] for matrix in report.matrices)
    assert vectors.split()[3:5] == [f"{report.vector_bytes:,}", f"{single:,}"]


ATTACKS: list[tuple[object, str]] = [
    ([], "is not a list of at least one list"),
    ({"0": BIASES}, "is not a list of at least one list"),
    ([BIASES, []], r"vectors\[1\] is not a list of at least one name"),
    ([BIASES, "encoder.norm.weight"], r"vectors\[1\] is not a list of at least one name"),
    ([BIASES, [*NORMS[:2], 3]], r"vectors\[1\] is not a list of at least one name"),
    ([BIASES, [*NORMS[:2], "surprise"]], "'surprise' is not a vector of this architecture"),
    ([BIASES, [*NORMS[:2], sample.MATRIX]], "is not a vector of this architecture"),
    ([BIASES, [*NORMS[:2], "encoder.layers.0.self_attention.query_key_value.bias"]], "has 24 elements"),
    ([BIASES, [*NORMS[:2], NORMS[0]]], "'encoder.norm.weight' stands twice"),
    ([BIASES, NORMS, [NORMS[0]]], "'encoder.norm.weight' stands twice"),
    ([BIASES, NORMS[:2]], "its row groups have 3 rows together, the matrix has 2"),
    ([BIASES, NORMS, ["decoder.norm.bias"]], r"matrices: 'vectors\.2' is missing"),
    ([BIASES], r"'vectors\.1' is not a matrix"),
    ([BIASES, [*NORMS[:2], "decoder.norm.bias"]], "'decoder.norm.weight' is missing"),
]


@pytest.mark.parametrize(("vectors", "reason"), ATTACKS)
def test_hostile_lists(path: Path, vectors: object, reason: str) -> None:
    header, data = sample.split(path.read_bytes())
    refused(path, sample.join(sample.with_manifest(header, {**MANIFEST, "vectors": vectors}), data), reason)


@pytest.mark.parametrize("vectors", [each for each, reason in ATTACKS if " is not a list" in reason])
def test_the_schema_refuses_what_are_no_lists(vectors: object) -> None:
    with pytest.raises(jsonschema.ValidationError):
        MANIFEST_SCHEMA.validate({**MANIFEST, "vectors": vectors})


def test_longer_vectors_than_the_engine_packs_are_refused() -> None:
    assert vector_groups_from_json([["output.bias"]], {"output.bias": (65536,)}) == {"vectors.0": ("output.bias",)}
    with pytest.raises(ModelFileError, match=r"'output\.bias' has 65537 elements, expected at most 65536: .* fp32"):
        vector_groups_from_json([["output.bias"]], {"output.bias": (65537,)})


DAMAGE: dict[str, tuple[Change, str]] = {
    "no codes": (lambda header: header.update(other=header.pop("vectors.0.0.codes")), "'vectors.0.0.codes' is missing"),
    "codes of another shape": (
        lambda header: header["vectors.0.0.codes"].update(shape=[4, 2]),
        r"'vectors\.0\.0\.codes' is U8 of shape \[4, 2\], expected U8 of \[2, 4\]",
    ),
    "the vector as well": (
        lambda header: header.update({NORMS[0]: header.pop("decoder.norm.bias")}),
        "'decoder.norm.bias' is missing",
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_headers(path: Path, damage: str) -> None:
    refuse_header(path, *DAMAGE[damage])


def test_a_scale_below_zero(path: Path) -> None:
    header: Any
    header, data = sample.split(path.read_bytes())
    begin = header["vectors.0.0.scale"]["data_offsets"][0]
    changed = data[:begin] + b"\x80\xbf" + data[begin + 2 :]
    refused(path, sample.join(header, changed), r"'vectors\.0\.0\.scale' holds a scale that is negative")
