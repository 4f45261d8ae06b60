"""Trained ranges in the file: they are read as written, errors are named, and inspect shows them."""

import struct
from pathlib import Path
from typing import Any

import pytest

from pocketmt.errors import ModelFileError
from pocketmt.model_file import open_model
from pocketmt.model_file.activations.activation_ranges import BUCKETED, OPERATIONS, StoredActivationRanges, ranges_name
from pocketmt.model_file.manifest import check_manifest
from pocketmt.model_file.report import inspect_model
from pocketmt.model_file.writer import StoredTensor, write_model
from tests.model_file import sample
from tests.model_file.schemas import MANIFEST_SCHEMA

ENTRY = StoredActivationRanges(8, tuple(OPERATIONS), BUCKETED).to_json()


def manifest(**changes: object) -> dict[str, Any]:
    return {**sample.manifest(), "activations": {**ENTRY, **changes}}


def tensors(about: dict[str, Any]) -> dict[str, StoredTensor]:
    """As the sample's, with ranges from 0.5 on."""
    stored = sample.tensors(about)
    for name, tensor in stored.items():
        if name.startswith("ranges."):
            places, _, elements = tensor.shape
            values = (*[0.5] * elements, *[2.0 + index for index in range(elements)]) * places
            stored[name] = StoredTensor("F32", tensor.shape, struct.pack(f"<{len(values)}f", *values))
    return stored


def write(path: Path, about: dict[str, Any], stored: dict[str, StoredTensor] | None = None) -> None:
    write_model(path, about, stored or tensors(about), sample.VOCABULARY)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.pocketmt"


def test_shapes_follow_from_the_architecture() -> None:
    # One encoder and one decoder layer, pre-norm: three attentions, two feed-forwards, seven norms.
    forms = {name: form[1] for name, form in check_manifest(manifest()).tensors.items() if name.startswith("ranges.")}
    assert forms == {
        "ranges.position": (1, 2, 1),
        "ranges.embedding_sum": (2, 2, 6),
        "ranges.query_key_value": (9, 2, 4),
        "ranges.softmax_numerator": (3, 2, 1),
        "ranges.softmax_output": (3, 2, 1),
        "ranges.attention_output": (3, 2, 8),
        "ranges.relu_output": (2, 2, 1),
        "ranges.feed_forward_output": (2, 2, 6),
        "ranges.layer_norm_numerator": (7, 2, 6),
        "ranges.layer_norm_denominator": (7, 2, 1),
        "ranges.layer_norm_quotient": (7, 2, 6),
        "ranges.layer_norm_output": (7, 2, 6),
    }


def test_places_are_in_the_order_of_the_network() -> None:
    norms = OPERATIONS["layer_norm_output"].places(sample.ARCHITECTURE)
    assert norms == [
        *(f"encoder.layers.0.{name}_norm" for name in ("self_attention", "feed_forward")),
        "encoder.norm",
        *(f"decoder.layers.0.{name}_norm" for name in ("self_attention", "cross_attention", "feed_forward")),
        "decoder.norm",
    ]
    operands = OPERATIONS["query_key_value"].places(sample.ARCHITECTURE)
    assert operands[2:5] == [
        "encoder.layers.0.self_attention.value",
        "decoder.layers.0.self_attention.query",
        "decoder.layers.0.self_attention.key",
    ]


def test_what_is_written_is_read_and_shown(path: Path) -> None:
    write(path, manifest(bits=6, operations=["relu_output", "layer_norm_output"], bucketed=["layer_norm_output"]))
    with open_model(path) as file:
        assert file.activation_ranges == StoredActivationRanges(
            6, ("relu_output", "layer_norm_output"), ("layer_norm_output",)
        )
        values = file.data("ranges.relu_output").cast("f").tolist()
        assert values == [0.5, 2.0] * 2
    report = inspect_model(path)
    assert report.range_bytes == 4 * (2 * 2 + 7 * 2 * 6)
    parts = (report.matrix_bytes, report.vector_bytes, report.range_bytes, report.vocabulary_bytes)
    assert sum(parts) + report.container_bytes == path.stat().st_size
    text = report.to_text()
    assert "6 bit within trained ranges: relu_output, layer_norm_output by element" in text
    assert "ranges " in text
    assert "products quantize layer_norm_output again, to 8 bits with a scale for each row" in text


