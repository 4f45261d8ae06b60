"""Writing a Marian model: `model.npz` with its configuration, vocabularies, and a `decoder.yml` that names them."""

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.lib import format as npy

from pocketmt.errors import InteropError
from pocketmt.interop.field_values import check_equal_layers, check_fields
from pocketmt.interop.foreign_model import ForeignModel
from pocketmt.interop.foreign_tensor import ForeignTensor, as_float32, rows_of, transposed
from pocketmt.interop.left_out import notes_of_left_out
from pocketmt.interop.marian.description import (
    ACTIVATIONS,
    NORMALIZATION_EPSILON,
    OLD_ACTIVATIONS,
    MarianNetwork,
)
from pocketmt.interop.marian.names import Form, place
from pocketmt.interop.marian.npz_file import CONFIGURATION
from pocketmt.interop.marian.vocabularies import never_generated
from pocketmt.model_file.architecture import Architecture, TransformerArchitecture
from pocketmt.model_file.vocabularies import load_checked
from pocketmt.text.vocabulary import Vocabulary

WEIGHTS: Final = "model.npz"
# Versions whose activations a network may have; the newer one is that which exports were compared with.
_OLD_VERSION, _NEW_VERSION = "v1.12.0", "v1.12.42"
_AUTOREGRESSION: Final = {
    "self_attention": "self-attention",
    "ssru": "rnn",
    "average_attention": "average-attention",
}


def write_model(model: ForeignModel, folder: Path) -> tuple[str, ...]:
    """Write a folder; returns notes, and raises InteropError naming what Marian does not have."""
    architecture = checked_architecture(model.architecture)
    stored = architecture.stored_decoder_layers
    network = MarianNetwork(architecture, tuple(range(1, stored + 1)))
    vocabularies, notes = write_vocabularies(model, folder)
    with zipfile.ZipFile(folder / WEIGHTS, "w", zipfile.ZIP_STORED) as archive:
        for name, tensor in _tensors(model, network):
            _write_tensor(archive, name, tensor)
        content = np.frombuffer(configuration_text(architecture).encode() + b"\0", np.int8)
        buffer = io.BytesIO()
        npy.write_array(buffer, content)
        archive.writestr(f"{CONFIGURATION}.npy", buffer.getvalue())
    settings = {"relative-paths": True, "models": [WEIGHTS], "vocabs": vocabularies, "beam-size": 4, "normalize": 1.0}
    (folder / "decoder.yml").write_text(_yaml(settings), encoding="utf-8")
    if _version_of(architecture)[0] == _OLD_VERSION:
        notes += ("gelu is that of Marian up to 1.12.0, x * sigmoid(1.702 x); newer versions compute another one",)
    return notes


def checked_architecture(architecture: Architecture) -> TransformerArchitecture:
    """Return the architecture; InteropError for the first field that Marian has not."""
    if not isinstance(architecture, TransformerArchitecture):
        raise InteropError(f"the architecture's type is {architecture.type!r}, which is not written for Marian")
    only: dict[str, tuple[object, ...]] = {
        "first_decoder_input": ("zero",),
        "positions": ("concatenated_inclusive",),
        "position_offset": (0,),
        "normalization_epsilon": (NORMALIZATION_EPSILON,),
        "scale_embeddings": (True,),
        "attention_bias": (True,),
        "append_source_eos": (True,),
        "attention_dimension": (architecture.model_dimension,),
        "activation": tuple(_version_of(architecture)[1]),
        "encoder_heads": ((),),
        "decoder_heads": ((),),
        "decoder_cross_heads": ((),),
    }
    check_fields(architecture, only, "Marian")
    check_equal_layers(architecture, "Marian's")
    return architecture


def _version_of(architecture: TransformerArchitecture) -> tuple[str, dict[str, str]]:
    """Return a version of Marian, and our names of its activations -> its own."""
    used = architecture.activation, architecture.average_attention_activation
    version, names = (_OLD_VERSION, OLD_ACTIVATIONS) if "gelu_sigmoid" in used else (_NEW_VERSION, ACTIVATIONS)
    return version, {ours: marian for marian, ours in names.items()}


def _tensors(model: ForeignModel, network: MarianNetwork) -> Iterator[tuple[str, ForeignTensor]]:
    for name, tensor in model.tensors.items():
        where = place(name, network)
        rows = tensor.shape[0] // len(where.names)
        for index, marian in enumerate(where.names):
            part = as_float32(tensor) if len(where.names) == 1 else rows_of(tensor, index * rows, (index + 1) * rows)
            yield marian, _stored(part, where.form)


def _stored(tensor: ForeignTensor, form: Form) -> ForeignTensor:
    if form == "matrix":
        return transposed(tensor)
    if form == "vector":
        return ForeignTensor((1, *tensor.shape), lambda: (tensor.read()[None],))
    return tensor


