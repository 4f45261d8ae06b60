"""Exports a Transformer to Marian: `model.npz` and its vocabulary.

Marian's position encoding differs (all sines before all cosines, other frequencies), and it starts a translation with
a vector of zeros instead of BOS: with the same weights it writes other translations in the same time.
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
NEVER: Final = -1e4  # bias of pieces that must not be output


def write_marian_model(
    weights: Mapping[str, Floats], architecture: Architecture, pieces: Sequence[str], folder: Path
) -> None:
    """Write `model.npz` and `vocabulary.yml`; the model never outputs EOS, so that a limit sets the lengths.

    Args:
        weights: our name -> parameter, float32.
        architecture: a post-norm Transformer with attention as wide as the model, and equal, untied layers.
        pieces: pieces of the vocabulary in the order of ids.
        folder: an existing folder.

    Raises:
        ConfigurationError: the architecture is another one.
    """
    if not _known(architecture):
        raise ConfigurationError(
            "the export to Marian supports only post-norm Transformers with attention as wide as the model, and layers "
            "of equal size that are not tied"
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
        """Return all tensors of the network."""
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
        """Add the query, key and value projections, split from our fused ones, the output projection and the norm."""
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
        """Add one of our products, split evenly into Marian's; missing biases are zeros."""
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
    """Return the options that Marian stores in a model; all are required."""
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
