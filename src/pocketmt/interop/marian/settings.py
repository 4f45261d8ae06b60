"""The settings of a Marian model (`special:model.yml`), written from our description of its network."""

import re
from collections.abc import Mapping
from typing import Final

from pocketmt.errors import InteropError
from pocketmt.interop.marian.description import OLD_ACTIVATIONS
from pocketmt.model_file.architecture import Architecture, TransformerArchitecture

MODEL_YML: Final = "special:model.yml"
Setting = str | bool | int | list[int]
_AUTOREGRESSION: Final = {"self_attention": "self-attention", "ssru": "rnn"}
# What engines look up though the network does not depend on it.
_ALWAYS: Final[dict[str, Setting]] = {
    "bert-train-type-embeddings": True,
    "bert-type-vocab-size": 2,
    "dec-cell-base-depth": 2,
    "dec-cell-high-depth": 1,
    "dim-rnn": 1024,
    "enc-cell": "gru",
    "enc-cell-depth": 1,
    "enc-type": "bidirectional",
    "input-types": [],
    "layer-normalization": False,
    "lemma-dim-emb": 0,
    "right-left": False,
    "skip": False,
    "tied-embeddings-src": False,
    "transformer-aan-activation": "swish",
    "transformer-aan-depth": 2,
    "transformer-aan-nogate": False,
    "transformer-dim-aan": 2048,
    "transformer-ffn-depth": 2,
    "transformer-guided-alignment-layer": "last",
    "transformer-no-projection": False,
    "transformer-pool": False,
    "transformer-train-position-embeddings": False,
    "type": "transformer",
    "ulr": False,
    "ulr-dim-emb": 0,
    "ulr-trainable-transformation": False,
    "version": "v1.9.56 written by PocketMT",
}


def settings_of(architecture: Architecture) -> dict[str, Setting]:
    """Return the settings of a Marian model; raises InteropError, naming the field, for what Marian does not have."""
    if not isinstance(architecture, TransformerArchitecture):
        raise InteropError(f"Marian has no network of type {architecture.type!r} as PocketMT has it")
    dimension = architecture.model_dimension
    _refuse(architecture, "attention_dimension", dimension)
    _refuse(architecture, "scale_embeddings", True)
    _refuse(architecture, "position_offset", 0)
    _refuse(architecture, "positions", "concatenated_inclusive")
    _refuse(architecture, "first_decoder_input", "zero")
    _refuse(architecture, "append_source_eos", True)
    for name in architecture.unpruned_sizes():
        _refuse(architecture, name, ())
    activations = {ours: theirs for theirs, ours in OLD_ACTIVATIONS.items()}
    if architecture.activation not in activations:
        _refuse(architecture, "activation", "relu")
    if architecture.decoder_autoregression not in _AUTOREGRESSION:
        _refuse(architecture, "decoder_autoregression", "ssru")
    pre = architecture.pre_norm
    shared = architecture.embeddings == "shared"
    tied = architecture.output_projection == "tied"
    return _ALWAYS | {
        "dec-cell": "ssru" if architecture.decoder_autoregression == "ssru" else "gru",
        "dec-depth": architecture.decoder_layers,
        "dim-emb": dimension,
        "dim-vocabs": [
            architecture.source_vocabulary_size or architecture.vocabulary_size,
            architecture.vocabulary_size,
        ],
        "enc-depth": architecture.encoder_layers,
        "output-omit-bias": not architecture.output_bias,
        "tied-embeddings": tied and not shared,
        "tied-embeddings-all": tied and shared,
        "transformer-decoder-autoreg": _AUTOREGRESSION[architecture.decoder_autoregression],
        "transformer-dim-ffn": architecture.feed_forward_dimension,
        "transformer-ffn-activation": activations[architecture.activation],
        "transformer-heads": architecture.attention_heads,
        "transformer-postprocess": "da" if pre else "dan",
        "transformer-postprocess-emb": "nd" if architecture.embedding_norm else "d",
        "transformer-postprocess-top": "n" if pre else "",
        "transformer-preprocess": "n" if pre else "",
        "transformer-tied-layers": [1] * architecture.decoder_layers if architecture.tied_decoder_layers else [],
    }


def _refuse(architecture: TransformerArchitecture, field: str, only: object) -> None:
    value = getattr(architecture, field)
    if value != only:
        raise InteropError(f"Marian has no network with {field} {value!r:.80}, only with {only!r}")


def format_settings(settings: Mapping[str, Setting]) -> bytes:
    """Return settings as YAML, in the order of their names, with the NUL that ends them."""
    lines = []
    for key, value in sorted(settings.items()):
        if isinstance(value, list):
            lines += [f"{key}:", *([f"  - {_text(item)}" for item in value] or ["  []"])]
        else:
            lines.append(f"{key}: {_text(value)}")
    return ("\n".join(lines) + "\n").encode() + b"\0"


def _text(value: str | bool | int) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str) and not re.fullmatch(r"[A-Za-z][A-Za-z0-9_ .;:+-]*", value):
        return f'"{value}"'
    return str(value)
