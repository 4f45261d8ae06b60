"""Parameters of a model file in full precision, and the model that they make: a trained model without its run."""

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import Tensor

from pocketmt.errors import ConfigurationError
from pocketmt.model_file import ModelFile, open_model
from pocketmt.model_file.container.mapped_pages import release_pages
from pocketmt.packing.model_path import model_path
from pocketmt.packing.reference.network import decoded_matrix
from pocketmt.packing.reference.stored_rows import read_tensor
from pocketmt.training.trained_model import TrainedModel, file_digest, read_trained_model


class DecodedParameters:
    """The parameters of an open model file, decoded when they are asked for."""

    def __init__(self, file: ModelFile) -> None:
        self._file = file
        self._grouped = {
            vector: (group, row) for group, vectors in file.vector_groups.items() for row, vector in enumerate(vectors)
        }

    def __getitem__(self, name: str) -> Tensor:
        """Return a parameter, float32. The values of a quantized one are those that its codes stand for."""
        if name in self._grouped:
            group, row = self._grouped[name]
            return decoded_matrix(self._file, group)[row]
        return decoded_matrix(self._file, name) if name in self._file.matrices else read_tensor(self._file, name)


def read_model(name: str | os.PathLike[str]) -> TrainedModel:
    """Read the model of a training run's folder, a model file, a bundled model by its name, or another toolkit's model.

    The weights of a quantized file are those that its codes stand for. Raises as `model_path`,
    `read_trained_model` and `open_model` do.
    """
    path = model_path(name)
    if path.is_dir():
        return read_trained_model(path)
    with open_model(path) as file:
        parameters = DecodedParameters(file)
        weights = {each: parameters[each] for each in file.architecture.parameter_shapes()}
        return _trained_model(str(name), path, file, weights)


@contextmanager
def mapped_model(name: str | os.PathLike[str]) -> Iterator[tuple[TrainedModel, ModelFile]]:
    """Read a model as `read_model` does, except for weights in fp32, which stay in the mapped pages of its open file.

    The weights must not be changed. Those of a quantized file are decoded, and take memory.

    Raises as `read_model` does, and ConfigurationError for the folder of a training run.
    """
    path = model_path(name)
    if path.is_dir():
        raise ConfigurationError(
            f"{name}: the weights of a training run are not read matrix by matrix: pack it first by "
            f"`pocketmt pack {name} --scheme float32 --output MODEL.pocketmt`, and give that file"
        )
    with open_model(path) as file:
        parameters = DecodedParameters(file)
        weights = {
            each: _mapped(file, each) if each in file.tensors else parameters[each]
            for each in file.architecture.parameter_shapes()
        }
        model = _trained_model(str(name), path, file, weights)
        release_pages(file.buffer, 0, len(file.buffer))  # checking has read the whole file
        yield model, file


def _mapped(file: ModelFile, name: str) -> Tensor:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The given buffer is not writable")
        return torch.frombuffer(file.data(name), dtype=torch.float32).view(file.layout(name)[1])


def _trained_model(name: str, path: Path, file: ModelFile, weights: dict[str, Tensor]) -> TrainedModel:
    training = file.manifest["training"]
    assert isinstance(training, dict)
    changed = file.matrices or file.activation_ranges or file.stored_shortlist
    return TrainedModel(
        name=name,
        weights=weights,
        architecture=file.architecture,
        languages={"source": file.source_language, "target": file.target_language},
        unit=file.unit,
        training=training,
        vocabularies=file.vocabularies(),
        configuration=None,
        language_pieces=file.language_pieces,
        licence=str(file.manifest["licence"]),
        description=str(file.manifest["description"]),
        known_words=file.known_words(),
        shortlist=file.compressed_shortlist(),
        digest=file_digest(path),
        float_file=None if changed else path,
    )
