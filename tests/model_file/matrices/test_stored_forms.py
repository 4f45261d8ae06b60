"""Files of every stored form: they are read as written, and hostile ones are refused."""

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pocketmt.errors import ModelFileError
from pocketmt.model_file import open_model
from pocketmt.model_file.matrices.stored_forms import STORED_FORMS, form_from_json
from pocketmt.model_file.report import inspect_model
from pocketmt.model_file.writer import StoredTensor, write_model
from tests.model_file import sample, scheme_sample
from tests.model_file.attack import refused
from tests.model_file.schemas import MANIFEST_SCHEMA, check_schema
from tests.model_file.scheme_sample import BINARY, CODEBOOK, EMBEDDING, INNER, KEYS, OUTER, WIDE, row_group

SAMPLE = scheme_sample.build()
HEADER, DATA = sample.split(SAMPLE)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("schemes") / "hostile.pocketmt"


def test_what_was_written_is_read(path: Path) -> None:
    path.write_bytes(SAMPLE)
    with open_model(path) as file:
        assert file.manifest == scheme_sample.MANIFEST
        for name, tensor in scheme_sample.tensors().items():
            entry = file.tensors[name]
            assert (entry.dtype, entry.shape, bytes(file.data(name))) == (tensor.dtype, tensor.shape, tensor.data)
        assert file.matrices[EMBEDDING][1] == row_group("binary", 3, "row", 3, 6)
        assert file.matrices[WIDE][1] == row_group("codebook", 3, "matrix", 14, 6)


def test_rows_know_their_group_where_groups_are_no_runs_of_rows(path: Path) -> None:
    path.write_bytes(SAMPLE)
    with open_model(path) as file:
        for name, indices in scheme_sample.GROUP_OF_ROW.items():
            assert file.group_of_row(name) == indices
        assert file.group_of_row(OUTER) is None


def test_the_shapes_of_the_specification() -> None:
    """A group of 5 rows and 9 columns under each scheme."""

    def tensors(name: str, bits: int, granularity: str, **more: object) -> dict[str, tuple[str, tuple[int, ...]]]:
        return form_from_json({"name": name, "bits": bits, "granularity": granularity, **more}, "here").tensors(5, 9)

    rows, one = ("BF16", (5,)), ("F32", (1,))
    assert tensors("affine", 4, "row") == {"codes": ("U8", (5, 5)), "scale": rows, "minimum": rows}
    assert tensors("affine", 6, "matrix") == {"codes": ("U8", (5, 7)), "scale": one, "minimum": one}
    assert tensors("affine", 8, "row") == {"codes": ("U8", (5, 9)), "scale": rows, "minimum": rows}
    assert tensors("logarithmic", 3, "row", levels=[0] * 8) == {"codes": ("U8", (5, 4)), "scale": rows}
    assert tensors("logarithmic", 1, "matrix", levels=[1, -1]) == {"codes": ("U8", (5, 2)), "scale": one}
    assert tensors("codebook", 2, "matrix") == {"codes": ("U8", (5, 3)), "levels": ("I8", (4,)), "scale": one}
    assert tensors("codebook", 8, "matrix") == {"codes": ("U8", (5, 9)), "levels": ("I8", (256,)), "scale": one}
    codes = ("I8", (5, 9))
    assert tensors("uniform", 8, "row") == {"codes": codes, "scale": rows}
    assert tensors("uniform", 8, "matrix") == {"codes": codes, "scale": one}
    assert tensors("uniform", 8, "row", scales="F32") == {"codes": codes, "scale": ("F32", (5,))}
    assert tensors("binary", 3, "row") == {"planes": ("U8", (5, 3, 2)), "alphas": ("BF16", (5, 3))}


def test_the_schema_describes_them() -> None:
    check_schema(SAMPLE)


