"""What `pocketmt train` left in a run's folder, read and checked."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import torch
from torch import Tensor

from pocketmt.errors import ConfigurationError, DataError, ModelFileError
from pocketmt.model_file.architecture import Architecture, architecture_from_json
from pocketmt.training.checkpoints import Weights, load_weights
from pocketmt.training.configuration import Configuration


@dataclass(frozen=True)
class TrainedModel:
    """The best weights of a run, what they are of, and how they were trained."""

    weights: Weights
    architecture: Architecture
    languages: dict[str, str]  # source, target
    training: dict[str, Any]  # update, scores, ...
    vocabulary_file: Path
    configuration: Configuration | None  # None where the folder holds none
    digest: str  # SHA-256 of the file of weights, hexadecimal


def read_trained_model(run: Path) -> TrainedModel:
    """Read a run's folder.

    Raises:
        DataError: no trained model, no vocabulary, or a file that is none of PocketMT's.
        ConfigurationError: another architecture than this PocketMT knows.
        ModelFileError: weights that are not finite, or not those of the architecture.
    """
    file = run / "model.safetensors"
    weights, metadata = load_weights(file)
    missing = {"architecture", "languages", "training"} - metadata.keys()
    if missing:
        raise DataError(f"{file}: it does not say its {min(missing)}: train it by `pocketmt train`")
    try:
        architecture = architecture_from_json(metadata["architecture"])
    except ConfigurationError as error:
        raise ConfigurationError(f"{file}: {error}") from error
    vocabulary = run / "vocabulary.model"
    if not vocabulary.is_file():
        raise DataError(f"{vocabulary}: no such file: it was made beside the weights, and belongs to them")
    try:
        check_weights(weights, architecture.parameter_shapes())
    except ModelFileError as error:
        raise ModelFileError(f"{file}: {error}") from error
    return TrainedModel(
        weights=weights,
        architecture=architecture,
        languages=metadata["languages"],
        training=metadata["training"],
        vocabulary_file=vocabulary,
        configuration=_configuration(run / "configuration.json"),
        digest=hashlib.sha256(file.read_bytes()).hexdigest(),
    )


def check_weights(weights: Mapping[str, Tensor], shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Raise ModelFileError where weights are not finite or not those of an architecture: name -> shape."""
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
        return msgspec.json.decode(file.read_bytes(), type=Configuration)
    except msgspec.DecodeError as error:
        raise ConfigurationError(f"{file}: {error}") from error
