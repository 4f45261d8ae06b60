"""Wrong ranges of activations: the engine refuses them and names the tensor."""

from typing import Any

import pytest

from pocketmt.engine import _native
from pocketmt.errors import ModelFileError
from pocketmt.model_file import open_model
from pocketmt.recipes.activations import FullQuantization
from pocketmt.text.vocabulary import Vocabulary
from tests.engine.test_fully_quantized import write

Tensors = dict[str, tuple[str, tuple[int, ...], int, int]]


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory, vocabulary: Vocabulary) -> dict[str, Any]:
    """The arguments for a valid model file."""
    path = tmp_path_factory.mktemp("ranges") / "model.pocketmt"
    write(path, vocabulary, FullQuantization(8))
    with open_model(path) as file:
        shape = file.architecture
        return {
            "buffer": bytes(file.buffer),
            "architecture": shape.fields(),
            "tensors": {name: (each.dtype, each.shape, each.offset, each.size) for name, each in file.tensors.items()},
            "matrices": {name: [group.for_engine() for group in groups] for name, groups in file.matrices.items()},
        }


def build(given: dict[str, Any], tensors: Tensors | None = None, bits: int = 8) -> _native.Model:
    arguments = {**given, "tensors": given["tensors"] if tensors is None else tensors}
    return _native.Model(**arguments, release=None, instruction_set=None, workers=1, activation_bits=bits)


def test_right_ranges_are_used(given: dict[str, Any]) -> None:
    assert build(given).logits([5], []) != build(given, bits=0).logits([5], [])


@pytest.mark.parametrize("bits", [1, 9, 32])
def test_bits_that_no_code_has(given: dict[str, Any], bits: int) -> None:
    with pytest.raises(ModelFileError, match=f"activations of {bits} bits: this engine knows 2 to 8"):
        build(given, bits=bits)


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("relu_output", (4, 2)),
        ("relu_output", (3, 2, 1)),
        ("relu_output", (5, 2, 1)),
        ("relu_output", (2**60, 2, 1)),
        ("relu_output", (4, 2, 48)),
        ("layer_norm_output", (10, 2, 31)),
        ("layer_norm_output", (10, 1, 32)),
        ("query_key_value", (18, 2, 32)),
        ("position", (1, 2, 2**61)),
    ],
)
def test_shapes_of_another_network(given: dict[str, Any], name: str, shape: tuple[int, ...]) -> None:
    dtype, _, offset, _ = given["tensors"][f"ranges.{name}"]
    size = 4 * shape[0] * shape[1] * (shape[2] if len(shape) > 2 else 1) % 2**64
    with pytest.raises(ModelFileError, match=f"tensor ranges.{name}"):
        build(given, {**given["tensors"], f"ranges.{name}": (dtype, shape, offset, size)})


def test_ends_that_are_not_in_order(given: dict[str, Any]) -> None:
    _, shape, _, size = given["tensors"]["ranges.relu_output"]
    weights = given["tensors"]["encoder.layers.0.self_attention_norm.weight"]  # of other values
    with pytest.raises(ModelFileError, match=r"ranges\.relu_output: holds a range whose ends are not in order"):
        build(given, {**given["tensors"], "ranges.relu_output": ("F32", shape, weights[2], size)})


def test_a_softmax_without_query_key_and_value(given: dict[str, Any]) -> None:
    tensors = {name: each for name, each in given["tensors"].items() if name != "ranges.query_key_value"}
    with pytest.raises(ModelFileError, match="a quantized softmax needs ranges of query, key and value"):
        build(given, tensors)