def test_without_buckets_products_read_the_trained_codes(path: Path) -> None:
    write(path, manifest(bits=6, operations=["relu_output", "layer_norm_output"], bucketed=[]))
    assert "again" not in inspect_model(path).to_text()


def test_other_files_show_none(path: Path) -> None:
    sample.write_sample(path)
    with open_model(path) as file:
        assert file.activation_ranges is None
    assert "ranges" not in inspect_model(path).to_text()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"bits": 9}, "bits is 9, expected a whole number from 2 to 8"),
        ({"bits": True}, "bits is True"),
        ({"operations": ["relu_output", "residual_sum"], "bucketed": []}, "'residual_sum' is unknown here"),
        ({"operations": ["relu_output", "relu_output"], "bucketed": []}, "names an operation twice"),
        ({"operations": [], "bucketed": []}, "operations is empty"),
        ({"operations": "relu_output"}, "operations is not a list of strings"),
        ({"operations": ["relu_output"], "bucketed": ["layer_norm_output"]}, "'layer_norm_output' is no operation"),
        ({"bucketed": ["relu_output"]}, "'relu_output' is no operation of this file that has buckets"),
        ({"operations": ["softmax_output"], "bucketed": []}, "needs query_key_value"),
        ({"scale": 1}, "expected an object of bits, operations and bucketed"),
    ],
)
def test_an_entry_that_is_wrong_is_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ModelFileError, match=message):
        check_manifest(manifest(**changes))


def test_products_and_ranges_exclude_one_another() -> None:
    products = {"scheme": "logarithmic", "bits": 4, "scale": 1.0}
    with pytest.raises(ModelFileError, match="products and activations both say how"):
        check_manifest(manifest() | {"products": products})


@pytest.mark.parametrize("changes", [{"bits": 9}, {"operations": ["residual_sum"]}, {"bucketed": ["position"]}])
def test_the_schema_knows_the_entry(changes: dict[str, object]) -> None:
    MANIFEST_SCHEMA.validate(manifest())
    assert not MANIFEST_SCHEMA.is_valid(manifest(**changes))


@pytest.mark.parametrize(
    ("operation", "element", "value", "message"),
    [
        ("relu_output", 3, float("nan"), "holds the range from 0.5 to nan"),
        ("relu_output", 0, float("inf"), "holds the range from inf to 2.0"),
        ("layer_norm_output", 6, 0.25, "holds the range from 0.5 to 0.25"),
        ("layer_norm_output", 83, -1.0, "holds the range from 0.5 to -1.0"),
        ("position", 0, -3.4e38, None),
        ("layer_norm_denominator", 2, 0.0, "a denominator is greater than 0"),
        ("embedding_sum", 6, 0.5, None),
    ],
)
def test_ranges_that_are_none_are_refused(
    path: Path, operation: str, element: int, value: float, message: str | None
) -> None:
    about = manifest()
    stored = tensors(about)
    name = ranges_name(operation)
    data = bytearray(stored[name].data)
    struct.pack_into("<f", data, 4 * element, value)
    stored[name] = StoredTensor("F32", stored[name].shape, bytes(data))
    if message is None:
        write(path, about, stored)
        return
    with pytest.raises(ModelFileError, match=f"tensor '{name}' .*{message}"):
        write(path, about, stored)


def test_ends_too_far_apart_are_refused(path: Path) -> None:
    about = manifest()
    stored = tensors(about)
    stored["ranges.position"] = StoredTensor("F32", (1, 2, 1), struct.pack("<2f", -3e38, 3e38))
    with pytest.raises(ModelFileError, match=r"tensor 'ranges\.position' holds the range"):
        write(path, about, stored)


def test_tensors_that_do_not_fit_are_refused(path: Path) -> None:
    about = manifest()
    stored = tensors(about)
    left_out = {name: tensor for name, tensor in stored.items() if name != "ranges.relu_output"}
    with pytest.raises(ModelFileError, match=r"tensor 'ranges\.relu_output' is missing"):
        write(path, about, left_out)
    turned = stored["ranges.relu_output"]
    with pytest.raises(ModelFileError, match=r"is F32 of shape \[1, 2, 2\], expected F32 of \[2, 2, 1\]"):
        write(path, about, stored | {"ranges.relu_output": StoredTensor("F32", (1, 2, 2), turned.data)})
    with pytest.raises(ModelFileError, match="is not part of this architecture"):
        write(path, manifest(operations=["position"], bucketed=[]), {**stored})
