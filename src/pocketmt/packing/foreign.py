"""A model file as a foreign model, which the formats of other toolkits are written from."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from pocketmt.interop.foreign_model import ForeignMetadata, ForeignModel
from pocketmt.interop.foreign_tensor import Float32, ForeignTensor
from pocketmt.model_file import ModelFile
from pocketmt.packing.reference.network import decoded_matrix
from pocketmt.packing.reference.stored_rows import read_tensor


def foreign_model_of(file: ModelFile) -> ForeignModel:
    """Return the model of an open file, which must stay open while its tensors are read.

    Quantized matrices and vectors are decoded to float32; the notes say so.
    """
    shapes = file.architecture.parameter_shapes()
    grouped = {vector: (name, row) for name, rows in file.vector_groups.items() for row, vector in enumerate(rows)}
    manifest: dict[str, Any] = file.manifest
    return ForeignModel(
        architecture=file.architecture,
        tensors={
            name: ForeignTensor(shape, partial(_blocks, file, name, grouped.get(name)))
            for name, shape in shapes.items()
        },
        vocabularies=file.stored_vocabularies(),
        metadata=ForeignMetadata(
            source_language=file.source_language,
            target_language=file.target_language,
            licence=manifest["licence"],
            description=manifest["description"],
            unit=file.unit,
            language_pieces=file.language_pieces,
            training=manifest["training"],
        ),
        notes=_notes(file),
    )


def _blocks(file: ModelFile, name: str, grouped: tuple[str, int] | None) -> Iterator[Float32]:
    if grouped is not None:
        group, row = grouped
        yield decoded_matrix(file, group)[row].numpy()
    elif name in file.matrices:
        yield decoded_matrix(file, name).numpy()
    else:
        yield read_tensor(file, name).numpy()


def _notes(file: ModelFile) -> tuple[str, ...]:
    notes = []
    if file.matrices:
        notes.append("quantized weights are written in full precision, with the values that the codes stand for")
    if file.stored_shortlist is not None:
        notes.append("the shortlist is left out")
    if file.activation_ranges is not None or file.activation_quantization is not None:
        notes.append("the quantization of activations is left out")
    return tuple(notes)
