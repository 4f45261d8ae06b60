"""Writing a Hugging Face folder of a Marian model."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from pocketmt.errors import InteropError
from pocketmt.interop.field_values import check_equal_layers, check_fields
from pocketmt.interop.foreign_model import ForeignModel
from pocketmt.interop.foreign_tensor import (
    ForeignTensor,
    as_float32,
    of_array,
    permuted,
    rows_of,
    with_row_of_zeros,
    with_zero_row,
)
from pocketmt.interop.hugging_face.tokenizer_writing import write_tokenizer
from pocketmt.interop.hugging_face.weights import (
    DECODER_EMBEDDING,
    ENCODER_EMBEDDING,
    OUTPUT,
    OUTPUT_BIAS,
    SHARED,
    foreign_names,
)
from pocketmt.interop.left_out import Part, notes_of_left_out
from pocketmt.model_file.architecture import Architecture, TransformerArchitecture

NORMALIZATION_EPSILON: Final = 1e-5
_ACTIVATIONS: Final = {
    "relu": "relu",
    "swish": "swish",
    "gelu": "gelu",
    "gelu_tanh": "gelu_new",
    "gelu_sigmoid": "quick_gelu",
}
_HELD: Final[tuple[Part, ...]] = ("languages",)
# Our parts of a layer by what has the elements of the stream: their rows, or their columns.
_WRITES_STREAM: Final = ("self_attention.output", "cross_attention.output", "feed_forward.outer")
_READS_STREAM: Final = (
    *("self_attention.query_key_value", "cross_attention.query", "cross_attention.key_value", "feed_forward.inner"),
)


def write_model(model: ForeignModel, folder: Path) -> tuple[str, ...]:
    """Write a folder; returns notes, and raises InteropError naming what Hugging Face's Marian does not have."""
    architecture = _checked(model.architecture)
    # Without a piece for padding, whose zeros may be the decoder's first input, one is added at the end.
    pad = architecture.vocabulary_size if architecture.pad_id is None else architecture.pad_id
    _check_padding(architecture, pad)
    notes = write_tokenizer(model, pad, folder)
    tensors = _tensors(model, architecture, adds_pad=architecture.pad_id is None)
    write_safetensors(folder / "model.safetensors", tensors)
    _write_json(folder / "config.json", _configuration(architecture, pad))
    _write_json(folder / "generation_config.json", _generation(architecture, pad))
    if architecture.tied_decoder_layers:
        notes += ("the decoder's tied layers are written one by one",)
    return (*notes, *notes_of_left_out(model, _HELD))


def _checked(architecture: Architecture) -> TransformerArchitecture:
    """Return the architecture; InteropError for the first field that the format has not."""
    if not isinstance(architecture, TransformerArchitecture):
        raise InteropError(f"the architecture's type is {architecture.type!r}, Hugging Face's Marian is a Transformer")
    only: dict[str, tuple[object, ...]] = {
        "norm": ("post",),
        "decoder_autoregression": ("self_attention",),
        "positions": ("concatenated", "interleaved"),
        "position_offset": (0,),
        "embedding_norm": (False,),
        "normalization_epsilon": (NORMALIZATION_EPSILON,),
        "append_source_eos": (True,),
        "attention_dimension": (architecture.model_dimension,),
        "encoder_heads": ((),),
        "decoder_heads": ((),),
        "decoder_cross_heads": ((),),
    }
    check_fields(architecture, only, "Hugging Face's Marian")
    check_equal_layers(architecture, "Hugging Face's")
    return architecture


def _check_padding(architecture: TransformerArchitecture, pad: int) -> None:
    """Raise InteropError if the one id of padding that the format has is no row of the source's embedding."""
    sizes = architecture.source_size, architecture.vocabulary_size
    if sizes[0] != sizes[1] and (architecture.pad_id is None or pad >= sizes[0]):
        raise InteropError(
            f"two vocabularies of {sizes[0]} and {sizes[1]} pieces without a piece for padding that has the same id in "
            "both, which Hugging Face's Marian needs"
        )
    never = {*architecture.never_generated_ids, architecture.vocabulary_size}
    if architecture.first_input_id is None and pad not in never:
        raise InteropError(
            f"first_decoder_input is 'zero', which Hugging Face's Marian has as the piece for padding, {pad}, with an "
            "embedding of zeros, but the model may generate this piece: no other embedding would be left for it"
        )


def _tensors(model: ForeignModel, architecture: TransformerArchitecture, adds_pad: bool) -> dict[str, ForeignTensor]:
    found: dict[str, ForeignTensor] = {}
    order = _order(architecture)
    ends = {
        "embedding.weight": SHARED if architecture.embeddings == "shared" else DECODER_EMBEDDING,
        "source_embedding.weight": ENCODER_EMBEDDING,
        "output.weight": OUTPUT,
        "output.bias": OUTPUT_BIAS,
    }
    for name, tensor in ((name, as_float32(tensor)) for name, tensor in model.tensors.items()):
        moved = tensor if order is None else _reordered(name, tensor, order)
        if name == "embedding.weight" and architecture.first_input_id is None and architecture.pad_id is not None:
            moved = with_row_of_zeros(moved, architecture.pad_id)  # the decoder's first input
        if name in ends:
            padded = with_zero_row(moved) if adds_pad else moved
            found[ends[name]] = _as_row(padded) if name == "output.bias" else padded
            continue
        for copy in _copies(name, architecture):
            names = foreign_names(copy)
            rows = moved.shape[0] // len(names)
            for index, foreign in enumerate(names):
                found[foreign] = rows_of(moved, index * rows, (index + 1) * rows) if len(names) > 1 else moved
    if not architecture.attention_bias:
        found |= _zero_biases(found)
    if OUTPUT_BIAS not in found:
        rows = architecture.vocabulary_size + adds_pad
        found[OUTPUT_BIAS] = of_array(np.zeros((1, rows), np.float32))
    return found