UNKNOWN = [
    {"name": "affine", "bits": 5, "granularity": "row"},
    {"name": "affine", "bits": 4, "granularity": "column"},
    {"name": "affine", "bits": True, "granularity": "row"},
    {"name": "codebook", "bits": 4, "granularity": "row"},
    {"name": "codebook", "bits": 5, "granularity": "matrix"},
    {"name": "binary", "bits": 5, "granularity": "row"},
    {"name": "binary", "bits": 0, "granularity": "row"},
    {"name": "binary", "bits": 2, "granularity": "matrix"},
    {"name": "ternary", "bits": 2, "granularity": "row"},
    {"name": None, "bits": 2, "granularity": "row"},
]
MEANINGLESS = [
    {"name": "logarithmic", "bits": 2, "granularity": "row"},
    {"name": "logarithmic", "bits": 2, "granularity": "row", "levels": [2, 1, -2]},
    {"name": "logarithmic", "bits": 3, "granularity": "row", "levels": [1] * 16},
    {"name": "codebook", "bits": 1, "granularity": "matrix", "levels": [1, -1]},
    {"name": "binary", "bits": 1, "granularity": "row", "levels": [1, -1]},
    {"name": "uniform", "bits": 8, "granularity": "matrix", "scales": "F32"},
    {"name": "uniform", "bits": 8, "granularity": "row", "scales": "BF16"},
    {"name": "affine", "bits": 8, "granularity": "row", "scales": "F32"},
]


@pytest.mark.parametrize("granularity", ["row", "matrix"])
@pytest.mark.parametrize("name", STORED_FORMS)
def test_reader_and_schema_take_the_same_bits_and_granularities(name: str, granularity: str) -> None:
    for bits in range(1, 9):
        entry: dict[str, object] = {"name": name, "bits": bits, "granularity": granularity}
        if "levels" in STORED_FORMS[name].members:
            entry["levels"] = [1] * 2**bits
        known = bits in STORED_FORMS[name].allowed_bits and granularity in STORED_FORMS[name].allowed_granularities
        assert MANIFEST_SCHEMA.is_valid({**scheme_sample.MANIFEST, "schemes": [entry]}) == known
        if known:
            assert form_from_json(entry, "here").to_json() == entry


def test_the_page_of_the_format_names_every_form() -> None:
    page = (Path(__file__).parents[3] / "docs" / "reference" / "model-file.md").read_text()
    assert [name for name in STORED_FORMS if f"| `{name}` |" not in page] == []


@pytest.mark.parametrize("entry", UNKNOWN + MEANINGLESS)
def test_neither_reader_nor_schema_takes_a_scheme_that_is_none(entry: dict[str, object]) -> None:
    with pytest.raises(ModelFileError, match="is unknown here" if entry in UNKNOWN else "levels|scales"):
        form_from_json(entry, "here")
    about = {**scheme_sample.MANIFEST, "schemes": [entry]}
    assert not MANIFEST_SCHEMA.is_valid(about)
    with pytest.raises(jsonschema.ValidationError):
        MANIFEST_SCHEMA.validate(about)


