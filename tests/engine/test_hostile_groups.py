"""The engine, called with wrong descriptions of row groups: it must refuse each, and never read outside of the file."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pocketmt.errors import ModelFileError
from pocketmt.model_file.metadata import ModelMetadata
from pocketmt.packing.contents import ModelContents
from pocketmt.packing.model_file import pack
from pocketmt.quantization import Scheme, Uniform
from pocketmt.quantization.registry import scheme_from_options
from pocketmt.quantization.row_groups import RowGroup
from pocketmt.text.vocabulary import Vocabulary
from tests.engine.conftest import search_options
from tests.engine.reference import architecture, native_arguments, random_network
from tests.engine.test_hostile import Arguments, build, overwrite

EMBEDDING = "embedding.weight"
SCHEMES = (
    scheme_from_options("affine", bits=6, granularity="row"),
    scheme_from_options("logarithmic", bits=3, granularity="row"),
    scheme_from_options("codebook", bits=8),
    scheme_from_options("codebook", bits=2),
    scheme_from_options("binary", bits=3),
)
LARGE = (0, 1, 5, 2**31, 2**32 - 1)


@pytest.fixture(scope="module")
def true_arguments(tmp_path_factory: pytest.TempPathFactory, vocabulary: Vocabulary) -> Arguments:
    """The arguments for a valid model file, whose embedding has scattered row groups of five schemes."""
    path: Path = tmp_path_factory.mktemp("groups") / "groups.pocketmt"
    model = random_network(architecture())
    groups = tuple(RowGroup(scheme, tuple(range(index, 120, len(SCHEMES)))) for index, scheme in enumerate(SCHEMES))
    metadata = ModelMetadata(source_language="en", target_language="de")
    choice: dict[str, Scheme | tuple[RowGroup, ...]] = {EMBEDDING: groups, "*": Uniform()}
    pack(path, ModelContents(model.state_dict(), model.architecture, vocabulary.model, choice, metadata))
    return native_arguments(path)


@pytest.fixture
def arguments(true_arguments: Arguments) -> Arguments:
    return {
        **true_arguments,
        "tensors": {name: [*each] for name, each in true_arguments["tensors"].items()},
        "matrices": {name: [[*each] for each in groups] for name, groups in true_arguments["matrices"].items()},
    }


def group(index: int, field: int, value: Any) -> Callable[[Arguments], None]:
    return lambda arguments: arguments["matrices"][EMBEDDING][index].__setitem__(field, value)


def tensor(suffix: str, field: int, value: Any) -> Callable[[Arguments], None]:
    return lambda arguments: arguments["tensors"][f"{EMBEDDING}.{suffix}"].__setitem__(field, value)


def first_byte(suffix: str, value: int) -> Callable[[Arguments], None]:
    return lambda arguments: overwrite(
        arguments, arguments["tensors"][f"{EMBEDDING}.{suffix}"][2], value.to_bytes(1, "little")
    )


LIES: dict[str, tuple[Callable[[Arguments], Any], str]] = {
    "width that affine has not": (group(0, 1, 5), "5 bits"),
    "other width of affine": (group(0, 1, 8), "0.codes"),
    "one scale where there are many": (group(0, 2, "matrix"), "0.scale"),
    "levels of affine": (group(0, 3, [0] * 64), "levels"),
    "no minimum": (lambda a: a["tensors"].pop(f"{EMBEDDING}.0.minimum"), "0.minimum"),
    "levels of other bits": (group(1, 3, [0] * 16), "8 levels"),
    "level out of range": (group(1, 3, [0] * 7 + [128]), "-127 to 127"),
    "other bits": (group(1, 1, 4), "levels"),
    "a codebook by row": (group(2, 2, "row"), "codebook"),
    "a codebook of 16 bits": (group(2, 1, 16), "16 bits"),
    "a codebook of no bits": (group(2, 1, 0), "0 bits"),
    "too few levels": (tensor("3.levels", 1, [3]), "3.levels"),
    "a level of -128": (first_byte("3.levels", 0x80), "-128"),
    "no levels": (lambda a: a["tensors"].pop(f"{EMBEDDING}.2.levels"), "2.levels"),
    "more planes": (group(4, 1, 4), "4.planes"),
    "planes beyond the kernel": (group(4, 1, 5), "5 bits"),
    "a binary code by matrix": (group(4, 2, "matrix"), "binary"),
    "flat planes": (tensor("4.planes", 1, [24, 12]), "4.planes"),
    "too few factors": (tensor("4.alphas", 1, [24, 2]), "4.alphas"),
    "rows in the wrong group": (first_byte("groups", 0x11), "groups"),
    "a group that is not there": (first_byte("groups", 0x05), "groups"),
    "too few rows in groups": (tensor("groups", 1, [1, 59]), "groups"),
    "groups of another shape": (tensor("groups", 1, [60]), "groups"),
    "groups of another type": (tensor("groups", 0, "I8"), "groups"),
    "groups behind the end": (tensor("groups", 2, 2**40), "groups"),
    "other rows": (lambda a: (group(0, 4, 25)(a), group(1, 4, 23)(a)), "0.scale"),
}  # fmt: skip


@pytest.mark.parametrize("lie", LIES)
def test_a_wrong_description_is_refused_by_name(arguments: Arguments, lie: str) -> None:
    change, named = LIES[lie]
    change(arguments)
    with pytest.raises(ModelFileError, match=named):
        build(arguments)


def test_the_right_description_is_translated(arguments: Arguments) -> None:
    assert build(arguments).translate([[5, 6, 7]], search_options(max_length=5))


@pytest.mark.parametrize("bits", LARGE)
@pytest.mark.parametrize("index", range(len(SCHEMES)))
def test_widths(arguments: Arguments, index: int, bits: int) -> None:
    group(index, 1, bits)(arguments)
    with pytest.raises(ModelFileError):
        build(arguments)


@pytest.mark.parametrize("index", range(len(SCHEMES)))
@pytest.mark.parametrize("parameter", ["scale", "minimum", "alphas"])
def test_parameters_must_be_finite(arguments: Arguments, index: int, parameter: str) -> None:
    name = f"{EMBEDDING}.{index}.{parameter}"
    if name not in arguments["tensors"]:
        pytest.skip("another scheme's")
    dtype, _, offset, _ = arguments["tensors"][name]
    overwrite(arguments, offset, bytes.fromhex("c07f") if dtype == "BF16" else bytes.fromhex("0000c07f"))
    with pytest.raises(ModelFileError, match=name):
        build(arguments)


def test_factors_whose_sum_overflows_float32(arguments: Arguments) -> None:
    _, _, offset, _ = arguments["tensors"][f"{EMBEDDING}.4.alphas"]
    overwrite(arguments, offset, bytes.fromhex("7f7f") * 3)  # the greatest bfloat16, thrice
    with pytest.raises(ModelFileError, match="4: the alphas of a row add up to more than float32 holds"):
        build(arguments)


def test_more_groups_than_an_index_holds(arguments: Arguments) -> None:
    uniform = arguments["matrices"]["encoder.layers.0.feed_forward.outer.weight"]
    name = "encoder.layers.0.feed_forward.outer.weight"
    uniform[:] = [[*uniform[0][:4], 1] for _ in range(32)]
    arguments["tensors"][f"{name}.groups"] = arguments["tensors"][f"{EMBEDDING}.groups"]
    with pytest.raises(ModelFileError, match="more than 16 row groups"):
        build(arguments)
