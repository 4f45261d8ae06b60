"""The engine reads the description of a network field by field, by the names in the model file."""

from pathlib import Path
from typing import Any

import pytest

from pocketmt.engine import _native
from pocketmt.errors import ModelFileError
from pocketmt.model_file import Architecture, LstmArchitecture, open_model
from pocketmt.text.vocabulary import Vocabulary
from tests.engine.reference import architecture, random_network, write

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
    ("embeddings", "separate", 'embeddings is "separate", it must be "shared"'),
    ("output_bias", True, "output_bias is true, it must be false"),
    ("first_decoder_input", "zeros", 'first_decoder_input is "zeros", it must be "bos"'),
    ("pad_id", 1, "pad_id is 1, it must be 0"),
    ("bos_id", 0, "bos_id is 0, it must be 1"),
    ("eos_id", 3, "eos_id is 3, it must be 2"),
    ("unk_id", 2, "unk_id is 2, it must be 3"),
    ("vocabularies", "separate", 'vocabularies is "separate", it must be "shared"'),
    ("normalization_epsilon", 1e-6, "normalization_epsilon is 1e-06, it must be 1e-05"),
]
OTHER_TYPES: list[tuple[str, object, str]] = [
    ("pad_id", False, "pad_id is false, it must be 0"),
    ("eos_id", 2.0, "eos_id is 2, it must be 2"),
    ("model_dimension", "32", 'model_dimension is "32", it must be 1 to 65536'),
    ("model_dimension", -32, "model_dimension is -32, it must be 1 to 65536"),
    ("vocabulary_size", 2**64, "vocabulary_size is 1844674407370955"),
    ("output_bias", 0, "output_bias is 0, it must be false"),
    ("first_decoder_input", 1, "first_decoder_input is 1, it must be a text"),
    ("normalization_epsilon", 0, "normalization_epsilon is 0, it must be 1e-05"),
]


Arguments = dict[str, Any]


@pytest.fixture(params=SHAPES)
def arguments(request: pytest.FixtureRequest, tmp_path: Path, vocabulary: Vocabulary) -> Arguments:
    return arguments_of(SHAPES[request.param], tmp_path, vocabulary)


def arguments_of(shape: Architecture, folder: Path, vocabulary: Vocabulary) -> Arguments:
    """The arguments of `_native.Model` for a random network."""
    path = folder / "model.pocketmt"
    write(path, random_network(shape), vocabulary)
    with open_model(path) as file:
        tensors = {name: (each.dtype, each.shape, each.offset, each.size) for name, each in file.tensors.items()}
        return {
            "buffer": bytes(file.buffer),
            "architecture": file.architecture.fields(),
            "tensors": tensors,
            "matrices": {},
            "release": None,
            "instruction_set": None,
            "workers": 1,
        }


def refusal(arguments: Arguments) -> str:
    with pytest.raises(ModelFileError) as caught:
        _native.Model(**arguments)
    return str(caught.value)


def test_the_order_of_fields_does_not_matter(arguments: Arguments) -> None:
    model = _native.Model(**arguments)
    arguments["architecture"] = dict(reversed(arguments["architecture"].items()))
    assert _native.Model(**arguments).logits([5, 6], [7]) == model.logits([5, 6], [7])


def test_every_field_is_required(arguments: Arguments) -> None:
    described = arguments["architecture"]
    for name in described:
        arguments["architecture"] = {other: value for other, value in described.items() if other != name}
        assert refusal(arguments) == f'architecture: missing field "{name}"'


def test_unknown_fields_are_refused(arguments: Arguments) -> None:
    arguments["architecture"]["surprise"] = 1
    assert refusal(arguments) == 'architecture: unknown field "surprise"'


@pytest.mark.parametrize(("name", "value", "message"), [*OTHER_VALUES, *OTHER_TYPES])
def test_other_values_are_refused_by_name(arguments: Arguments, name: str, value: object, message: str) -> None:
    arguments["architecture"][name] = value
    assert refusal(arguments).startswith(f"architecture: {message}")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("activation", "swish", 'activation is "swish", it must be "relu"'),
        ("positions", "split", 'positions is "split", it must be "interleaved"'),
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
