"""The description of a network: its JSON, its defaults, and what is refused by the name of its field."""

import dataclasses
import re
from dataclasses import MISSING, fields

import jsonschema  # type: ignore[import-untyped]
import pytest

from pocketmt.errors import ConfigurationError
from pocketmt.model_file.architecture import (
    Architecture,
    TransformerArchitecture,
    architecture_from_json,
)
from pocketmt.model_file.architecture.lstm import LstmArchitecture
from tests.model_file.schemas import SCHEMA
from tests.small_network import architecture

ARCHITECTURE_SCHEMA = jsonschema.Draft202012Validator({"$ref": "#/$defs/architecture", "$defs": SCHEMA["$defs"]})
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
    "source_vocabulary_size": 0,
    "output_projection": "tied",
    "output_bias": False,
    "scale_embeddings": True,
    "first_decoder_input": "bos",
    "pad_id": 0,
    "bos_id": 1,
    "eos_id": 2,
    "unk_id": 3,
    "source_pad_id": None,
    "source_eos_id": None,
    "source_unk_id": None,
    "ban_special_pieces": True,
    "banned_ids": (),
    "append_source_eos": True,
    "vocabularies": "shared",
    "normalization_epsilon": 1e-5,
}
DEFAULTS: dict[str, dict[str, object]] = {
    "transformer": {
        **COMMON,
        "average_attention_dimension": 0,
        "average_attention_activation": "relu",
        "average_attention_gate": True,
        "activation": "relu",
        "positions": "interleaved",
        "position_offset": 0,
        "embedding_norm": False,
    },
    "lstm": COMMON,
}
FOREIGN = TransformerArchitecture.from_json(
    TRANSFORMER.to_json()
    | {
        "embeddings": "separate",
        "source_vocabulary_size": 70,
        "output_projection": "untied",
        "output_bias": True,
        "scale_embeddings": False,
        "first_decoder_input": "zero",
        "pad_id": None,
        "bos_id": None,
        "eos_id": 0,
        "unk_id": 59,
        "source_pad_id": 2,
        "source_eos_id": 69,
        "source_unk_id": 1,
        "ban_special_pieces": False,
        "banned_ids": [4, 7],
        "append_source_eos": False,
        "vocabularies": "separate",
        "normalization_epsilon": 1e-6,
        "decoder_autoregression": "average_attention",
        "average_attention_dimension": 9,
        "average_attention_activation": "swish",
        "average_attention_gate": False,
        "activation": "gelu_tanh",
        "positions": "concatenated_inclusive",
        "position_offset": 2,
        "embedding_norm": True,
    }
)
OTHER_VALUES: list[tuple[dict[str, object], str]] = [
    ({"embeddings": "tied"}, "embeddings is 'tied', expected 'shared'"),
    ({"source_vocabulary_size": 70}, "source_vocabulary_size is 70, but embeddings are 'shared'"),
    ({"source_vocabulary_size": -1}, "source_vocabulary_size is -1, expected a whole number from 0 to"),
    ({"output_projection": "shared"}, "output_projection is 'shared', expected 'tied'"),
    ({"output_bias": 0}, "output_bias is 0, expected False"),
    ({"scale_embeddings": 1}, "scale_embeddings is 1, expected True"),
    ({"first_decoder_input": "unk"}, "first_decoder_input is 'unk', expected 'bos'"),
    ({"first_decoder_input": "pad", "pad_id": None}, "first_decoder_input is 'pad', but pad_id is None"),
    ({"bos_id": None}, "first_decoder_input is 'bos', but bos_id is None"),
    ({"pad_id": 1}, "pad_id and bos_id are both 1, expected different pieces"),
    ({"pad_id": False}, "pad_id is False, expected a whole number"),
    ({"eos_id": 2.0}, "eos_id is 2.0, expected a whole number"),
    ({"eos_id": None}, "eos_id is None, expected a whole number"),
    ({"unk_id": "3"}, "unk_id is '3', expected a whole number"),
    ({"unk_id": -1}, "unk_id is -1, expected a whole number"),
    ({"source_eos_id": 5}, "source_eos_id is 5, but vocabularies are 'shared'"),
    ({"vocabularies": "separate", "source_eos_id": 3}, "source_eos_id and source_unk_id are both 3"),
    ({"ban_special_pieces": None}, "ban_special_pieces is None, expected True"),
    ({"banned_ids": 4}, "banned_ids is 4, expected a list of ascending ids"),
    ({"banned_ids": [4, 4]}, "banned_ids is (4, 4), expected a list of ascending ids"),
    ({"banned_ids": ["4"]}, "banned_ids is ('4',), expected a list of ascending ids"),
    ({"banned_ids": [4, 1 << 24]}, "banned_ids has 16777216, expected ids from 0 to"),
    ({"banned_ids": [2]}, "banned_ids has 2, which is eos_id"),
    ({"append_source_eos": "yes"}, "append_source_eos is 'yes', expected True"),
    ({"vocabularies": "joint"}, "vocabularies is 'joint', expected 'shared'"),
    ({"normalization_epsilon": 0.2}, "normalization_epsilon is 0.2, expected a number with a point"),
    ({"normalization_epsilon": 0.0}, "normalization_epsilon is 0.0, expected a number with a point"),
    ({"normalization_epsilon": 1}, "normalization_epsilon is 1, expected a number with a point"),
    ({"normalization_epsilon": None}, "normalization_epsilon is None, expected a number with a point"),
]


