"""Reading and checking of trained models in the folders that `pocketmt train` writes."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec
import torch
from torch import Tensor

from pocketmt.errors import ConfigurationError, DataError, ModelFileError
from pocketmt.model_file.architecture import Architecture, architecture_from_json
from pocketmt.model_file.language_pieces import LanguagePieces
from pocketmt.model_file.manifest import DEFAULT_UNIT
from pocketmt.model_file.shortlist import CompressedShortlist
from pocketmt.models.network import TranslationNetwork
from pocketmt.models.networks import make_network
from pocketmt.text.formats.format import Languages
from pocketmt.text.vocabulary import Vocabularies, Vocabulary, shared_vocabulary
from pocketmt.text.word_filter import WordFilter
from pocketmt.training.checkpoints import Weights, load_weights
from pocketmt.training.configuration import Configuration
from pocketmt.training.earlier_versions import decode_settings


@dataclass(frozen=True)
class TrainedModel:
    """A trained model in full precision, with its architecture and how it was trained."""

    name: str  # As it was given: the folder of a run, a model file or a bundled name.
    weights: Weights
    architecture: Architecture
    languages: dict[str, str]  # "source" and "target".
    unit: str  # What the model translates at once, as `pocketmt.model_file.manifest.UNITS` names it.
    training: dict[str, Any]  # Update, scores and other facts about the training.
    vocabularies: Vocabularies
    configuration: Configuration | None  # None if the folder holds none, and for a model file.
    digest: str  # Hexadecimal SHA-256 of the file of weights.
    language_pieces: LanguagePieces | None = None  # None: there is one language on each side.
    licence: str = ""  # Of a model file, as the description, the known words and the shortlist.
    description: str = ""
    known_words: WordFilter | None = None  # see `ModelFile.known_words`
    shortlist: CompressedShortlist | None = None
    float_file: Path | None = None  # A model file that holds exactly this model in fp32, if there is one.

    @property
    def text_languages(self) -> Languages:
        """The languages of its text, by which sides of a parallel format are found: its configuration's, or its own."""
        if self.configuration is not None:
            return self.configuration.data.languages
        return self.languages["source"], self.languages["target"]

    def network(self, replaced: Mapping[str, Tensor] = MappingProxyType({})) -> TranslationNetwork:
        """Return the network in evaluation mode; `replaced` holds other values for some of its weights."""
        network = make_network(self.architecture)
        network.load_state_dict({**self.weights, **replaced})
        return network.eval().requires_grad_(False)


def read_trained_model(run: Path) -> TrainedModel:
    """Read a run's folder.

    Raises:
        DataError: the folder holds no trained model or no vocabulary, or the weights file is not one of PocketMT's.
        ConfigurationError: this version of PocketMT does not support the architecture.
        ModelFileError: the weights are not finite, or do not fit the architecture.
    """
    file = run / "model.safetensors"
    weights, metadata = load_weights(file)
    missing = {"architecture", "languages", "training"} - metadata.keys()
    if missing:
        raise DataError(f"{file}: its {min(missing)} is missing: train the model by `pocketmt train`")
    try:
        architecture = architecture_from_json(metadata["architecture"])
    except ConfigurationError as error:
        raise ConfigurationError(f"{file}: {error}") from error
    vocabulary = run / "vocabulary.model"
    if not vocabulary.is_file():
        raise DataError(f"{vocabulary}: no such file: restore the vocabulary that was written with the weights")
    try:
        check_weights(weights, architecture.parameter_shapes())
    except ModelFileError as error:
        raise ModelFileError(f"{file}: {error}") from error
    return TrainedModel(
        name=str(run),
        weights=weights,
        architecture=architecture,
        languages=metadata["languages"],
        unit=metadata.get("unit", DEFAULT_UNIT),
        training=metadata["training"],
        vocabularies=shared_vocabulary(Vocabulary.from_file(vocabulary)),
        configuration=_configuration(run / "configuration.json"),
        digest=file_digest(file),
    )


def file_digest(file: Path) -> str:
    """Return the SHA-256 of a file, hexadecimal."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def check_weights(weights: Mapping[str, Tensor], shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Check that weights are finite and have the shapes of an architecture by name; ModelFileError if not."""
    for name in weights:
        if name not in shapes:
            raise ModelFileError(
                f"the parameter {name!r} is not part of the architecture: give the model that it states"
            )
    for name, shape in shapes.items():
        if name not in weights:
            raise ModelFileError(f"the parameter {name!r} is missing: give the model that the architecture states")
        if tuple(weights[name].shape) != shape:
            found = list(weights[name].shape)
            raise ModelFileError(f"the parameter {name!r} has shape {found}, expected {list(shape)}")
        if not bool(torch.isfinite(weights[name].float()).all()):
            raise ModelFileError(f"the parameter {name!r} holds NaN or infinity: give a checkpoint from before that")


def _configuration(file: Path) -> Configuration | None:
    if not file.exists():
        return None
    try:
        return decode_settings(file.read_bytes(), Configuration)
    except msgspec.DecodeError as error:
        raise ConfigurationError(f"{file}: {error}") from error