def _as_row(vector: ForeignTensor) -> ForeignTensor:
    return ForeignTensor((1, *vector.shape), lambda: (vector.read()[None],))


def _copies(name: str, architecture: TransformerArchitecture) -> list[str]:
    """Return the names of a parameter in all layers that use it."""
    if architecture.tied_decoder_layers and name.startswith("decoder.layers.0."):
        rest = name.removeprefix("decoder.layers.0.")
        return [f"decoder.layers.{index}.{rest}" for index in range(architecture.decoder_layers)]
    return [name]


def _zero_biases(found: Mapping[str, ForeignTensor]) -> dict[str, ForeignTensor]:
    """Return the biases of attention that the format always has."""
    biases = {}
    for name, tensor in found.items():
        bias = name.removesuffix("weight") + "bias"
        if "_attn." in name and name.endswith("weight") and bias not in found:
            biases[bias] = of_array(np.zeros(tensor.shape[0], np.float32))
    return biases


def _order(architecture: TransformerArchitecture) -> Any:
    """Return the elements of the stream in the format's order, sines before cosines; None: they are in it.

    Layer normalization does not depend on the order, so that all numbers stay the same.
    """
    if architecture.positions != "interleaved":
        return None
    elements = np.arange(architecture.model_dimension)
    return np.concatenate([elements[0::2], elements[1::2]])


def _reordered(name: str, tensor: ForeignTensor, order: Any) -> ForeignTensor:
    """Return a parameter for a stream whose elements have another order."""
    if name in ("embedding.weight", "source_embedding.weight", "output.weight"):
        return permuted(tensor, order, 1)
    if name == "output.bias":
        return tensor
    part = name.rpartition(".")[0]
    if part.endswith(_READS_STREAM):
        return permuted(tensor, order, 1) if name.endswith("weight") else tensor
    assert part.endswith(_WRITES_STREAM) or part.endswith("norm")
    return permuted(tensor, order, 0)


def _configuration(architecture: TransformerArchitecture, pad: int) -> dict[str, Any]:
    added = architecture.pad_id is None
    nodes = architecture.feed_forward_dimension
    return {
        "architectures": ["MarianMTModel"],
        "model_type": "marian",
        "d_model": architecture.model_dimension,
        "encoder_layers": architecture.encoder_layers,
        "decoder_layers": architecture.decoder_layers,
        "encoder_attention_heads": architecture.attention_heads,
        "decoder_attention_heads": architecture.attention_heads,
        "encoder_ffn_dim": (*architecture.encoder_feed_forward, nodes)[0],
        "decoder_ffn_dim": (*architecture.decoder_feed_forward, nodes)[0],
        "activation_function": _ACTIVATIONS[architecture.activation],
        "scale_embedding": architecture.scale_embeddings,
        "share_encoder_decoder_embeddings": architecture.embeddings == "shared",
        "tie_word_embeddings": architecture.output_projection == "tied",
        "vocab_size": architecture.source_size + added,
        "decoder_vocab_size": architecture.vocabulary_size + added,
        "max_position_embeddings": 1024,
        "is_encoder_decoder": True,
        "dtype": "float32",
        **_pieces(architecture, pad),
    }


def _generation(architecture: TransformerArchitecture, pad: int) -> dict[str, Any]:
    banned = sorted({*architecture.never_generated_ids} | ({pad} if architecture.pad_id is None else set()))
    return {**_pieces(architecture, pad), "bad_words_ids": [[id] for id in banned] or None, "max_length": 512}


def _pieces(architecture: TransformerArchitecture, pad: int) -> dict[str, Any]:
    start = architecture.first_input_id
    return {
        "eos_token_id": architecture.eos_id,
        "forced_eos_token_id": architecture.eos_id,
        "pad_token_id": pad,
        "bos_token_id": architecture.bos_id,
        "decoder_start_token_id": pad if start is None else start,
    }


def write_safetensors(path: Path, tensors: Mapping[str, ForeignTensor]) -> None:
    """Write tensors in float32, one block at a time."""
    entries: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    offset = 0
    for name, tensor in tensors.items():
        size = 4 * int(np.prod(tensor.shape, dtype=np.int64))
        entries[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [offset, offset + size]}
        offset += size
    header = json.dumps(entries).encode()
    header += b" " * (-len(header) % 8)
    with path.open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        for block in _bytes(tensors):
            file.write(block)


def _bytes(tensors: Mapping[str, ForeignTensor]) -> Iterator[bytes]:
    for tensor in tensors.values():
        for block in tensor.blocks():
            yield np.ascontiguousarray(block, "<f4").tobytes()


def _write_json(path: Path, values: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(values, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