@pytest.mark.parametrize("described", [TRANSFORMER, STUDENT, FOREIGN, LSTM])
def test_json_and_back(described: Architecture) -> None:
    assert architecture_from_json(described.to_json()) == described
    assert type(described).from_json({"pad_id": None, "bos_id": None} | described.fields()) == described


@pytest.mark.parametrize("described", [TRANSFORMER, LSTM], ids=["transformer", "lstm"])
def test_defaults_are_fields_and_no_json(described: Architecture) -> None:
    """Files of today's networks hold the same bytes as before a field was added."""
    required = {field.name for field in fields(described) if field.default is MISSING} | {"type"}
    assert set(described.to_json()) == required
    defaults = DEFAULTS[described.type]
    assert {name: getattr(described, name) for name in defaults} == defaults
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
@pytest.mark.parametrize(("changes", "message"), OTHER_VALUES)
def test_other_values_are_refused(described: Architecture, changes: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigurationError, match=re.escape(f"architecture: {message}")):
        architecture_from_json(described.to_json() | changes)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("activation", "tanh", "'relu'"),
        ("positions", "split", "'interleaved'"),
        ("position_offset", 1025, "a whole number from 0 to 1024"),
        ("embedding_norm", 1, "False"),
    ],
)
def test_other_values_of_a_transformer_are_refused(name: str, value: object, expected: str) -> None:
    with pytest.raises(ConfigurationError, match=f"architecture: {name} is {value!r}, expected {expected}"):
        architecture_from_json(TRANSFORMER.to_json() | {name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("embeddings", "separate"),
        ("output_projection", "untied"),
        ("output_bias", True),
        ("scale_embeddings", False),
        ("first_decoder_input", "zero"),
    ],
)
def test_options_that_an_lstm_does_not_have_are_refused(name: str, value: object) -> None:
    with pytest.raises(ConfigurationError, match=f"architecture: {name} is {value!r}, expected"):
        architecture_from_json(LSTM.to_json() | {name: value})


def test_special_ids_of_the_source_lie_within_its_vocabulary() -> None:
    changes = {"embeddings": "separate", "vocabularies": "separate", "source_vocabulary_size": 20, "eos_id": 30}
    with pytest.raises(ConfigurationError, match="special ids of the source are not all below its vocabulary's size"):
        architecture_from_json(TRANSFORMER.to_json() | changes)
    described = architecture_from_json(TRANSFORMER.to_json() | changes | {"source_eos_id": 2})
    assert described.source_special_ids == (0, None, 2, 3)
    assert described.special_ids == (0, 1, 30, 3)


