"""Parameters of a model file in full precision, and the model that they make: a trained model without its run."""

import hashlib
from pathlib import Path

from torch import Tensor

from pocketmt.engine.bundled import resolve_model
from pocketmt.interop.temporary import model_file_of
from pocketmt.model_file import ModelFile, open_model
from pocketmt.packing.reference.network import decoded_matrix
from pocketmt.packing.reference.stored_rows import read_tensor
from pocketmt.training.trained_model import TrainedModel, read_trained_model


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


def read_model(name: str) -> TrainedModel:
    """Read the model of a training run's folder, a model file, a bundled model by its name, or another toolkit's model.

    The weights of a quantized file are those that its codes stand for. Raises as `model_file_of`,
    `read_trained_model`, `resolve_model` and `open_model` do.
    """
    given = Path(model_file_of(name))
    if given.is_dir():
        return read_trained_model(given)
    path = resolve_model(given)
    with open_model(path) as file:
        parameters = DecodedParameters(file)
        training = file.manifest["training"]
        assert isinstance(training, dict)
        return TrainedModel(
            name=name,
            weights={each: parameters[each] for each in file.architecture.parameter_shapes()},
            architecture=file.architecture,
            languages={"source": file.source_language, "target": file.target_language},
            unit=file.unit,
            training=training,
            vocabularies=file.vocabularies(),
            configuration=None,
            language_pieces=file.language_pieces,
            digest=hashlib.sha256(path.read_bytes()).hexdigest(),
        )