def _write_tensor(archive: zipfile.ZipFile, name: str, tensor: ForeignTensor) -> None:
    with archive.open(f"{name}.npy", "w", force_zip64=True) as stream:
        npy.write_array_header_1_0(stream, {"descr": "<f4", "fortran_order": False, "shape": tensor.shape})
        for block in tensor.blocks():
            stream.write(np.ascontiguousarray(block, "<f4").tobytes())


def configuration_text(architecture: TransformerArchitecture) -> str:
    """Return the configuration that Marian keeps beside the weights."""
    pre, nodes = architecture.pre_norm, architecture.feed_forward_dimension
    kind = architecture.decoder_autoregression
    shared = architecture.embeddings == "shared"
    tied = architecture.output_projection == "tied"
    version, activations = _version_of(architecture)
    values: dict[str, Any] = {
        "version": version,
        "type": "transformer",
        "dim-vocabs": [architecture.source_size, architecture.vocabulary_size],
        "dim-emb": architecture.model_dimension,
        "enc-depth": architecture.encoder_layers,
        "dec-depth": architecture.decoder_layers,
        "dec-cell": "ssru" if kind == "ssru" else "gru",
        "input-types": [],
        "layer-normalization": False,
        "lemma-dim-emb": 0,
        "output-omit-bias": not architecture.output_bias,
        "right-left": False,
        "skip": False,
        "tied-embeddings": tied and not shared,
        "tied-embeddings-all": tied and shared,
        "tied-embeddings-src": shared and not tied,
        "transformer-heads": architecture.attention_heads,
        "transformer-dim-ffn": (*architecture.encoder_feed_forward, nodes)[0],
        "transformer-decoder-dim-ffn": (*architecture.decoder_feed_forward, nodes)[0],
        "transformer-ffn-depth": 2,
        "transformer-decoder-ffn-depth": 2,
        "transformer-ffn-activation": activations[architecture.activation],
        "transformer-decoder-autoreg": _AUTOREGRESSION[kind],
        "transformer-guided-alignment-layer": "last",
        "transformer-no-projection": False,
        "transformer-preprocess": "n" if pre else "",
        "transformer-postprocess": "da" if pre else "dan",
        "transformer-postprocess-emb": "dn" if architecture.embedding_norm else "d",
        "transformer-postprocess-top": "n" if pre else "",
        "transformer-tied-layers": [1] * architecture.decoder_layers if architecture.tied_decoder_layers else [],
        "transformer-train-position-embeddings": False,
        "ulr": False,
    }
    return _yaml(values | (_average_attention(architecture) if kind == "average_attention" else {}))


def _average_attention(architecture: TransformerArchitecture) -> dict[str, Any]:
    nodes, activation = architecture.average_attention_dimension, architecture.average_attention_activation
    names = _version_of(architecture)[1]
    if activation not in names:
        raise InteropError(f"average_attention_activation is {activation!r}, Marian only has {list(names)}")
    return {
        "transformer-aan-depth": 2 if nodes else 1,
        "transformer-dim-aan": nodes or 2048,
        "transformer-aan-activation": names[activation],
        "transformer-aan-nogate": not architecture.average_attention_gate,
    }


def _yaml(values: dict[str, Any]) -> str:
    """Return lines of keys and values; JSON's values are YAML's, too."""
    return "".join(f"{key}: {json.dumps(value)}\n" for key, value in values.items())


def write_vocabularies(model: ForeignModel, folder: Path) -> tuple[list[str], tuple[str, ...]]:
    """Write the vocabularies; returns the names of the two sides' files, and notes."""
    found = load_checked(model.vocabularies, model.architecture)
    sides = [found.source] if found.shared else [found.source, found.target]
    if all(side.stored.pieces is None for side in sides):
        names = ["vocab.spm"] if found.shared else ["source.spm", "target.spm"]
        for name, side in zip(names, sides, strict=True):
            (folder / name).write_bytes(side.model)
    else:
        for name, side in (("source.spm", found.source), ("target.spm", found.target)):
            (folder / name).write_bytes(side.model)
        names = ["vocab.yml"] if found.shared else ["source.vocab.yml", "target.vocab.yml"]
        for name, side in zip(names, sides, strict=True):
            (folder / name).write_text(_table(side), encoding="utf-8")
    notes: tuple[str, ...] = ()
    if any(side.stored.normalization == "nfkc" for side in sides):
        notes = ("text must be in Unicode form NFKC: Marian does not normalize it so",)
    banned = {*model.architecture.banned_ids} - never_generated(found.target)
    notes += notes_of_left_out(model, held=(), generated=banned)
    return (names * 2)[:2] if len(names) == 1 else names, notes


def _table(side: Vocabulary) -> str:
    lines = []
    for id, piece in enumerate(side.pieces(range(len(side)))):
        # Every id has a line; one without a piece gets a text that no tokenizer gives.
        lines.append(f"{json.dumps(piece or f'<no piece {id}>', ensure_ascii=False)}: {id}\n")
    return "".join(lines)