@pytest.mark.parametrize(
    ("described", "changes", "kept"),
    [
        (TRANSFORMER, {"tied_decoder_layers": True, "decoder_layers": 256, "attention_dimension": 2056}, "target"),
        (TRANSFORMER, {"decoder_autoregression": "ssru", "decoder_layers": 9, "attention_dimension": 65536}, "source"),
        (TRANSFORMER, {"decoder_autoregression": "ssru", "decoder_layers": 17, "model_dimension": 65536}, "target"),
        (LSTM, {"decoder_layers": 256, "recurrent_dimension": 2050}, "target"),
    ],
)
def test_decoders_that_keep_too_much_of_a_position_are_refused(
    described: Architecture, changes: dict[str, object], kept: str
) -> None:
    """Layers that are tied, or of few bits, would take memory out of proportion to a file."""
    with pytest.raises(ConfigurationError, match=f"numbers of each {kept} position, expected at most 1048576"):
        architecture_from_json(described.to_json() | changes)
    largest = {"decoder_layers": 256, "attention_dimension": 2048, "tied_decoder_layers": True}
    assert architecture_from_json(TRANSFORMER.to_json() | largest).decoder_layers == 256


def test_options_of_average_attention_belong_to_it() -> None:
    for name, value in (("dimension", 9), ("activation", "swish"), ("gate", False)):
        with pytest.raises(ConfigurationError, match=f"average_attention_{name} is given, but the decoder has no such"):
            architecture_from_json(TRANSFORMER.to_json() | {f"average_attention_{name}": value})


@pytest.mark.parametrize("name", ["activation", "positions", "norm", "surprise"])
def test_an_lstm_has_no_such_field(name: str) -> None:
    with pytest.raises(ConfigurationError, match=f"unknown field '{name}'"):
        architecture_from_json(LSTM.to_json() | {name: "relu"})


@pytest.mark.parametrize("described", [TRANSFORMER, LSTM], ids=["transformer", "lstm"])
def test_the_schema_knows_every_field(described: Architecture) -> None:
    definition = SCHEMA["$defs"][described.type]
    assert set(definition["properties"]) == {field.name for field in fields(described)}
    assert set(definition["required"]) == set(described.to_json())


@pytest.mark.parametrize("described", [TRANSFORMER, STUDENT, FOREIGN, LSTM])
def test_the_schema_takes_what_the_reader_takes(described: Architecture) -> None:
    written = described.to_json()
    ARCHITECTURE_SCHEMA.validate(written)
    ARCHITECTURE_SCHEMA.validate(DEFAULTS[described.type] | {"banned_ids": []} | written)
    for name in written:
        assert not ARCHITECTURE_SCHEMA.is_valid(written | {name: [None]})


def test_special_pieces_by_their_roles() -> None:
    assert TRANSFORMER.first_input_id == TRANSFORMER.bos_id == 1
    assert TRANSFORMER.never_generated_ids == (0, 1, 3)
    assert FOREIGN.first_input_id is None
    assert FOREIGN.never_generated_ids == (4, 7)
    assert FOREIGN.special_ids == (None, None, 0, 59)
    assert FOREIGN.source_special_ids == (2, None, 69, 1)


def test_matrices_of_separate_embeddings_and_outputs() -> None:
    shapes = FOREIGN.parameter_shapes()
    model = FOREIGN.model_dimension
    assert shapes["embedding.weight"] == shapes["output.weight"] == (FOREIGN.vocabulary_size, model)
    assert shapes["source_embedding.weight"] == (70, model)
    assert shapes["output.bias"] == (FOREIGN.vocabulary_size,)
    assert shapes["encoder.embedding_norm.weight"] == shapes["decoder.embedding_norm.bias"] == (model,)
    assert FOREIGN.source_size == 70


def test_descriptions_are_values() -> None:
    for described in (TRANSFORMER, STUDENT, LSTM):
        same = type(described).from_json(described.to_json())
        assert same == described and hash(same) == hash(described)
        assert eval(repr(described)) == described
        assert dataclasses.replace(described, encoder_layers=described.encoder_layers, banned_ids=(5,)) != described
    assert len({TRANSFORMER, STUDENT, LSTM}) == 3 and TRANSFORMER != "transformer"
