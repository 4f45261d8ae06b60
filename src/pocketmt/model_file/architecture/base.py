"""The description that all architectures share: sizes, embeddings, special pieces, and parameters by name."""

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field
from itertools import compress
from operator import not_
from typing import Any, Final, Literal, Self

from pocketmt.errors import ConfigurationError
from pocketmt.model_file.architecture.fields import allowed, bounds, check_fields, check_pieces, piece, positive
from pocketmt.model_file.architecture.special_pieces import SpecialPieces

# Bounds that a model on an ordinary CPU stays far within; they keep a hostile file from asking for absurd tables.
MAXIMUM_LAYERS: Final = 256
MAXIMUM_DIMENSION: Final = 1 << 16
MAXIMUM_VOCABULARY: Final = 1 << 24
SPECIAL_PIECES: Final = 4  # pad, bos, eos, unk

AttentionKind = Literal["cross", "encoder", "decoder"]


class AttentionSizes:
    """Sizes of attention. Every architecture has these two fields, at the place where its JSON has them."""

    __slots__ = ()

    attention_heads: int
    attention_dimension: int

    @property
    def head_size(self) -> int:
        """Elements of each head's queries, keys and values."""
        return self.attention_dimension // self.attention_heads


# Making the methods of a data class takes time at the start of each command: subclasses get __init__ alone.
@dataclass(frozen=True, kw_only=True, slots=True, init=False, repr=False, eq=False)
class Architecture(AttentionSizes, SpecialPieces, ABC):
    """The description of a network: all that PyTorch and the engine need to know to build it.

    Raises ConfigurationError, naming the field, where a value is not allowed or sizes do not fit together.

    Attributes:
        type: the architecture's name.
        model_dimension: elements of an embedded piece, and of what the output projection reads.
        vocabulary_size: pieces that are generated, including the special ones.
        encoder_layers, decoder_layers: how many layers are run.
        embeddings: "shared": one matrix embeds source and target pieces; "separate": each side has its own.
        source_vocabulary_size: pieces of the source if embeddings are separate; 0: as many as vocabulary_size.
        output_projection: "tied": the matrix that embeds target pieces is the output projection; "untied": another is.
        output_bias: whether the output projection has a bias.
        scale_embeddings: whether embedded pieces are multiplied with the square root of model_dimension.
        first_decoder_input: what the decoder reads before the first target piece; "bos", "eos", "pad": that piece;
            "zero": a vector of zeros instead of an embedded piece.
        pad_id, bos_id, eos_id, unk_id: ids of the special pieces; pad and bos may be None, if there is none.
        source_pad_id, source_eos_id, source_unk_id: ids in the source's vocabulary if vocabularies are separate; None:
            the same as the target's.
        ban_special_pieces: whether pad, bos and unk are never generated.
        banned_ids: further pieces that are never generated, ascending.
        append_source_eos: whether the encoder's input ends in eos.
        vocabularies: "shared": one SentencePiece model for source and target; "separate": each side has its own.
        normalization_epsilon: added to the variance in layer normalization, above 0 and at most 0.1.
    """

    type: str
    model_dimension: int = field(metadata=bounds(1, MAXIMUM_DIMENSION))
    vocabulary_size: int = field(metadata=bounds(SPECIAL_PIECES + 1, MAXIMUM_VOCABULARY))
    encoder_layers: int = field(metadata=bounds(1, MAXIMUM_LAYERS))
    decoder_layers: int = field(metadata=bounds(1, MAXIMUM_LAYERS))
    embeddings: str = field(default="shared", metadata=allowed("shared", "separate"))
    source_vocabulary_size: int = field(default=0, metadata=bounds(0, MAXIMUM_VOCABULARY))
    output_projection: str = field(default="tied", metadata=allowed("tied", "untied"))
    output_bias: bool = field(default=False, metadata=allowed(False, True))
    scale_embeddings: bool = field(default=True, metadata=allowed(True, False))
    first_decoder_input: str = field(default="bos", metadata=allowed("bos", "eos", "pad", "zero"))
    pad_id: int | None = field(default=0, metadata=piece(required=False))
    bos_id: int | None = field(default=1, metadata=piece(required=False))
    eos_id: int = field(default=2, metadata=piece(required=True))
    unk_id: int = field(default=3, metadata=piece(required=True))
    source_pad_id: int | None = field(default=None, metadata=piece(required=False))
    source_eos_id: int | None = field(default=None, metadata=piece(required=False))
    source_unk_id: int | None = field(default=None, metadata=piece(required=False))
    ban_special_pieces: bool = field(default=True, metadata=allowed(True, False))
    banned_ids: tuple[int, ...] = ()
    append_source_eos: bool = field(default=True, metadata=allowed(True, False))
    vocabularies: str = field(default="shared", metadata=allowed("shared", "separate"))
    normalization_epsilon: float = field(default=1e-5, metadata=positive(0.1))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Architecture) and type(self) is type(other) and self._values() == other._values()

    def __hash__(self) -> int:
        return hash(tuple(self._values().values()))

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self._values().items())
        return f"{type(self).__name__}({values})"

    def __post_init__(self) -> None:
        self._check_fields()
        if self.attention_dimension % (4 * self.attention_heads):
            raise ConfigurationError(
                f"architecture: attention_dimension is {self.attention_dimension}, expected a multiple of "
                f"4 x attention_heads = {4 * self.attention_heads}"
            )
        if self.source_vocabulary_size and self.embeddings == "shared":
            raise ConfigurationError(
                f"architecture: source_vocabulary_size is {self.source_vocabulary_size}, but embeddings are 'shared'"
            )
        self.check_special_pieces()
        self.check_sizes()

    def _check_fields(self) -> None:
        described, values = dataclasses.fields(self), self._values()
        check_fields(described, values)
        of_source = [field.name.startswith("source_") for field in described]
        check_pieces(compress(described, map(not_, of_source)), values, self.vocabulary_size)
        check_pieces(compress(described, of_source), values, self.source_size)

    @abstractmethod
    def check_sizes(self) -> None:
        """Raise ConfigurationError, naming the field, where sizes do not fit together."""

    @abstractmethod
    def parameter_shapes(self) -> dict[str, tuple[int, ...]]:
        """Return name and shape of every parameter, in the order of the network; weights are [outputs, inputs].

        Names are those of the PyTorch model's state dict. The two-dimensional parameters are the matrices that a scheme
        can quantize.
        """

    @abstractmethod
    def heads_of_layers(self, kind: AttentionKind) -> list[int]:
        """Return how many heads each layer's attention of this kind has; tied layers count as often as they are run.

        "cross" is from target to source, "encoder" and "decoder" are self-attention. Raises ConfigurationError where
        the network has no such attention.
        """

    @property
    def output_matrix(self) -> str:
        """Name of the output projection's matrix."""
        return "embedding.weight" if self.output_projection == "tied" else "output.weight"

    @property
    def lookup_matrices(self) -> frozenset[str]:
        """Names of the matrices whose rows are looked up, and which nothing is multiplied with."""
        sides = {"source_embedding.weight"} if self.embeddings == "separate" else set()
        return frozenset(sides | {"embedding.weight"} - {self.output_matrix})

    @property
    def pre_norm(self) -> bool:
        """Whether layer normalization comes before each sub-layer, not after its residual connection."""
        return False

    @property
    def supports_quantized_activations(self) -> bool:
        """Whether a model file can hold trained ranges of its activations."""
        return False

    def unpruned_sizes(self) -> dict[str, int]:
        """Return the fields that list sizes of pruned layers -> the size of an unpruned one; none: no pruning."""
        return {}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Read the manifest's object; ConfigurationError names the field that is missing, unknown or out of range."""
        known = {field.name: field for field in dataclasses.fields(cls)}
        missing = [name for name, field in known.items() if field.default is MISSING and name not in value]
        unknown = [name for name in value if name not in known]
        if missing or unknown:
            raise ConfigurationError(
                f"architecture: {'missing' if missing else 'unknown'} field {str((missing or unknown)[0])!r:.80}"
            )
        arguments: dict[str, Any] = {
            name: tuple(each) if _is_sizes(known[name], each) else each for name, each in value.items()
        }
        return cls(**arguments)

    def fields(self) -> dict[str, Any]:
        """Return every field by its name, defaults too, but those that are None: what the engine reads."""
        return {name: value for name, value in self._values().items() if value is not None}

    def to_json(self) -> dict[str, Any]:
        """Return the manifest's object: every field but those that have their default; always the type."""
        defaults = {field.name: field.default for field in dataclasses.fields(self)}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in self._values().items()
            if name == "type" or value != defaults[name]
        }

    def _values(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}


