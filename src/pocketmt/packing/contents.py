"""Everything that a model file is packed from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from torch import Tensor

from pocketmt.model_file.architecture import Architecture
from pocketmt.model_file.known_words import stored_known_words
from pocketmt.model_file.metadata import ModelMetadata
from pocketmt.model_file.shortlist import CompressedShortlist, stored_shortlist
from pocketmt.model_file.writer import StoredTensor
from pocketmt.quantization import Scheme
from pocketmt.quantization.activations.base import ActivationQuantization
from pocketmt.quantization.row_groups import QuantizedMatrix, RowGroup
from pocketmt.recipes.activations import FullQuantization
from pocketmt.text.stored_vocabulary import StoredVocabularies
from pocketmt.text.word_filter import WordFilter
from pocketmt.training.trained_model import TrainedModel

FLOAT32: Final = "float32"
# Pattern of matrix names -> FLOAT32, a scheme or row groups; the first pattern that fits a matrix decides. Name of a
# vector group (`vector_group_name`) -> one row group that names its vectors; other vectors are stored in fp32.
ByPattern = Mapping[str, str | Scheme | Sequence[RowGroup]]
Schemes = str | ByPattern  # a string is the name of a preset (`pocketmt pack --scheme`)


@dataclass(frozen=True)
class TrainedRanges:
    """Quantized operations of a network, and their ranges: buffers of the network by their names."""

    settings: FullQuantization
    ranges: Mapping[str, Tensor]


@dataclass(frozen=True)
class ModelContents:
    """The contents of a model file."""

    weights: Mapping[str, Tensor]  # the state dict: every parameter of the architecture and nothing else
    architecture: Architecture
    # Of the architecture's sizes and special ids; or one serialized SentencePiece model that both sides share.
    vocabulary: bytes | StoredVocabularies
    schemes: Schemes  # of the matrices and vectors
    metadata: ModelMetadata
    # Codes and parameters of matrices that training has quantized, stored unchanged; the schemes quantize the others.
    quantized: Mapping[str, QuantizedMatrix] = field(default_factory=dict)
    # Of the inputs of quantized matrices; None: dynamic, 8 bits with a scale for each row.
    activation_quantization: ActivationQuantization | None = None
    activation_ranges: TrainedRanges | None = None  # None: no operation is quantized within a trained range
    known_words: WordFilter | None = None  # see `ModelFile.known_words`; None: there are none
    shortlist: CompressedShortlist | None = None

    def optional_parts(self) -> tuple[dict[str, object], dict[str, StoredTensor]]:
        """Return the members of the manifest and the tensors, by name, of the shortlist and the known words."""
        member, tensor = stored_known_words(self.known_words)
        members, tensors = stored_shortlist(self.shortlist)
        return member | members, tensor | tensors


@dataclass(frozen=True, kw_only=True)
class PackingOptions:
    """Options of the file itself."""

    entropy_coding: bool = False  # of all codes, lossless; some schemes entropy-code theirs in any case
    maximum_size: int | None = None  # bytes; None: no limit


def contents_of(
    model: TrainedModel, schemes: Schemes, *, licence: str = "", description: str = "", **metadata: Any
) -> ModelContents:
    """Return the contents of a file with the weights of a model, and its shortlist and known words, if any.

    Args:
        model: the model.
        schemes: of its matrices and vectors.
        licence, description: "": those of the model.
        metadata: further fields of `ModelMetadata`.
    """
    source, target = model.languages["source"], model.languages["target"]
    about = ModelMetadata(
        source_language=source,
        target_language=target,
        unit=model.unit,
        language_pieces=model.language_pieces,
        licence=licence or model.licence,
        description=description or model.description,
        **metadata,
    )
    return ModelContents(
        model.weights,
        model.architecture,
        model.vocabularies.stored,
        schemes,
        about,
        known_words=model.known_words,
        shortlist=model.shortlist,
    )
