"""A model of another toolkit, described in our terms: what every format is read into, and written from."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pocketmt.interop.foreign_tensor import Tensor
from pocketmt.model_file.architecture import Architecture
from pocketmt.model_file.metadata import ModelMetadata
from pocketmt.model_file.shortlist_encoding import Shortlist
from pocketmt.text.stored_vocabulary import StoredVocabularies


@dataclass(frozen=True, kw_only=True)
class ForeignModel:
    """A model that was read and checked, but for the values of its tensors.

    Attributes:
        architecture: of the network.
        tensors: every parameter of the architecture and nothing else, by our name.
        vocabularies: of the source and the target.
        metadata: languages, licence, description.
        activation_scales: values of code 1 of the inputs of each matrix that is multiplied, by its name, if all
            matrices are codes and the model says how their inputs are quantized; None: it does not.
        shortlist: pieces that translations may contain; None: all.
        notes: what a user should know, such as a setting of the model that is an option of `pocketmt translate`.
    """

    architecture: Architecture
    tensors: Mapping[str, Tensor]
    vocabularies: StoredVocabularies
    metadata: ModelMetadata = field(default_factory=ModelMetadata)
    activation_scales: Mapping[str, float] | None = None
    shortlist: Shortlist | None = None
    notes: tuple[str, ...] = ()
