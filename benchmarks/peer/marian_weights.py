"""A Transformer under Marian's names: `model.npz` and its vocabulary.

Marian adds sinusoids of its own, all sines before all cosines and of other frequencies than ours, and begins a
translation with a vector of zeros in the place of `bos`: the same weights write other words there, in the same time.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy
from numpy.typing import NDArray

from pocketmt.errors import ConfigurationError
from pocketmt.model_file import Architecture, TransformerArchitecture
from pocketmt.text.vocabulary import SPECIAL_PIECES

Floats = NDArray[numpy.float32]
NEVER: Final = -1e4  # the bias of pieces that must not be written


def write_marian_model(
    weights: Mapping[str, Floats], architecture: Architecture, pieces: Sequence[str], folder: Path
) -> None:
    """Write `model.npz` and `vocabulary.yml`; the model ends no sentence, so that a limit says how long each is.

    Args:
        weights: parameters by our names, float32.
        architecture: of a post-norm Transformer whose attention is as wide as the model, its layers alike and untied.
        pieces: of the vocabulary, by id.
        folder: that exists.

    Raises:
        ConfigurationError: for another architecture.
    """
    if not _known(architecture):
        raise ConfigurationError(
            "Marian's Transformer here has norms after its layers, attention as wide as the model, and layers of one "
            "size with parameters of their own"
        )
    assert isinstance(architecture, TransformerArchitecture)
    tensors = _Renamed(weights).all(architecture)
    content = json.dumps(_options(architecture)).encode() + b"\0"  # which is YAML, too
    tensors["special:model.yml"] = numpy.frombuffer(content, dtype=numpy.int8)
    numpy.savez(folder / "model.npz", **tensors)
    lines = (f"{json.dumps(piece, ensure_ascii=False)}: {index}\n" for index, piece in enumerate(pieces))
    (folder / "vocabulary.yml").write_text("".join(lines), encoding="utf-8")


def _known(architecture: Architecture) -> bool:
    return (
        isinstance(architecture, TransformerArchitecture)
        and architecture.norm == "post"
        and architecture.attention_dimension == architecture.model_dimension
        and replace(architecture, decoder_autoregression="self_attention").plain
    )


class _Renamed:
    """Collects tensors under Marian's names: matrices [inputs, outputs], vectors [1, outputs]."""

    def __init__(self, weights: Mapping[str, Floats]) -> None:
        self._weights = weights
        self._tensors: dict[str, Any] = {}

    def all(self, architecture: TransformerArchitecture) -> dict[str, Any]:
        """Return every tensor of the network."""
        embedding = self._weights["embedding.weight"]
        bias = numpy.zeros((1, len(embedding)), numpy.float32)
        bias[0, :SPECIAL_PIECES] = NEVER
        self._tensors = {"Wemb": embedding, "decoder_ff_logit_out_b": bias}
        for side, layers in (("encoder", architecture.encoder_layers), ("decoder", architecture.decoder_layers)):
            for index in range(layers):
                ours, marian = f"{side}.layers.{index}", f"{side}_l{index + 1}"
                if side == "decoder" and architecture.decoder_autoregression == "ssru":
                    self._ssru(ours, marian)
                else:
                    self._attention(f"{ours}.self_attention", ("query_key_value",), f"{marian}_self")
                if side == "decoder":
                    self._attention(f"{ours}.cross_attention", ("query", "key_value"), f"{marian}_context")
                self._linear(f"{ours}.feed_forward.inner", [(f"{marian}_ffn_W1", f"{marian}_ffn_b1")])
                self._linear(f"{ours}.feed_forward.outer", [(f"{marian}_ffn_W2", f"{marian}_ffn_b2")])
                self._norm(f"{ours}.feed_forward_norm", f"{marian}_ffn_ffn")
        return self._tensors

    def _attention(self, ours: str, inputs: Sequence[str], marian: str) -> None:
        """Three projections in as many products as we have, one out, and the norm behind them."""
        names = [(f"{marian}_W{letter}", f"{marian}_b{letter}") for letter in "qkv"]
        for product in inputs:
            count = product.count("_") + 1
            self._linear(f"{ours}.{product}", names[:count])
            del names[:count]
        self._linear(f"{ours}.output", [(f"{marian}_Wo", f"{marian}_bo")])
        self._norm(f"{ours}_norm", f"{marian}_Wo")

    def _ssru(self, ours: str, marian: str) -> None:
        weight, forget = numpy.split(self._weights[f"{ours}.ssru.input_forget.weight"], 2)
        self._tensors[f"{marian}_rnn_W"] = numpy.ascontiguousarray(weight.T)
        self._tensors[f"{marian}_rnn_Wf"] = numpy.ascontiguousarray(forget.T)
        self._tensors[f"{marian}_rnn_bf"] = self._weights[f"{ours}.ssru.forget_bias"][None]
        self._norm(f"{ours}.ssru_norm", f"{marian}_rnn_ffn")

    def _linear(self, ours: str, marian: Sequence[tuple[str, str]]) -> None:
        """One product of ours is as many of Marian's, of as many rows each; a bias that we have not is zeros."""
        weight = self._weights[f"{ours}.weight"]
        bias = self._weights.get(f"{ours}.bias", numpy.zeros(len(weight), numpy.float32))
        parts = zip(marian, numpy.split(weight, len(marian)), numpy.split(bias, len(marian)), strict=True)
        for (matrix_name, bias_name), matrix, vector in parts:
            self._tensors[matrix_name] = numpy.ascontiguousarray(matrix.T)
            self._tensors[bias_name] = vector[None]

    def _norm(self, ours: str, marian: str) -> None:
        self._tensors[f"{marian}_ln_scale"] = self._weights[f"{ours}.weight"][None]
        self._tensors[f"{marian}_ln_bias"] = self._weights[f"{ours}.bias"][None]


def _options(architecture: TransformerArchitecture) -> dict[str, Any]:
    """Return what Marian keeps in a model of its own; all that it asks for must be said."""
    recurrent = architecture.decoder_autoregression == "ssru"
    return {
        "version": "v1.12.0",
        "type": "transformer",
        "dim-vocabs": [architecture.vocabulary_size] * 2,
        "dim-emb": architecture.model_dimension,
        "enc-depth": architecture.encoder_layers,
        "dec-depth": architecture.decoder_layers,
        "tied-embeddings-all": True,
        "transformer-heads": architecture.attention_heads,
        "transformer-dim-ffn": architecture.feed_forward_dimension,
        "transformer-decoder-dim-ffn": architecture.feed_forward_dimension,
        "transformer-ffn-depth": 2,
        "transformer-decoder-ffn-depth": 2,
        "transformer-ffn-activation": "relu",
        "transformer-preprocess": "",
        "transformer-postprocess": "dan",
        "transformer-postprocess-emb": "d",
        "transformer-decoder-autoreg": "rnn" if recurrent else "self-attention",
        "dec-cell": "ssru" if recurrent else "gru",
        "layer-normalization": False,
        "input-types": [],
    }
