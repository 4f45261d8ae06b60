"""The engine reads the description of a network field by field, by the names in the model file."""

import math
from pathlib import Path
from typing import Any

import pytest

from pocketmt.engine import _native
from pocketmt.errors import ModelFileError
from pocketmt.model_file import Architecture
from pocketmt.model_file.architecture.lstm import LstmArchitecture
from pocketmt.text.vocabulary import Vocabulary
from tests.engine.reference import architecture, native_arguments, random_network, write

LSTM = LstmArchitecture(
    encoder_layers=1,
    decoder_layers=1,
    model_dimension=8,
    recurrent_dimension=8,
    attention_heads=1,
    attention_dimension=8,
    vocabulary_size=120,
)
SHAPES: dict[str, Architecture] = {
    "transformer": architecture(),
    "student": architecture(decoder_autoregression="ssru", tied_decoder_layers=True, norm="pre", attention_bias=True),
    "lstm": LSTM,
}
OTHER_VALUES: list[tuple[str, object, str]] = [
    ("type", "gru", 'type is "gru", it must be "transformer" or "lstm"'),
    ("embeddings", "both", 'embeddings is "both", it must be "shared" or "separate"'),
    ("source_vocabulary_size", 2**24 + 1, "source_vocabulary_size is 16777217, it must be 0 to 16777216"),
    ("source_vocabulary_size", 120, 'source_vocabulary_size is given, but embeddings are "shared"'),
    ("output_projection", "none", 'output_projection is "none", it must be "tied" or "untied"'),
    ("first_decoder_input", "zeros", 'first_decoder_input is "zeros", it must be "bos" or "eos" or "pad" or "zero"'),
    ("pad_id", 120, "pad_id is 120, it must be 0 to 119"),
    ("eos_id", 120, "eos_id is 120, it must be 0 to 119"),
    ("source_eos_id", 120, "source_eos_id is 120, it must be 0 to 119"),
    ("eos_id", 0, "eos_id is a piece that is never generated"),
    ("banned_ids", [4, 120], "banned_ids is a list with 120, it must be 0 to 119"),
    ("banned_ids", [2, 4], "eos_id is a piece that is never generated"),
    ("banned_ids", [*range(4, 120)], "banned_ids leave no piece that could be generated"),
    ("vocabularies", "none", 'vocabularies is "none", it must be "shared" or "separate"'),
    ("normalization_epsilon", 0.0, "normalization_epsilon is 0, it must be a number above 0 and at most 0.1"),
    ("normalization_epsilon", 0.2, "normalization_epsilon is 0.2, it must be a number above 0 and at most 0.1"),
    ("normalization_epsilon", math.nan, "normalization_epsilon is nan, it must be a number above 0 and at most 0.1"),
]
OTHER_TYPES: list[tuple[str, object, str]] = [
    ("pad_id", False, "pad_id is false, it must be 0 to 119"),
    ("eos_id", 2.0, "eos_id is 2, it must be 0 to 119"),
    ("model_dimension", "32", 'model_dimension is "32", it must be 1 to 65536'),
    ("model_dimension", -32, "model_dimension is -32, it must be 1 to 65536"),
    ("vocabulary_size", 2**64, "vocabulary_size is 1844674407370955"),
    ("output_bias", 0, "output_bias is 0, it must be a boolean"),
    ("scale_embeddings", 1, "scale_embeddings is 1, it must be a boolean"),
    ("append_source_eos", "yes", 'append_source_eos is "yes", it must be a boolean'),
    ("banned_ids", 7, "banned_ids is 7, it must be a list of sizes"),
    ("first_decoder_input", 1, "first_decoder_input is 1, it must be a text"),
    ("normalization_epsilon", 0, "normalization_epsilon is 0, it must be a number above 0 and at most 0.1"),
]
OPTIONAL = {"pad_id", "bos_id"}


Arguments = dict[str, Any]


@pytest.fixture(params=SHAPES)
def arguments(request: pytest.FixtureRequest, tmp_path: Path, vocabulary: Vocabulary) -> Arguments:
    return arguments_of(SHAPES[request.param], tmp_path, vocabulary)


def arguments_of(shape: Architecture, folder: Path, vocabulary: Vocabulary) -> Arguments:
    """The arguments of `_native.Model` for a random network."""
    path = folder / "model.pocketmt"
    write(path, random_network(shape), vocabulary)
    return {**native_arguments(path), "release": None, "instruction_set": None, "workers": 1}


def refusal(arguments: Arguments) -> str:
    with pytest.raises(ModelFileError) as caught:
        _native.Model(**arguments)
    return str(caught.value)


def test_the_order_of_fields_does_not_matter(arguments: Arguments) -> None:
    model = _native.Model(**arguments)
    arguments["architecture"] = dict(reversed(arguments["architecture"].items()))
    assert _native.Model(**arguments).logits([5, 6], [7]) == model.logits([5, 6], [7])