NAN, MINUS_ONE = struct.pack("<H", 0x7FC0), struct.pack("<H", 0xBF80)
NOT_A_NUMBER = struct.pack("<f", float("nan"))
VALUE_ATTACKS: list[tuple[str, int, bytes, str]] = [
    (f"{WIDE}.0.scale", 2, NAN, "negative or not finite"),
    (f"{WIDE}.0.scale", 2, MINUS_ONE, "negative or not finite"),
    (f"{WIDE}.0.minimum", 4, NAN, "not finite"),
    (f"{WIDE}.0.minimum", 4, struct.pack("<H", 0xFF80), "not finite"),  # -infinity
    (f"{OUTER}.1.scale", 0, struct.pack("<f", -1.0), "negative or not finite"),
    (f"{OUTER}.1.minimum", 0, NOT_A_NUMBER, "not finite"),
    (f"{INNER}.1.scale", 0, NOT_A_NUMBER, "negative or not finite"),
    (f"{KEYS}.1.scale", 0, struct.pack("<f", float("-inf")), "negative or not finite"),
    (f"{KEYS}.1.levels", 15, b"\x80", "level -128"),
    (f"{EMBEDDING}.0.alphas", 6, NAN, "not finite"),
    (f"{EMBEDDING}.3.alphas", 2, struct.pack("<H", 0xFF81), "not finite"),  # a negative NaN
    (f"{EMBEDDING}.0.planes", 0, b"\x40", "bits that are not 0"),  # 6 columns
    (f"{EMBEDDING}.2.planes", 3, b"\x80", "bits that are not 0"),
    (f"{OUTER}.0.codes", 5, b"\x04", "bits that are not 0"),  # 7 x 6 = 42 bits
    (f"{OUTER}.5.codes", 0, b"\x80", "bits that are not 0"),  # 7 x 1
    (f"{WIDE}.1.codes", 2, b"\x04", "bits that are not 0"),  # 6 x 3 = 18 bits
    (f"{EMBEDDING}.groups", 2, b"\x40", "bits that are not 0"),  # 11 x 2 = 22 bits
    (f"{EMBEDDING}.groups", 0, b"\x00", "puts 5 rows into row group 0, which has 2"),
    (f"{WIDE}.groups", 0, b"\xff", "rows into row group 0, which has 10"),
]


@pytest.mark.parametrize(("tensor", "at", "value", "reason"), VALUE_ATTACKS)
def test_hostile_values(path: Path, tensor: str, at: int, value: bytes, reason: str) -> None:
    refused(path, scheme_sample.changed(SAMPLE, tensor, at, value), f"{tensor}.*{reason}")


def test_a_negative_factor_is_a_factor(path: Path) -> None:
    """Trained ones may have any sign; so may a minimum."""
    path.write_bytes(scheme_sample.changed(SAMPLE, f"{EMBEDDING}.0.alphas", 6, MINUS_ONE))
    open_model(path).close()
    path.write_bytes(scheme_sample.changed(SAMPLE, f"{WIDE}.0.minimum", 4, MINUS_ONE))
    open_model(path).close()


def test_the_largest_numbers_are_numbers(path: Path) -> None:
    largest = struct.pack("<f", 3.4e38)
    for tensor, value in (
        (f"{WIDE}.0.scale", struct.pack("<H", 0x7F7F)),
        (f"{WIDE}.0.minimum", struct.pack("<H", 0xFF7F)),
        (f"{OUTER}.1.scale", largest),
        (f"{OUTER}.1.minimum", struct.pack("<f", -3.4e38)),
    ):
        path.write_bytes(scheme_sample.changed(SAMPLE, tensor, 0, value))
        open_model(path).close()


def reshape(tensor: str, **changes: object) -> Callable[[Any], None]:
    return lambda header: header[tensor].update(changes)


HEADER_ATTACKS: list[tuple[Callable[[Any], object], str]] = [
    (reshape(f"{EMBEDDING}.0.planes", shape=[2, 4]), r"takes 8 bytes, its|expected U8 of \[2, 4, 1\]"),
    (reshape(f"{EMBEDDING}.0.planes", shape=[4, 2, 1]), r"expected U8 of \[2, 4, 1\]"),
    (reshape(f"{EMBEDDING}.0.alphas", shape=[4, 2]), r"expected BF16 of \[2, 4\]"),
    (reshape(f"{WIDE}.1.levels", dtype="U8"), r"expected I8 of \[8\]"),
    (reshape(f"{WIDE}.0.codes", dtype="I8"), r"expected U8 of \[10, 3\]"),
    (reshape(f"{EMBEDDING}.groups", shape=[3]), r"expected U8 of \[1, 3\]"),
    (reshape(f"{EMBEDDING}.groups", shape=[3, 1]), r"expected U8 of \[1, 3\]"),
    (lambda h: h.update({f"{OUTER}.6.minimum": h.pop(f"{OUTER}.3.minimum")}), "3.minimum' is missing"),
    (lambda h: h.update({f"{INNER}.groups": h.pop(f"{WIDE}.groups")}), r"groups' is U8 of shape \[1, 3\], expected"),
    (lambda h: h.update({"encoder.norm.groups": h.pop(f"{WIDE}.groups")}), "is not part"),
]


