"""The description of a network: its JSON, its defaults, and what is refused by the name of its field."""

from dataclasses import MISSING, fields

import pytest

from pocketmt.errors import ConfigurationError
from pocketmt.model_file.architecture import (
    Architecture,
    LstmArchitecture,
    TransformerArchitecture,
    architecture_from_json,
)
from tests.model_file.test_schema import SCHEMA
from tests.small_network import architecture

TRANSFORMER = architecture()
STUDENT = TransformerArchitecture.from_json(
    TRANSFORMER.to_json() | {"decoder_autoregression": "ssru", "tied_decoder_layers": True, "encoder_heads": [2, 1]}
)
LSTM = LstmArchitecture(
    encoder_layers=2,
    decoder_layers=1,
    model_dimension=5,
    recurrent_dimension=6,
    attention_heads=2,
    attention_dimension=8,
    vocabulary_size=11,
)
COMMON: dict[str, object] = {
    "embeddings": "shared",
    "output_bias": False,
    "first_decoder_input": "bos",
    "pad_id": 0,
    "bos_id": 1,
    "eos_id": 2,
    "unk_id": 3,
    "vocabularies": "shared",
    "normalization_epsilon": 1e-5,
}
DEFAULTS: dict[str, dict[str, object]] = {
    "transformer": {**COMMON, "activation": "relu", "positions": "interleaved"},
    "lstm": COMMON,
}
OTHER_VALUES = [
    ("embeddings", "separate", "'shared'"),
    ("output_bias", True, "False"),
    ("output_bias", 0, "False"),
    ("first_decoder_input", "zeros", "'bos'"),
    ("pad_id", 1, "0"),
    ("pad_id", False, "0"),
    ("bos_id", 0, "1"),
    ("bos_id", True, "1"),
    ("eos_id", 2.0, "2"),
    ("unk_id", "3", "3"),
    ("vocabularies", "separate", "'shared'"),
    ("normalization_epsilon", 1e-6, "1e-05"),
    ("normalization_epsilon", None, "1e-05"),
]


@pytest.mark.parametrize("described", [TRANSFORMER, STUDENT, LSTM], ids=["transformer", "student", "lstm"])
def test_json_and_back(described: Architecture) -> None:
    assert architecture_from_json(described.to_json()) == described
    assert type(described).from_json(described.fields()) == described


@pytest.mark.parametrize("described", [TRANSFORMER, LSTM], ids=["transformer", "lstm"])
def test_defaults_are_fields_and_no_json(described: Architecture) -> None:
    """Files of today's networks hold the same bytes as before a field was added."""
    required = {field.name for field in fields(described) if field.default is MISSING} | {"type"}
    assert set(described.to_json()) == required
    defaults = DEFAULTS[described.type]
    assert {name: described.fields()[name] for name in defaults} == defaults
    assert architecture_from_json(described.to_json() | defaults) == described


def test_fields_are_in_the_order_of_files_written_before() -> None:
    assert list(TRANSFORMER.to_json()) == [
        *("type", "model_dimension", "vocabulary_size", "encoder_layers", "decoder_layers", "feed_forward_dimension"),
        *("attention_heads", "attention_dimension", "norm", "attention_bias"),
    ]
    assert list(LSTM.to_json()) == [
        *("type", "model_dimension", "vocabulary_size", "encoder_layers", "decoder_layers", "recurrent_dimension"),
        *("attention_heads", "attention_dimension"),
    ]


@pytest.mark.parametrize("described", [TRANSFORMER, LSTM], ids=["transformer", "lstm"])
@pytest.mark.parametrize(("name", "value", "expected"), OTHER_VALUES)
def test_other_values_are_refused(described: Architecture, name: str, value: object, expected: str) -> None:
    with pytest.raises(ConfigurationError, match=f"architecture: {name} is {value!r}, expected {expected}"):
        architecture_from_json(described.to_json() | {name: value})


@pytest.mark.parametrize(
    ("name", "value", "expected"), [("activation", "swish", "'relu'"), ("positions", "split", "'interleaved'")]
)
def test_other_values_of_a_transformer_are_refused(name: str, value: str, expected: str) -> None:
    with pytest.raises(ConfigurationError, match=f"architecture: {name} is {value!r}, expected {expected}"):
        architecture_from_json(TRANSFORMER.to_json() | {name: value})


@pytest.mark.parametrize("name", ["activation", "positions", "norm", "surprise"])
def test_an_lstm_has_no_such_field(name: str) -> None:
    with pytest.raises(ConfigurationError, match=f"unknown field '{name}'"):
        architecture_from_json(LSTM.to_json() | {name: "relu"})


@pytest.mark.parametrize("described", [TRANSFORMER, LSTM], ids=["transformer", "lstm"])
def test_the_schema_knows_every_field(described: Architecture) -> None:
    definition = SCHEMA["$defs"][described.type]
    assert set(definition["properties"]) == set(described.fields())
    assert set(definition["required"]) == set(described.to_json())
    for name, value in DEFAULTS[described.type].items():
        assert definition["properties"][name] == {"const": value}


def test_special_pieces_by_their_roles() -> None:
    assert TRANSFORMER.first_input_id == TRANSFORMER.bos_id == 1
    assert TRANSFORMER.never_generated_ids == (0, 1, 3)
