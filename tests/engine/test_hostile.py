"""The engine, called with wrong descriptions of a file: it must refuse each, and never read outside of the file."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pocketmt.engine import _native
from pocketmt.errors import EngineError, ModelFileError
from tests.engine.conftest import search_options
from tests.engine.reference import native_arguments

MATRIX = "encoder.layers.1.feed_forward.outer.weight"
BIAS = "decoder.layers.0.feed_forward.inner.bias"
SIZES = ("model_dimension", "vocabulary_size", "encoder_layers", "decoder_layers", "attention_dimension")
LISTS = ("encoder_heads", "encoder_feed_forward", "decoder_heads", "decoder_cross_heads", "decoder_feed_forward")
ROWS: list[list[int]] = [[1, 31], [16, 16], [96], [2**63, 2**63], []]
LARGE = (0, 1, 2**16 + 1, 2**31, 2**32, 2**63, 2**64 - 1)

Arguments = dict[str, Any]


@pytest.fixture
def arguments(model_path: Path) -> Arguments:
    """The arguments for a valid model file."""
    return native_arguments(model_path)


def build(arguments: Arguments) -> _native.Model:
    return _native.Model(
        buffer=arguments["buffer"],
        architecture=arguments["architecture"],
        tensors={name: tuple(each) for name, each in arguments["tensors"].items()},
        matrices={name: [tuple(group) for group in groups] for name, groups in arguments["matrices"].items()},
        release=None,
        instruction_set=None,
        workers=1,
    )


def tensor(name: str, field: int, value: Any) -> Callable[[Arguments], None]:
    return lambda arguments: arguments["tensors"][name].__setitem__(field, value)


def group(field: int, value: Any) -> Callable[[Arguments], None]:
    return lambda arguments: arguments["matrices"][MATRIX][0].__setitem__(field, value)


LIES: dict[str, tuple[Callable[[Arguments], Any], str]] = {
    "missing tensor": (lambda a: a["tensors"].pop(BIAS), BIAS),
    "missing codes": (lambda a: a["tensors"].pop(f"{MATRIX}.0.codes"), f"{MATRIX}.0.codes"),
    "wrong type": (tensor(BIAS, 0, "I8"), BIAS),
    "type of another size": (tensor(f"{MATRIX}.0.codes", 0, "F32"), MATRIX),
    "wrong shape": (tensor(BIAS, 1, [49]), BIAS),
    "more dimensions": (tensor(BIAS, 1, [1, 48]), BIAS),
    "wrong size": (tensor(BIAS, 3, 48), BIAS),
    "behind the end": (tensor(BIAS, 2, 2**40), BIAS),
    "offset that overflows": (tensor(BIAS, 2, 2**64 - 64), BIAS),
    "not aligned": (tensor(BIAS, 2, 4), BIAS),
    "unknown scheme": (group(0, "ternary"), "ternary"),
    "unknown width": (group(1, 3), "3 bits"),
    "unknown granularity": (group(2, "column"), "column"),
    "levels of 8 bit": (group(3, [0] * 15), MATRIX),
    "too few rows": (group(4, 31), MATRIX),
    "too many rows": (group(4, 33), MATRIX),
    "rows that overflow": (group(4, 2**64 - 1), MATRIX),
    "no rows": (group(4, 0), MATRIX),
    "no groups": (lambda a: a["matrices"][MATRIX].clear(), MATRIX),
    "one group too many": (lambda a: a["matrices"][MATRIX].append(a["matrices"][MATRIX][0]), MATRIX),
    "matrix that is plain": (lambda a: a["matrices"].pop(MATRIX), MATRIX),
    "empty file": (lambda a: a.update(buffer=b""), "lies outside"),
    "file cut off": (lambda a: a.update(buffer=a["buffer"][: len(a["buffer"]) // 2]), "lies outside"),
    "unknown norm": (lambda a: a["architecture"].update(norm="both"), "norm"),
    "more layers": (lambda a: a["architecture"].update(encoder_layers=3), "encoder.layers.2"),
    "other network": (lambda a: a["architecture"].update(decoder_autoregression="ssru"), "decoder.layers.0.ssru"),
    "biases that are not there": (lambda a: a["architecture"].update(attention_bias=True), "bias"),
}  # fmt: skip


@pytest.mark.parametrize("lie", LIES)
def test_a_wrong_description_is_refused_by_name(arguments: Arguments, lie: str) -> None:
    change, named = LIES[lie]
    change(arguments)
    with pytest.raises(ModelFileError, match=named):
        build(arguments)


@pytest.mark.parametrize("levels", [[0] * 15, [0] * 17, [128] + [0] * 15, [-128] + [0] * 15, [2**31 - 1] * 16])
def test_levels(arguments: Arguments, levels: list[int]) -> None:
    arguments["matrices"][MATRIX][0] = ["logarithmic", 4, "row", levels, 32]
    with pytest.raises(ModelFileError, match="level"):
        build(arguments)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("value", LARGE)
def test_sizes(arguments: Arguments, size: str, value: int) -> None:
    if value == 1 and size.endswith("layers"):
        pytest.skip("that is a network of which the file has all tensors")
    arguments["architecture"][size] = value
    with pytest.raises(ModelFileError):
        build(arguments)


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("value", LARGE)
def test_sizes_of_layers(arguments: Arguments, name: str, value: int) -> None:
    arguments["architecture"][name] = [value, 1]
    with pytest.raises(ModelFileError):
        build(arguments)


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("sizes", [[1], [1, 1, 1]])
def test_numbers_of_sizes(arguments: Arguments, name: str, sizes: list[int]) -> None:
    arguments["architecture"][name] = sizes
    with pytest.raises(ModelFileError, match=f"{name} has {len(sizes)} sizes, expected 2"):
        build(arguments)


@pytest.mark.parametrize("name", ["encoder_layers", "decoder_layers"])
@pytest.mark.parametrize("layers", [0, 257])
def test_numbers_of_layers(arguments: Arguments, name: str, layers: int) -> None:
    arguments["architecture"][name] = layers
    with pytest.raises(ModelFileError, match=f"{name} is {layers}, it must be 1 to 256"):
        build(arguments)


@pytest.mark.parametrize("bits", [0x7F80, 0xFF80, 0x7FC0])
def test_scales_must_be_finite(arguments: Arguments, bits: int) -> None:
    start = arguments["tensors"][f"{MATRIX}.0.scale"][2]
    overwrite(arguments, start, bits.to_bytes(2, "little"))
    with pytest.raises(ModelFileError, match=f"{MATRIX}.0.scale"):
        build(arguments)


def test_codes_must_not_be_the_lowest(arguments: Arguments) -> None:
    overwrite(arguments, arguments["tensors"][f"{MATRIX}.0.codes"][2] + 77, b"\x80")
    with pytest.raises(ModelFileError, match="-128"):
        build(arguments)


TERMS = [[([50], True)]]


@pytest.mark.parametrize("terms", [[], TERMS])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"no_repeat_ngram": 2},
        {"repetition_penalty": 2.0},
        {"suppressed_sequences": [[9]]},
        {"suppressed_sequences": [[piece] for piece in range(4, 120)]},
    ],
)
def test_weights_that_overflow_are_an_error(
    arguments: Arguments, changes: Arguments, terms: list[list[tuple[list[int], bool]]]
) -> None:
    model = overflowing_model(arguments)
    for beam_size in (1, 4):
        for scores in (False, True):
            options = search_options(beam_size=beam_size, scores=scores, **changes)
            with pytest.raises(EngineError, match="not finite"):
                model.submit([[5, 6, 7]], options, [], terms).result()


@pytest.mark.parametrize("scores", [False, True])
@pytest.mark.parametrize("limits", [(0, 1.0), (0, 0.9), (4, 1.0), (4, 0.9)])  # top_k, top_p
def test_weights_that_overflow_are_an_error_of_sampling(
    arguments: Arguments, scores: bool, limits: tuple[int, float]
) -> None:
    model = overflowing_model(arguments)
    for samples in (1, 4):
        options = search_options(beam_size=samples, scores=scores, sampling=(1.0, *limits, 1))
        with pytest.raises(EngineError, match="not finite"):
            model.translate([[5, 6, 7]], options)


def overflowing_model(arguments: Arguments) -> _native.Model:
    for name, (_, _, offset, size) in arguments["tensors"].items():
        if name.endswith("norm.weight"):
            overwrite(arguments, offset, (0x7F7FFFFF).to_bytes(4, "little") * (size // 4))
    return build(arguments)


def test_random_descriptions(arguments: Arguments) -> None:
    """For any description of a tensor, the engine refuses the file or translates."""
    draw = random.Random(4)
    tensors, matrices = arguments["tensors"], arguments["matrices"]
    for _ in range(300):
        name, field = draw.choice(list(tensors)), draw.randrange(4)
        values: dict[int, list[Any]] = {
            0: ["F32", "BF16", "I8", "U8", ""],
            1: [[], [0], [2**63, 2], [32, 32], [96, 32], [2**64 - 1]],
        }
        changed = [*tensors[name]]
        if field in (2, 3):  # offset, size
            values[field] = [*LARGE, changed[field] + 64, max(0, changed[field] - 64)]
        changed[field] = draw.choice(values[field])
        matrix = draw.choice(list(matrices))
        groups = [[*group] for group in matrices[matrix]]
        if draw.random() < 0.5:
            groups = [[*groups[0][:4], rows] for rows in draw.choice(ROWS)]
        try:
            model = build(
                {**arguments, "tensors": {**tensors, name: changed}, "matrices": {**matrices, matrix: groups}}
            )
        except ModelFileError:
            continue
        model.translate([[5, 6, 7]], search_options(max_length=5))


@pytest.mark.parametrize("source", [[-1], [2**32], ["5"], [5.5], None, 7])
def test_sources_must_be_ids(arguments: Arguments, source: Any) -> None:
    with pytest.raises(TypeError):
        build(arguments).translate([source], search_options())


def overwrite(arguments: Arguments, start: int, data: bytes) -> None:
    buffer = arguments["buffer"]
    arguments["buffer"] = buffer[:start] + data + buffer[start + len(data) :]