def test_every_field_but_ids_of_pieces_that_may_be_missing_is_required(arguments: Arguments) -> None:
    described = arguments["architecture"]
    for name in described.keys() - OPTIONAL:
        arguments["architecture"] = {other: value for other, value in described.items() if other != name}
        assert refusal(arguments) == f'architecture: missing field "{name}"'


def test_ids_may_be_missing(arguments: Arguments) -> None:
    described = arguments["architecture"]
    logits = _native.Model(**arguments).logits([5, 6], [7])
    del described["pad_id"]
    assert _native.Model(**arguments).logits([5, 6], [7]) == logits
    del described["bos_id"]
    assert refusal(arguments) == "architecture: first_decoder_input names a piece whose id is missing"


@pytest.mark.parametrize(
    ("changes", "option"),
    [
        ({"embeddings": "separate"}, 'embeddings "separate"'),
        ({"output_projection": "untied"}, 'output_projection "untied"'),
        ({"output_bias": True}, "an output_bias"),
        ({"scale_embeddings": False}, "scale_embeddings false"),
        ({"first_decoder_input": "zero"}, 'first_decoder_input "zero"'),
    ],
)
def test_options_that_an_lstm_has_not(
    tmp_path: Path, vocabulary: Vocabulary, changes: dict[str, object], option: str
) -> None:
    arguments = arguments_of(LSTM, tmp_path, vocabulary)
    arguments["architecture"].update(changes)
    assert refusal(arguments) == f"architecture: an LSTM of this engine cannot have {option}"


def test_unknown_fields_are_refused(arguments: Arguments) -> None:
    arguments["architecture"]["surprise"] = 1
    assert refusal(arguments) == 'architecture: unknown field "surprise"'


@pytest.mark.parametrize(("name", "value", "message"), [*OTHER_VALUES, *OTHER_TYPES])
def test_other_values_are_refused_by_name(arguments: Arguments, name: str, value: object, message: str) -> None:
    arguments["architecture"][name] = value
    assert refusal(arguments).startswith(f"architecture: {message}")


@pytest.mark.parametrize(
    ("shape", "changes", "message"),
    [
        (
            architecture(),
            {"tied_decoder_layers": True, "decoder_layers": 256, "attention_dimension": 2064},
            "decoder layers keep 1056768 numbers of each target position, expected at most 1048576",
        ),
        (
            architecture(),
            {"decoder_autoregression": "ssru", "decoder_layers": 9, "attention_dimension": 65536},
            "decoder layers keep 1179648 numbers of each source position, expected at most 1048576",
        ),
        (
            LSTM,
            {"decoder_layers": 256, "recurrent_dimension": 2050},
            "decoder layers keep 1049600 numbers of each target position, expected at most 1048576",
        ),
    ],
)
def test_decoders_that_keep_too_much_of_a_position_are_refused(
    tmp_path: Path, vocabulary: Vocabulary, shape: Architecture, changes: dict[str, object], message: str
) -> None:
    arguments = arguments_of(shape, tmp_path, vocabulary)
    arguments["architecture"].update(changes)
    assert refusal(arguments) == f"architecture: {message}"


def test_the_most_that_a_decoder_keeps_of_a_position(tmp_path: Path, vocabulary: Vocabulary) -> None:
    arguments = arguments_of(architecture(), tmp_path, vocabulary)
    arguments["architecture"].update(tied_decoder_layers=True, decoder_layers=256, attention_dimension=2048)
    assert refusal(arguments).startswith("tensor ")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        (
            "activation",
            "tanh",
            'activation is "tanh", it must be "relu" or "swish" or "gelu" or "gelu_tanh" or "gelu_sigmoid"',
        ),
        (
            "positions",
            "split",
            'positions is "split", it must be "interleaved" or "concatenated" or "concatenated_inclusive"',
        ),
        ("position_offset", 1025, "position_offset is 1025, it must be 0 to 1024"),
        ("embedding_norm", 0, "embedding_norm is 0, it must be a boolean"),
        ("norm", "both", 'norm is "both", it must be "post" or "pre"'),
        ("attention_bias", 1, "attention_bias is 1, it must be a boolean"),
        ("encoder_heads", 4, "encoder_heads is 4, it must be a list of sizes"),
        ("encoder_heads", [4, 5], "encoder_heads is a list with 5, it must be 1 to 4"),
        ("model_dimension", 31, "model_dimension must be even"),
    ],
)
def test_other_values_of_a_transformer_are_refused_by_name(
    tmp_path: Path, vocabulary: Vocabulary, name: str, value: object, message: str
) -> None:
    arguments = arguments_of(architecture(), tmp_path, vocabulary)
    arguments["architecture"][name] = value
    assert refusal(arguments) == f"architecture: {message}"
