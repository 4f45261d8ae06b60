"""CTranslate2's names of our parameters."""

from typing import Final

ENCODER_EMBEDDING: Final = "encoder/embeddings_0/weight"
DECODER_EMBEDDING: Final = "decoder/embeddings/weight"
PROJECTION: Final = "decoder/projection/weight"
POSITIONS: Final = 1024  # rows of a table: CTranslate2 cuts sources there by default
ACTIVATIONS: Final = {"relu": 0, "gelu_tanh": 1, "swish": 2, "gelu": 3, "gelu_sigmoid": 4}
_PARTS: Final = {
    "self_attention.query_key_value": "self_attention/linear_0",
    "self_attention.output": "self_attention/linear_1",
    "self_attention_norm": "self_attention/layer_norm",
    "cross_attention.query": "attention/linear_0",
    "cross_attention.key_value": "attention/linear_1",
    "cross_attention.output": "attention/linear_2",
    "cross_attention_norm": "attention/layer_norm",
    "feed_forward.inner": "ffn/linear_0",
    "feed_forward.outer": "ffn/linear_1",
    "feed_forward_norm": "ffn/layer_norm",
}
_ENDS: Final = {
    "embedding.weight": DECODER_EMBEDDING,
    "source_embedding.weight": ENCODER_EMBEDDING,
    "output.weight": PROJECTION,
    "output.bias": "decoder/projection/bias",
}
_NORM: Final = {"weight": "gamma", "bias": "beta"}


def ctranslate2_name(name: str) -> str:
    """Return CTranslate2's name of a parameter."""
    if name in _ENDS:
        return _ENDS[name]
    stack, part, *rest = name.split(".")
    if part == "norm":
        return f"{stack}/layer_norm/{_NORM[rest[0]]}"
    if part == "embedding_norm":
        return f"{stack}/layernorm_embedding/{_NORM[rest[0]]}"
    index, *parts, kind = rest
    place = _PARTS[".".join(parts)]
    return f"{stack}/layer_{index}/{place}/{_NORM[kind] if place.endswith('norm') else kind}"
