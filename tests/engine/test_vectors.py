"""Biases and norms in few bits: the engine decodes them at load as PyTorch does, and refuses wrong descriptions."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from pocketmt.engine import _native
from pocketmt.engine.loading import native_model
from pocketmt.errors import ModelFileError
from pocketmt.model_file import open_model
from pocketmt.model_file.matrices import grouped_vectors
from pocketmt.model_file.matrices.grouped_vectors import vector_group_name
from pocketmt.models.network import TranslationNetwork
from pocketmt.packing.contents import ModelContents, PackingOptions
from pocketmt.packing.model_file import pack
from pocketmt.packing.reference.network import load_reference
from pocketmt.quantization import Scheme
from pocketmt.quantization.row_groups import RowGroup
from pocketmt.text.vocabulary import Vocabulary
from tests.engine.conftest import search_options
from tests.engine.reference import architecture, native_arguments, random_network
from tests.engine.test_schemes import METADATA, SCHEMES, SHAPES, Groups, assert_parity, assert_sameness


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.pocketmt"


def write(
    path: Path,
    vocabulary: Vocabulary,
    scheme: Scheme,
    matrices: str | Scheme = "float32",
    options: PackingOptions | None = None,
) -> TranslationNetwork:
    """A random network with all its vectors in one scheme; returns it with vectors that were not quantized."""
    model = random_network(architecture(**SHAPES["odd"]))
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter.add_(0.3 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1)))
    by_length: dict[int, list[str]] = {}
    for name, shape in model.architecture.parameter_shapes().items():
        if len(shape) == 1:
            by_length.setdefault(shape[0], []).append(name)
    choice: dict[str, str | Scheme | Groups] = {
        vector_group_name(index): (RowGroup(scheme, vectors=tuple(names)),)
        for index, names in enumerate(by_length.values())
    }
    schemes = {**choice, "*": matrices}
    pack(path, ModelContents(model.state_dict(), model.architecture, vocabulary.model, schemes, METADATA), options)
    return model


@pytest.mark.parametrize("scheme", ["uniform", "logarithmic 4 row", "codebook 8", "affine 6 row", "binary 3"])
def test_parity(path: Path, vocabulary: Vocabulary, scheme: str) -> None:
    plain = write(path, vocabulary, SCHEMES[scheme], SCHEMES["uniform"])
    reference = load_reference(path)
    for name, tensor in plain.state_dict().items():
        if tensor.dim() == 1:
            assert not torch.equal(tensor, reference.state_dict()[name]), name
    assert_parity(path, reference)
    assert_sameness(path)


def test_entropy_coded(path: Path, vocabulary: Vocabulary) -> None:
    write(path, vocabulary, SCHEMES["codebook 8"])
    expected = load_reference(path).state_dict()
    write(path, vocabulary, SCHEMES["codebook 8"], options=PackingOptions(entropy_coding=True))
    reference = load_reference(path)
    assert all(torch.equal(tensor, expected[name]) for name, tensor in reference.state_dict().items())
    assert_parity(path, reference)


Arguments = dict[str, Any]
BIAS = "decoder.layers.0.feed_forward.inner.bias"


@pytest.fixture
def arguments(path: Path, vocabulary: Vocabulary) -> Arguments:
    """The arguments for a valid model file."""
    write(path, vocabulary, SCHEMES["affine 8 row"])
    return native_arguments(path)


def build(arguments: Arguments) -> _native.Model:
    return _native.Model(**arguments, release=None, instruction_set=None, workers=1)


def stack_of(arguments: Arguments) -> tuple[str, list[str]]:
    return next((name, vectors) for name, vectors in arguments["vector_groups"] if BIAS in vectors)


def overwritten(arguments: Arguments, suffix: str, content: str) -> None:
    _, _, offset, _ = arguments["tensors"][f"{stack_of(arguments)[0]}.0.{suffix}"]
    new = bytes.fromhex(content)
    arguments["buffer"] = arguments["buffer"][:offset] + new + arguments["buffer"][offset + len(new) :]


def norms(arguments: Arguments) -> list[str]:
    return next(vectors for _, vectors in arguments["vector_groups"] if "encoder.norm.bias" in vectors)


def swap_last(left: list[str], right: list[str]) -> None:
    left[-1], right[-1] = right[-1], left[-1]


LIES: dict[str, tuple[Callable[[Arguments], Any], str]] = {
    "no stacks": (lambda a: a.pop("vector_groups"), "is missing from the model file"),
    "no row groups": (lambda a: a["matrices"].pop(stack_of(a)[0]), r"vectors\.\d: is missing"),
    "no codes": (lambda a: a["tensors"].pop(f"{stack_of(a)[0]}.0.codes"), r"vectors\.\d\.0\.codes"),
    "one vector less": (lambda a: stack_of(a)[1].remove(BIAS), "rows"),
    "one vector more": (lambda a: stack_of(a)[1].append("another"), "rows"),
    "vectors of two lengths": (lambda a: swap_last(stack_of(a)[1], norms(a)), "has 51 elements, others of .* have 38"),
    "a scale that is not finite": (lambda a: overwritten(a, "scale", "c07f" * 4), r"vectors\.\d\.0\.scale"),
    "values beyond float32": (lambda a: overwritten(a, "scale", "7f7f" * 4), "not a finite number"),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_wrong_description_is_refused_by_name(arguments: Arguments, lie: str) -> None:
    change, named = LIES[lie]
    change(arguments)
    with pytest.raises(ModelFileError, match=named):
        build(arguments)


def test_longer_vectors_than_integer_products_take_are_refused(
    path: Path, vocabulary: Vocabulary, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grouped_vectors, "MAXIMUM_LENGTH", 1 << 17)
    sizes = {"encoder_layers": 1, "decoder_layers": 1, "model_dimension": 8, "attention_dimension": 21_856}
    model = random_network(architecture(attention_bias=True, **sizes))
    vector = "encoder.layers.0.self_attention.query_key_value.bias"
    for scheme in ("uniform", "affine 6 row", "logarithmic 4 row", "binary 1"):
        choice: dict[str, str | Groups] = {
            vector_group_name(0): (RowGroup(SCHEMES[scheme], vectors=(vector,)),),
            "*": "float32",
        }
        pack(path, ModelContents(model.state_dict(), model.architecture, vocabulary.model, choice, METADATA))
        with (
            open_model(path) as file,
            pytest.raises(ModelFileError, match=r"vectors\.0\.0: its rows have 65568 elements"),
        ):
            native_model(file)


def test_the_right_description_is_translated(arguments: Arguments) -> None:
    assert build(arguments).translate([[5, 6, 7]], search_options(max_length=5))