def _is_sizes(field: "Field[Any]", value: object) -> bool:
    """Return whether a field that holds a tuple of sizes is given as a list, as in JSON."""
    return isinstance(field.default, tuple) and isinstance(value, list)


class Shapes:
    """Shapes of parameters, collected layer by layer: what a linear layer and a norm have."""

    def __init__(self) -> None:
        self.found: dict[str, tuple[int, ...]] = {}

    def embeddings(self, architecture: Architecture) -> None:
        """Add the matrices that embed pieces."""
        self.found["embedding.weight"] = (architecture.vocabulary_size, architecture.model_dimension)
        if architecture.embeddings == "separate":
            self.found["source_embedding.weight"] = (architecture.source_size, architecture.model_dimension)

    def output(self, architecture: Architecture) -> None:
        """Add what the output projection has besides the embedding."""
        if architecture.output_projection == "untied":
            self.found["output.weight"] = (architecture.vocabulary_size, architecture.model_dimension)
        if architecture.output_bias:
            self.found["output.bias"] = (architecture.vocabulary_size,)

    def linear(self, name: str, outputs: int, inputs: int, bias: bool) -> None:
        """Add a weight [outputs, inputs], and a bias [outputs] if `bias`."""
        self.found[f"{name}.weight"] = (outputs, inputs)
        if bias:
            self.found[f"{name}.bias"] = (outputs,)

    def norm(self, name: str, size: int) -> None:
        """Add a layer normalization's gamma and beta."""
        self.found[f"{name}.weight"] = (size,)
        self.found[f"{name}.bias"] = (size,)

    def cross_attention(self, name: str, attention: int, stream: int, bias: bool) -> None:
        """Add a cross-attention and its norm; decoder stream and encoder output both have `stream` elements."""
        self.linear(f"{name}.query", attention, stream, bias)
        self.linear(f"{name}.key_value", 2 * attention, stream, bias)
        self.linear(f"{name}.output", stream, attention, bias)
        self.norm(f"{name}_norm", stream)
