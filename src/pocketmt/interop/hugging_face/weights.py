"""Tensors of a Hugging Face Transformer under our names."""

from typing import Final

import numpy as np

from pocketmt.errors import InteropError
from pocketmt.interop.foreign_tensor import Float32, ForeignTensor, equal, of_array, stacked
from pocketmt.interop.hugging_face.tensors import TensorsByName
from pocketmt.interop.position_table import TABLE_ERROR, position_table
from pocketmt.model_file.architecture import TransformerArchitecture

SHARED: Final = "model.shared.weight"
ENCODER_EMBEDDING: Final = "model.encoder.embed_tokens.weight"
DECODER_EMBEDDING: Final = "model.decoder.embed_tokens.weight"
OUTPUT: Final = "lm_head.weight"
OUTPUT_BIAS: Final = "final_logits_bias"
# Tables that transformers' Marian reads, and M2M100 computes.
_POSITIONS: Final = tuple(f"model.{stack}.embed_positions.weight" for stack in ("encoder", "decoder"))
# Tables that the configuration defines.
_COMPUTED: Final = frozenset(
    f"model.{stack}.embed_positions.{name}" for stack in ("encoder", "decoder") for name in ("weight", "weights")
)
# Our parts of a layer -> the parts that are stacked there, and whether the decoder alone has them.
PARTS: Final = {
    "self_attention.query_key_value": ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
    "self_attention.output": ("self_attn.out_proj",),
    "self_attention_norm": ("self_attn_layer_norm",),
    "cross_attention.query": ("encoder_attn.q_proj",),
    "cross_attention.key_value": ("encoder_attn.k_proj", "encoder_attn.v_proj"),
    "cross_attention.output": ("encoder_attn.out_proj",),
    "cross_attention_norm": ("encoder_attn_layer_norm",),
    "feed_forward.inner": ("fc1",),
    "feed_forward.outer": ("fc2",),
    "feed_forward_norm": ("final_layer_norm",),
}


class Weights:
    """The tensors of a checkpoint; those that are never taken are refused by `finish`."""

    def __init__(self, tensors: TensorsByName) -> None:
        self._tensors = tensors.found
        self._other_types = tensors.other_types
        self._taken: set[str] = set(_COMPUTED)

    def take(self, name: str, *shape: int) -> ForeignTensor:
        """Return a tensor; InteropError if it is missing or has another shape or type."""
        if not self._holds(name):
            raise InteropError(f"the checkpoint has no tensor {name}")
        tensor = self._tensors[name]
        if tensor.shape != shape:
            raise InteropError(f"tensor {name} is {list(tensor.shape)}, the configuration says {list(shape)}")
        self._taken.add(name)
        return tensor

    def take_tied(self, names: tuple[str, ...], *shape: int) -> ForeignTensor:
        """Return a tensor that has several names, of which a checkpoint holds any; all must be equal."""
        held = self._held(names)
        first, *others = (self.take(name, *shape) for name in held)
        for name, other in zip(held[1:], others, strict=True):
            if not equal(first, other):
                raise InteropError(f"tensors {held[0]} and {name} differ, but the configuration says that they are one")
        return first

    def check_pieces(self, source: int, target: int, shared: bool) -> None:
        """Check the rows of embeddings, before anything of the sizes that the configuration says is made.

        Args:
            source, target: pieces of the two sides.
            shared: whether one matrix embeds both.

        Raises InteropError if an embedding is missing or has other rows.
        """
        if shared:
            self._check_rows((SHARED, OUTPUT, ENCODER_EMBEDDING, DECODER_EMBEDDING), target)
        else:
            self._check_rows((ENCODER_EMBEDDING,), source)
            self._check_rows((DECODER_EMBEDDING, OUTPUT), target)

    def output_bias(self, size: int) -> Float32 | None:
        """Return `final_logits_bias` as a vector; None if it is missing or zero."""
        if not self._holds(OUTPUT_BIAS):
            return None
        bias = self.take(OUTPUT_BIAS, 1, size).read()[0]
        return bias if bias.any() else None

    def check_positions(self, dimension: int) -> None:
        """Raise InteropError if a table of positions, which transformers' Marian reads, is not the computed one."""
        for name in _POSITIONS:
            if not self._holds(name):
                continue
            table, first = self._tensors[name], 0
            for block in table.blocks() if table.shape[1:] == (dimension,) else []:
                computed = position_table("concatenated", first, len(block), dimension)
                if not np.abs(block - computed).max() <= TABLE_ERROR:
                    break
                first += len(block)
            if first != table.shape[0]:
                raise InteropError(
                    f"tensor {name} holds other positions than the sinusoids of {dimension} numbers that PocketMT has"
                )

    def finish(self) -> None:
        """Raise InteropError if the checkpoint has a tensor that was not taken."""
        if unknown := sorted(self._tensors.keys() - self._taken):
            raise InteropError(f"the checkpoint has the tensor {unknown[0]!r:.120}, which PocketMT has no place for")

    def _check_rows(self, names: tuple[str, ...], rows: int) -> None:
        for name in self._held(names):
            shape = self._tensors[name].shape
            if shape[:1] != (rows,):
                raise InteropError(f"tensor {name} is {list(shape)}, the configuration says {rows} rows")

    def _holds(self, name: str) -> bool:
        """Return whether there is a tensor of a name; InteropError if it has a type that PocketMT does not read."""
        if name in self._other_types:
            raise InteropError(f"tensor {name} is {self._other_types[name]:.40}: save it as float32")
        return name in self._tensors

    def _held(self, names: tuple[str, ...]) -> list[str]:
        """Return those of several names of one tensor that the checkpoint has; InteropError if it has none."""
        held = [name for name in names if self._holds(name)]
        if not held:
            others = f", nor one of {', '.join(names[1:])}" if names[1:] else ""
            raise InteropError(f"the checkpoint has no tensor {names[0]}{others}")
        return held


