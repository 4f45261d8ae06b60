"""A model file as a foreign model, which the formats of other toolkits are written from."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketmt.interop.foreign_model import ForeignModel
from pocketmt.interop.foreign_tensor import CodedRows, CodesTensor, Float32, ForeignTensor
from pocketmt.model_file import ModelFile
from pocketmt.model_file.activations.activation_quantization import (
    StoredLogarithmicActivations,
    StoredStaticActivations,
    activation_scale_name,
)
from pocketmt.model_file.known_words import KNOWN_WORDS
from pocketmt.model_file.metadata import ModelMetadata
from pocketmt.packing.decoded import DecodedParameters
from pocketmt.packing.reference.stored_rows import read_tensor
from pocketmt.packing.stored_shortlist import shortlist_of


def foreign_model_of(file: ModelFile) -> ForeignModel:
    """Return the model of an open file, which must stay open while its tensors are read.

    Matrices of uniform codes keep them; others, and quantized vectors, are decoded to float32; the notes say so.
    """
    parameters = DecodedParameters(file)
    manifest: dict[str, Any] = file.manifest
    scales = _activation_scales(file)
    return ForeignModel(
        architecture=file.architecture,
        tensors={
            name: _coded(file, name, shape)
            if _has_uniform_codes(file, name)
            else ForeignTensor(shape, partial(_blocks, parameters, name))
            for name, shape in file.architecture.parameter_shapes().items()
        },
        vocabularies=file.stored_vocabularies(),
        metadata=ModelMetadata(
            source_language=file.source_language,
            target_language=file.target_language,
            licence=manifest["licence"],
            description=manifest["description"],
            unit=file.unit,
            language_pieces=file.language_pieces,
            training=manifest["training"],
        ),
        activation_scales=scales,
        shortlist=shortlist_of(file),
        notes=_notes(file, scales),
    )


def _has_uniform_codes(file: ModelFile, name: str) -> bool:
    groups = file.matrices.get(name, ())
    consecutive = f"{name}.groups" not in file.tensors
    return bool(groups) and consecutive and all(group.form.name == "uniform" for group in groups)


def _coded(file: ModelFile, name: str, shape: tuple[int, ...]) -> CodesTensor:
    groups = [
        CodedRows(
            group.rows,
            read_tensor(file, f"{name}.{index}.scale").float().numpy(),
            partial(_codes, file, f"{name}.{index}.codes"),
        )
        for index, group in enumerate(file.matrices[name])
    ]
    return CodesTensor(shape, tuple(groups))


def _codes(file: ModelFile, name: str) -> NDArray[np.int8]:
    codes: NDArray[np.int8] = read_tensor(file, name).numpy()
    return codes


def _activation_scales(file: ModelFile) -> dict[str, float] | None:
    """Return the scale of the inputs of each matrix that is multiplied; None if one has none."""
    shapes, looked_up = file.architecture.parameter_shapes(), file.architecture.lookup_matrices
    multiplied = [name for name, shape in shapes.items() if len(shape) == 2 and name not in looked_up]
    scales = {name: activation_scale_name(name) for name in multiplied}
    if not _has_static_activations(file) or any(scale not in file.tensors for scale in scales.values()):
        return None
    return {name: float(read_tensor(file, scale)) for name, scale in scales.items()}


def _has_static_activations(file: ModelFile) -> bool:
    return isinstance(file.activation_quantization, StoredStaticActivations)


def _blocks(parameters: DecodedParameters, name: str) -> Iterator[Float32]:
    yield parameters[name].numpy()


def _notes(file: ModelFile, scales: dict[str, float] | None) -> tuple[str, ...]:
    notes = []
    if any(not _has_uniform_codes(file, name) for name in file.matrices):
        notes.append("quantized weights but those of 8 bits are written as the values that their codes stand for")
    if file.activation_ranges is not None:
        notes.append("the quantization of activations within trained ranges is left out")
    if isinstance(file.activation_quantization, StoredLogarithmicActivations):
        notes.append("the logarithmic quantization of activations is left out")
    if scales is None and _has_static_activations(file):
        notes.append("the calibrated scales of activations are left out, because some matrices have none")
    if KNOWN_WORDS in file.tensors:
        notes.append("the known words, which `pocketmt names` adds to keep names in translations, are left out")
    return tuple(notes)
