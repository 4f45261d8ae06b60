"""fp32 matrices without their zeros: they are read as written and counted, and wrong ones are refused."""

import struct
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from pocketmt.model_file import open_model
from pocketmt.model_file.report import inspect_model
from pocketmt.model_file.writer import StoredTensor, write_model
from tests.model_file import sample
from tests.model_file.attack import Change, refuse_header, refused
from tests.model_file.schemas import MANIFEST_SCHEMA, check_schema

MATRIX = sample.PLAIN  # [7, 6]
KEPT, WEIGHTS = f"{MATRIX}.kept", f"{MATRIX}.weights"
MANIFEST: dict[str, Any] = {**sample.MANIFEST, "sparse": [MATRIX]}
BITS = bytes([0b000001, 0b100000, 0, 0b111111, 0b010101, 0, 0b000010])
VALUES = [float(index) - 5.5 for index in range(12)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "hostile.pocketmt"
    write_model(path, MANIFEST, tensors(), sample.VOCABULARY)
    return path


def tensors() -> dict[str, StoredTensor]:
    stored = sample.tensors(MANIFEST)
    stored[KEPT] = StoredTensor("U8", (7, 1), BITS)
    return {**stored, WEIGHTS: StoredTensor("F32", (12,), struct.pack("<12f", *VALUES))}


def test_what_was_written_is_read_with_its_zeros(path: Path) -> None:
    rows = [[0.0] * 6 for _ in range(7)]
    places = [(0, 0), (1, 5), *((3, column) for column in range(6)), (4, 0), (4, 2), (4, 4), (6, 1)]
    for (row, column), value in zip(places, VALUES, strict=True):
        rows[row][column] = value
    with open_model(path) as file:
        assert file.sparse == {MATRIX: (7, 6)}
        assert file.layout(MATRIX) == ("F32", (7, 6))
        assert file.data(MATRIX).cast("f").tolist() == [value for row in rows for value in row]
        assert MATRIX not in file.tensors and MATRIX not in file.matrices


def test_the_published_schema_describes_it(path: Path) -> None:
    check_schema(path.read_bytes())


def test_every_byte_is_counted_once(path: Path) -> None:
    report = inspect_model(path)
    parts = (report.matrix_bytes, report.vector_bytes, report.vocabulary_bytes, report.container_bytes)
    assert sum(parts) == report.file_bytes == path.stat().st_size
    (matrix,) = [each for each in report.matrices if each.name == MATRIX]
    assert (matrix.shape, matrix.bytes, matrix.scheme) == ((7, 6), 7 + 12 * 4, "float32, 71.4% zero")
    assert matrix.bits == 8 * 55 / 42


@pytest.mark.parametrize(
    ("sparse", "reason"),
    [
        ([], "sparse is not a list of at least one name"),
        (MATRIX, "sparse is not a list of at least one name"),
        ([3], "sparse is not a list of at least one name"),
        (["surprise"], "'surprise' is not an fp32 matrix"),
        ([sample.BIAS], "is not an fp32 matrix"),
        ([sample.MATRIX], "is not an fp32 matrix"),  # quantized
        ([MATRIX, MATRIX], "names a matrix twice"),
        ([MATRIX, "decoder.layers.0.feed_forward.outer.weight"], r"outer\.weight\.kept' is missing"),
    ],
)
def test_hostile_lists(path: Path, sparse: object, reason: str) -> None:
    header, data = sample.split(path.read_bytes())
    refused(path, sample.join(sample.with_manifest(header, {**MANIFEST, "sparse": sparse}), data), reason)


@pytest.mark.parametrize("sparse", [[], MATRIX, [3], [MATRIX, MATRIX]])
def test_the_schema_refuses_what_are_no_lists(sparse: object) -> None:
    with pytest.raises(jsonschema.ValidationError):
        MANIFEST_SCHEMA.validate({**MANIFEST, "sparse": sparse})


DAMAGE: dict[str, tuple[Change, str]] = {
    "no bits": (lambda header: header.update(other=header.pop(KEPT)), r"\.kept' is missing"),
    "no weights": (lambda header: header.update(other=header.pop(WEIGHTS)), r"\.weights' is missing"),
    "bits of another shape": (lambda header: header[KEPT].update(shape=[1, 7]), r"kept' is U8 of shape \[1, 7\], exp"),
    "weights of another type": (lambda header: header[WEIGHTS].update(dtype="I32"), ""),
    "weights in rows": (lambda header: header[WEIGHTS].update(shape=[4, 3]), "weights' is not a row of F32"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_tensors_that_are_not_as_they_should_be(path: Path, damage: str) -> None:
    refuse_header(path, *DAMAGE[damage])


@pytest.mark.parametrize(
    ("bits", "reason"),
    [
        (bytes([0b000011, *BITS[1:]]), r"kept' keeps 13 weights, .*weights' has 12"),
        (bytes([0, *BITS[1:]]), r"kept' keeps 11 weights, .*weights' has 12"),
        (bytes([0b1000000, *BITS[1:]]), r"kept' has bits that are not 0 after the last weight of a row"),
    ],
)
def test_bits_that_are_not_of_the_weights(path: Path, bits: bytes, reason: str) -> None:
    header, data = sample.split(path.read_bytes())
    assert data.count(BITS) == 1
    refused(path, sample.join(header, data.replace(BITS, bits)), reason)


def test_weights_that_are_not_finite(path: Path) -> None:
    header, data = sample.split(path.read_bytes())
    values = struct.pack("<12f", *VALUES)
    broken = data.replace(values, struct.pack("<12f", *VALUES[:-1], float("nan")))
    refused(path, sample.join(header, broken), "holds a value that is not finite")