def network_tensors(
    weights: Weights, architecture: TransformerArchitecture, output_bias: Float32 | None
) -> dict[str, ForeignTensor]:
    """Return every parameter of the architecture by our name; raises InteropError as `Weights` does."""
    tensors = _ends(weights, architecture)
    if output_bias is not None:
        tensors["output.bias"] = of_array(np.ascontiguousarray(output_bias))
    for name, shape in architecture.parameter_shapes().items():
        if name not in tensors:
            tensors[name] = _layer_tensor(weights, name, shape)
    weights.finish()
    return tensors


def _ends(weights: Weights, architecture: TransformerArchitecture) -> dict[str, ForeignTensor]:
    """Return embeddings and output projection."""
    target = (architecture.vocabulary_size, architecture.model_dimension)
    tied = (OUTPUT,) if architecture.output_projection == "tied" else ()
    if architecture.embeddings == "shared":
        names = (SHARED, *tied, ENCODER_EMBEDDING, DECODER_EMBEDDING)
        tensors = {"embedding.weight": weights.take_tied(names, *target)}
    else:
        tensors = {
            "embedding.weight": weights.take_tied((DECODER_EMBEDDING, *tied), *target),
            "source_embedding.weight": weights.take(ENCODER_EMBEDDING, architecture.source_size, target[1]),
        }
    if not tied:
        tensors["output.weight"] = weights.take(OUTPUT, *target)
    return tensors


def foreign_names(name: str) -> tuple[str, ...]:
    """Return the tensors that are stacked as one of ours, which is of a layer or a final norm."""
    stack, part, *rest = name.split(".")
    if part == "norm":
        return (f"model.{stack}.layer_norm.{rest[0]}",)
    index, *subparts, kind = rest
    return tuple(f"model.{stack}.layers.{index}.{foreign}.{kind}" for foreign in PARTS[".".join(subparts)])


def _layer_tensor(weights: Weights, name: str, shape: tuple[int, ...]) -> ForeignTensor:
    names = foreign_names(name)
    rows = shape[0] // len(names)
    return stacked(*(weights.take(each, rows, *shape[1:]) for each in names))