@pytest.mark.parametrize(("change", "reason"), HEADER_ATTACKS)
def test_hostile_headers(path: Path, change: Callable[[Any], object], reason: str) -> None:
    header = json.loads(json.dumps(HEADER))
    header["__metadata__"]["digest"] = "0" * 64
    change(header)
    refused(path, sample.join(header, DATA), reason)


@pytest.mark.parametrize(
    ("groups", "reason"),
    [
        ([[BINARY, 11]], "is for 2 to 16 row groups, not for 1"),
        ([[BINARY, 1]] * 11, r"groups' is U8 of shape \[1, 3\], expected U8 of \[1, 6\]"),
    ],
)
def test_groups_that_do_not_fit_their_tensor(tmp_path: Path, groups: list[list[int]], reason: str) -> None:
    matrices = {EMBEDDING: groups}
    about = {**scheme_sample.MANIFEST, "matrices": matrices}
    stored = sample.tensors(about)
    for index in range(len(groups)):
        planes = stored[f"{EMBEDDING}.{index}.planes"]
        stored[f"{EMBEDDING}.{index}.planes"] = StoredTensor("U8", planes.shape, bytes(len(planes.data)))
    stored[f"{EMBEDDING}.groups"] = scheme_sample.tensors()[f"{EMBEDDING}.groups"]
    with pytest.raises(ModelFileError, match=reason):
        write_model(tmp_path / "model.pocketmt", about, stored, sample.VOCABULARY)


@given(changes=st.lists(st.tuples(st.integers(1, len(DATA)), st.integers(0, 255)), min_size=1, max_size=8))
@settings(max_examples=150, deadline=None)
def test_data_bytes_changed_under_a_fitting_digest(path: Path, changes: list[tuple[int, int]]) -> None:
    content = bytearray(SAMPLE)
    for from_end, byte in changes:
        content[-from_end] = byte
    path.write_bytes(sample.sealed(bytes(content)))
    try:
        file = open_model(path)
    except ModelFileError:
        return
    with file:
        for name, groups in file.matrices.items():
            indices = file.group_of_row(name)
            assert indices is None or [indices.count(index) for index in range(len(groups))] == [
                group.rows for group in groups
            ]


def test_the_report_counts_what_every_scheme_needs(path: Path) -> None:
    path.write_bytes(SAMPLE)
    report = inspect_model(path)
    matrices = {matrix.name: matrix for matrix in report.matrices}
    embedding = matrices[EMBEDDING]
    assert embedding.code_bits == pytest.approx((2 * 4 + 3 * 3 + 2 * 2 + 4 * 1) / 11)
    assert embedding.bytes == 3 + sum(rows * bits * (1 + 2) for rows, bits in [(2, 4), (3, 3), (2, 2), (4, 1)])
    assert embedding.scheme.startswith("2 rows of binary 4 bit per row + 3 rows of binary 3 bit per row")
    keys = matrices[KEYS]
    # codes, scale, minimum; codes, levels, scale; codes, scale; codes, scales
    assert keys.bytes == 3 * 3 + 4 + 4 + 9 * 3 + 16 + 4 + 2 * 6 + 4 + 2 * (6 + 4)
    assert keys.smaller == pytest.approx(16 * 6 * 4 / keys.bytes)
    assert scheme_sample.SCHEMES.index({"name": "codebook", "bits": 4, "granularity": "matrix"}) == CODEBOOK + 3
    parts = (report.matrix_bytes, report.vector_bytes, report.vocabulary_bytes, report.container_bytes)
    assert sum(parts) == report.file_bytes == len(SAMPLE)
    line = next(line for line in report.to_text().splitlines() if line.startswith(KEYS))
    assert line.split()[-4:] == ["5.00", f"{keys.bits:.2f}", f"{keys.smaller:.2f}x", str(keys.bytes)]
