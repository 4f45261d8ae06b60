"""Recorded attention weights are those that the network used."""

import math

import pytest
import torch
from torch import Tensor

from benchmarks.attention.weights import attention_weights
from pocketmt.model_file.architecture import AttentionKind
from pocketmt.models.attention import split_heads
from pocketmt.models.transformer import DecoderLayer, EncoderLayer, Transformer, causal_mask
from tests.small_network import architecture, random_transformer

SOURCE, TARGET = [5, 9, 17, 9], [8, 30, 31]
SOURCE_POSITIONS, TARGET_POSITIONS = len(SOURCE) + 1, len(TARGET) + 1


@pytest.fixture
def model() -> Transformer:
    return random_transformer(architecture())


def softmax_of(query: Tensor, key: Tensor, heads: int) -> Tensor:
    query, key = split_heads(query, heads)[0], split_heads(key, heads)[0]
    return (query @ key.transpose(1, 2) / math.sqrt(query.shape[-1])).softmax(dim=-1)


@torch.inference_mode()
def test_encoder_weights_by_hand(model: Transformer) -> None:
    layer = model.encoder.layers[0]
    assert isinstance(layer, EncoderLayer)
    attention = layer.self_attention
    query, key, _ = attention.query_key_value(model.embed_source(torch.tensor([[*SOURCE, 2]]))).chunk(3, dim=-1)
    found = attention_weights(model, "encoder", 0, SOURCE, TARGET)
    torch.testing.assert_close(found, softmax_of(query, key, attention.heads))


@torch.inference_mode()
def test_cross_weights_by_hand(model: Transformer) -> None:
    encoded, _ = model.encode(torch.tensor([[*SOURCE, 2]]))
    layer = model.decoder.layers[0]
    assert isinstance(layer, DecoderLayer)
    x = model.embed_target(torch.tensor([[1, *TARGET]]))
    update, _ = layer.self_attention(x, causal_mask(TARGET_POSITIONS, x.device))
    x = layer.self_attention_norm(x + update)
    attention = layer.cross_attention
    key, _ = attention.key_value(encoded).chunk(2, dim=-1)
    found = attention_weights(model, "cross", 0, SOURCE, TARGET)
    torch.testing.assert_close(found, softmax_of(attention.query(x), key, attention.heads))


@pytest.mark.parametrize(
    ("kind", "layers", "queries", "keys"),
    [
        ("cross", 1, TARGET_POSITIONS, SOURCE_POSITIONS),
        ("encoder", 2, SOURCE_POSITIONS, SOURCE_POSITIONS),
        ("decoder", 1, TARGET_POSITIONS, TARGET_POSITIONS),
    ],
)
def test_rows_add_up_to_one(model: Transformer, kind: AttentionKind, layers: int, queries: int, keys: int) -> None:
    assert len(model.architecture.heads_of_layers(kind)) == layers
    for layer in range(layers):
        weights = attention_weights(model, kind, layer, SOURCE, TARGET)
        assert weights.shape == (2, queries, keys)
        torch.testing.assert_close(weights.sum(dim=-1), torch.ones(2, queries))
        if kind == "decoder":
            assert not weights.triu(1).any()


def test_a_model_is_not_changed(model: Transformer) -> None:
    attention_weights(model, "cross", 0, SOURCE, TARGET)
    assert not any(module._forward_hooks for module in model.modules())
