"""Importing: a model of another toolkit becomes a model file, tensor by tensor."""

import dataclasses
import os
from collections.abc import Callable
from pathlib import Path

from pocketmt.errors import DataError, InteropError, ModelFileError
from pocketmt.interop.foreign_model import ForeignModel
from pocketmt.interop.formats import read_foreign
from pocketmt.interop.stored_parameters import StoredParameters
from pocketmt.model_file.container.xz_tensor import compress
from pocketmt.model_file.shortlist import SHORTLIST_TENSOR
from pocketmt.model_file.shortlist_encoding import encode_shortlist
from pocketmt.model_file.vocabularies import load_checked
from pocketmt.model_file.writer import StoredTensor, write_model


def import_model(
    source: Path,
    output: str | os.PathLike[str],
    *,
    source_language: str = "",
    target_language: str = "",
    licence: str = "",
    description: str = "",
    change: Callable[[ForeignModel], ForeignModel] = lambda model: model,
) -> ForeignModel:
    """Write a model file with the weights of a foreign model, in the precision that it has.

    Memory holds a few blocks of one tensor, never the whole model.

    Args:
        source: folder or file of a format of `pocketmt.interop.formats`.
        output: the model file to write; it appears when it is complete and checked.
        source_language, target_language, licence, description: what the model says is replaced; "": it is kept.
        change: returns the model that is written, from the one that was read.

    Returns:
        The model that was written.

    Raises:
        InteropError: as `read_foreign` does, or a tensor is missing, unknown, of another shape or not finite.
        ConfigurationError, ModelFileError: as `write_model` does.
    """
    model = read_foreign(source)
    said = model.metadata
    metadata = dataclasses.replace(
        said,
        source_language=source_language or said.source_language,
        target_language=target_language or said.target_language,
        licence=licence or said.licence,
        description=description or said.description,
    )
    model = change(dataclasses.replace(model, metadata=metadata))
    write_foreign(model, output)
    return model


def write_foreign(model: ForeignModel, output: str | os.PathLike[str]) -> int:
    """Write a model file; returns its size in bytes, and raises as `import_model` does."""
    _check_tensors(model)
    _check_vocabularies(model)
    stored = StoredParameters()
    for name in model.architecture.parameter_shapes():
        stored.add(name, model.tensors[name])
    if model.activation_scales is not None:
        stored.add_activation_scales(model.activation_scales)
    if model.shortlist is not None:
        content, entry = encode_shortlist(model.shortlist)
        compressed = compress(content)
        stored.members["shortlist"] = entry.to_json()
        stored.tensors[SHORTLIST_TENSOR] = StoredTensor("U8", (len(compressed),), compressed)
    manifest = model.metadata.manifest_members(model.architecture, model.vocabularies)
    return write_model(output, manifest | stored.members, stored.tensors, model.vocabularies)


def _check_tensors(model: ForeignModel) -> None:
    shapes = model.architecture.parameter_shapes()
    for name, shape in shapes.items():
        if name not in model.tensors:
            raise InteropError(f"the model has no tensor for {name}")
        if model.tensors[name].shape != shape:
            raise InteropError(
                f"the tensor for {name} is {list(model.tensors[name].shape)}, the architecture says {list(shape)}"
            )
    if unknown := sorted(model.tensors.keys() - shapes.keys()):
        raise InteropError(f"the architecture has no place for {unknown[0]}")


def _check_vocabularies(model: ForeignModel) -> None:
    try:
        load_checked(model.vocabularies, model.architecture)
    except (DataError, ModelFileError) as error:
        raise InteropError(f"the vocabulary does not fit the model: {error}") from error
